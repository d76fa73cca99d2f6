//! Spec 3.3 and 4.10: every version is scanned, the result decides what is served, and a moderator's decision
//! overrides it.

use handbill_tests::{Agent, Call, Human, PATIENCE, Reply, World, eventually, in_both_modes, json};

use crate::expectations::{PAGE, assert_serves, front_page, page_saying};

pub const SEED_PHRASE_FORM: &str =
    "<html><body><form><label>Enter your seed phrase <input name=\"seed\"></label></form></body></html>";
const BANK_LOGIN_FORM: &str =
    "<html><body><h1>PayPal</h1><form><input type=\"password\" name=\"p\"></form></body></html>";

in_both_modes! {
    async fn a_harmless_page_passes(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
    }

    async fn a_page_that_asks_for_a_seed_phrase_is_blocked(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "my-page", "blocked").await;
        let blocked = eventually(PATIENCE, "a 451", async || {
            let reply = front_page(&visitor, &published).await;
            (reply.status == 451).then_some(reply)
        })
        .await;
        assert!(!blocked.text().contains("seed phrase"), "{blocked:?}");
        assert_eq!(blocked.header("Cache-Control"), "no-store");
    }

    async fn page_in_review_is_still_served(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", BANK_LOGIN_FORM).await.expect(201);
        becomes(&agent, "my-page", "review").await;
        assert_serves(&front_page(&world.visitor(), &published).await, BANK_LOGIN_FORM);
    }

    async fn activating_a_clean_version_ends_the_block(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        agent.publish("my-page", page_saying("clean")).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "my-page", "blocked").await;
        let activated = agent.activate("my-page", 1).await.expect(200);
        assert_eq!(activated.string("moderation_status"), "pass");
        assert_serves(&front_page(&visitor, &activated).await, &page_saying("clean"));
        agent.activate("my-page", 2).await.expect(200);
        front_page(&visitor, &activated).await.expect(451);
    }

    async fn moderator_decisions_take_effect_at_once(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", PAGE).await.expect(201);
        becomes(&agent, "my-page", "pass").await;
        let moderator = moderator(&world, "ada").await;
        let blocked = moderate(&moderator, "my-page", "block").await.expect(200);
        let host = published.string("host");
        let expected = json!({ "slug": "my-page", "host": host, "moderation_status": "blocked" });
        assert_eq!(blocked.json(), expected);
        front_page(&visitor, &published).await.expect(451);
        assert_eq!(agent.artifact("my-page").await.expect(200).string("moderation_status"), "blocked");
        let passed = moderate(&moderator, &host, "pass").await.expect(200);
        assert_eq!(passed.string("moderation_status"), "pass");
        assert_serves(&front_page(&visitor, &published).await, PAGE);
    }

    #[settings("HANDBILL_TEST_FAULTS" = "scan.before_judge:pause_ms=3000")]
    async fn moderator_decision_overrides_later_scans_and_a_pass_lasts_until_the_next_version(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let harmless = agent.publish("harmless", PAGE).await.expect(201);
        let harmful = agent.publish("harmful", SEED_PHRASE_FORM).await.expect(201);
        let moderator = moderator(&world, "ada").await;
        moderate(&moderator, "harmless", "block").await.expect(200);
        moderate(&moderator, "harmful", "pass").await.expect(200);
        scans_are_done(&world, 2).await;
        front_page(&visitor, &harmless).await.expect(451);
        assert_serves(&front_page(&visitor, &harmful).await, SEED_PHRASE_FORM);
        agent.publish("harmless", page_saying("next")).await.expect(201);
        front_page(&visitor, &harmless).await.expect(451);
        moderate(&moderator, "harmless", "pass").await.expect(200);
        assert_serves(&front_page(&visitor, &harmless).await, &page_saying("next"));
        agent.publish("harmful", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "harmful", "blocked").await;
        agent.activate("harmless", 1).await.expect(200);
        front_page(&visitor, &harmless).await.expect(451);
    }

    async fn moderated_slug_resolves_to_the_moderators_own_page_or_the_only_match(world: World) {
        let (one, other) = (world.agent().await, world.agent().await);
        let moderator = moderator(&world, "ada").await;
        let only = one.publish("only-one", PAGE).await.expect(201);
        let named = moderate(&moderator, "only-one", "block").await.expect(200);
        assert_eq!(named.string("host"), only.string("host"));

        let mine = one.publish("my-page", PAGE).await.expect(201);
        let theirs = other.publish("my-page", PAGE).await.expect(201);
        let ambiguous = moderate(&moderator, "my-page", "block").await.refused(409, "ambiguous_slug");
        assert!(ambiguous.string("hint").contains("host"), "{ambiguous:?}");
        moderator.claim(&one.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        let named = moderate(&moderator, "my-page", "block").await.expect(200);
        assert_eq!(named.string("host"), mine.string("host"));
        // A host names one artifact, whoever owns it.
        let named = moderate(&moderator, &theirs.string("host"), "block").await.expect(200);
        assert_eq!(named.string("host"), theirs.string("host"));

        one.delete("only-one").await.expect(200);
        for gone in ["only-one", only.string("host").as_str(), "no-such-page"] {
            moderate(&moderator, gone, "block").await.refused(404, "not_found").naming("artifact");
        }
    }

    async fn moderation_needs_a_signed_in_person_and_a_known_action(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        for caller in [&agent, &world.stranger()] {
            let call = caller.post("/v1/moderation/my-page").json(&json!({ "action": "block" }));
            let refused = call.await.refused(401, "unauthorized");
            assert!(refused.string("hint").contains("POST /v1/signup"), "{refused:?}");
        }
        let moderator = moderator(&world, "ada").await;
        let foreign = moderator.on_a_page_of("http://evil.example");
        moderate(&foreign, "my-page", "block").await.refused(403, "forbidden");
        moderate(&moderator, "my-page", "burn").await.refused(400, "invalid_body").naming("action");
        moderate(&moderator, "NO", "block").await.refused(400, "invalid_request").naming("slug");
        assert_serves(&front_page(&world.visitor(), &published).await, PAGE);
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn outside_dev_mode_nobody_moderates(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        agent.publish("my-page", PAGE).await.expect(201);
        human.register("ada", "correct horse battery").await.expect(201);
        let calls: [Reply; 2] = [
            moderate(&human, "my-page", "block").await,
            world.stranger().post("/v1/moderation/my-page").await,
        ];
        for reply in calls {
            reply.refused(404, "not_found").naming("endpoint");
        }
    }
}

pub async fn moderator(world: &World, username: &str) -> Human {
    let human = world.human();
    human.dev_login(username).await.expect(200);
    human
}

pub fn moderate(moderator: &Human, name: &str, action: &str) -> Call {
    moderator.post(&format!("/v1/moderation/{name}")).json(&json!({ "action": action }))
}

pub async fn becomes(agent: &Agent, slug: &str, status: &str) {
    eventually(PATIENCE, &format!("{slug} becomes {status}"), async || {
        let detail = agent.artifact(slug).await.expect(200);
        (detail.string("moderation_status") == status).then_some(())
    })
    .await;
}

pub async fn scans_are_done(world: &World, count: usize) {
    eventually(PATIENCE, "the end of all scans", async || {
        let scans = world.jobs("scan").await;
        (scans.len() == count && scans.iter().all(|scan| scan.status == "Done")).then_some(())
    })
    .await;
}
