//! Spec 3.3 and 4.10: the owner of a page reads why it is in review or blocked, and can appeal once for each
//! version.

use handbill_tests::{
    Agent, Browser, Call, Mode, PATIENCE, Scripts, Value, World, eventually, fields_of, in_both_modes, json,
    program,
};

use crate::expectations::{PAGE, PASSWORD, assert_serves, front_page, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::moderation_queue::{DOUBTFUL, decide, hosts, list, review_item};

in_both_modes! {
    async fn owner_sees_a_plain_explanation_why_a_page_is_not_served(world: World) {
        let agent = world.agent().await;
        for (slug, html) in [("good", PAGE), ("doubtful", DOUBTFUL), ("bad", SEED_PHRASE_FORM)] {
            agent.publish(slug, html).await.expect(201);
        }
        becomes(&agent, "good", "pass").await;
        let nothing = json!({ "status": "pass", "rule": null, "file": null, "saw": null, "message": null });
        assert_eq!(agent.artifact("good").await.expect(200).at("moderation"), nothing);

        becomes(&agent, "doubtful", "review").await;
        let doubtful = agent.artifact("doubtful").await.expect(200);
        assert_eq!(fields_of(&doubtful.at("moderation")), ["file", "message", "rule", "saw", "status"]);
        assert_eq!(doubtful.string("moderation.status"), "review");
        assert!(doubtful.string("moderation.message").contains("is served while it waits"), "{doubtful:?}");

        becomes(&agent, "bad", "blocked").await;
        let bad = agent.artifact("bad").await.expect(200);
        assert_eq!((bad.string("moderation.rule"), bad.string("moderation.file")), ("seed_phrase".into(), "index.html".into()));
        assert!(bad.string("moderation.saw").contains("seed phrase"), "{bad:?}");
        let message = bad.string("moderation.message");
        assert!(message.contains("index.html asks for a seed phrase") && message.contains("not served"), "{message}");
        let by_tool = agent.call_tool("get_artifact", &json!({ "slug": "bad" })).await.expect(200);
        assert!(by_tool.text().contains("asks for a seed phrase"), "{by_tool:?}");

        // The owner must not see a moderator's note and name.
        let host = bad.string("host");
        decide(&world, &host, &json!({ "action": "block", "note": "A known thief." })).await.expect(200);
        let bad = agent.artifact("bad").await.expect(200);
        assert_eq!((bad.string("moderation.rule"), bad.at("moderation.saw")), ("moderator".into(), json!(null)));
        assert!(!bad.text().contains("thief") && !bad.text().contains("Ada"), "{bad:?}");
    }

    async fn an_appeal_puts_a_page_in_the_queue_once_for_each_version(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let published = agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        let host = published.string("host");
        becomes(&agent, "my-page", "blocked").await;
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
        let taken = appeal(&agent, "my-page", "It is a <lesson>.\nIt sends nothing.").await.expect(201);
        assert_eq!(taken.field_names(), ["host", "id", "moderation_status", "slug", "version"]);
        assert_eq!((taken.string("host"), taken.integer("version")), (host.clone(), 1));
        assert_eq!(taken.string("moderation_status"), "blocked");
        front_page(&visitor, &published).await.expect(451);
        let again = appeal(&agent, "my-page", "Please.").await.refused(409, "already_appealed");
        assert!(again.string("hint").contains("/versions"), "{again:?}");
        let detail = agent.artifact("my-page").await.expect(200);
        assert!(detail.string("moderation.message").ends_with("Your appeal waits for a moderator."), "{detail:?}");

        let queue = list(&world, "").await.expect(200);
        assert_eq!(hosts(&queue), [host.as_str()]);
        assert_ne!(queue.at("items.0.appealed_at"), json!(null));
        let item = review_item(&world, &host).await.expect(200);
        assert_eq!(item.string("appeals.0.message"), "It is a <lesson>.\nIt sends nothing.");
        assert_eq!((item.integer("appeals.0.version"), item.at("appeals.0.answered_at")), (1, json!(null)));

        // A decision by a moderator who has seen the appeal closes it.
        let mut unseen = item.at("seen");
        unseen["appeal"] = json!(null);
        let decision = |seen: &Value| json!({ "action": "block", "version": 1, "seen": seen });
        decide(&world, &host, &decision(&unseen)).await.expect(200);
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [host.as_str()]);
        let seen = review_item(&world, &host).await.expect(200).at("seen");
        decide(&world, &host, &decision(&seen)).await.expect(200);
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
        assert_ne!(review_item(&world, &host).await.expect(200).at("appeals.0.answered_at"), json!(null));
        appeal(&agent, "my-page", "Once more.").await.refused(409, "already_appealed");

        // Each version can be appealed once.
        agent.publish("my-page", page_saying("better")).await.expect(201);
        appeal(&agent, "my-page", "The form is gone.").await.expect(201);
        decide(&world, &host, &json!({ "action": "pass" })).await.expect(200);
        assert_serves(&front_page(&visitor, &published).await, &page_saying("better"));
        let nothing = appeal(&agent, "my-page", "Thanks.").await.refused(409, "nothing_to_appeal");
        assert!(nothing.string("message").contains("is pass"), "{nothing:?}");
        let trail = agent.get("/v1/account/audit").await.expect(200).text();
        assert!(trail.contains("artifact.appealed"), "{trail}");
    }

    async fn an_appeal_needs_a_message_the_scope_and_a_page_of_the_account(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
        becomes(&agent, "my-page", "blocked").await;
        for bad in ["", " \n", "a\u{0}b", &"x".repeat(2_001)] {
            appeal(&agent, "my-page", bad).await.refused(400, "invalid_request").naming("message");
        }
        let path = "/v1/artifacts/my-page/appeal";
        agent.post(path).json(&json!({})).await.refused(400, "invalid_body").naming("message");
        agent.post(path).json(&json!({ "message": 1 })).await.refused(400, "invalid_body").naming("message");
        let reader = agent.minted(&json!({ "scopes": "artifacts:read" })).await;
        appeal(&reader, "my-page", "Please.").await.refused(403, "insufficient_scope");
        appeal(&other, "my-page", "Please.").await.refused(404, "not_found").naming("artifact");
        appeal(&world.stranger(), "my-page", "Please.").await.refused(401, "unauthorized");
        appeal(&agent, "my-page", "Please.").await.expect(201);
        agent.delete("my-page").await.expect(200);
        assert_eq!(hosts(&list(&world, "").await.expect(200)), [""; 0]);
    }

    #[settings("HANDBILL_LIMITS__REPORTS_PER_MINUTE" = "100")]
    async fn report_has_an_abuse_category(world: World) {
        let host = world.agent().await.publish("my-page", PAGE).await.expect(201).string("host");
        let report = |category: Value| {
            world.stranger().post("/v1/reports").json(&json!({ "host": host, "category": category }))
        };
        report(json!("phishing")).await.expect(201);
        report(Value::Null).await.expect(201);
        for bad in [json!("Phishing"), json!("theft"), json!(""), json!(1)] {
            report(bad).await.refused(400, "invalid_body").naming("category");
        }
        let kept = |reports: Value| -> Vec<Value> {
            reports.as_array().unwrap().iter().map(|one| one["category"].clone()).collect()
        };
        let reports = review_item(&world, &host).await.expect(200).at("reports");
        assert_eq!(kept(reports), [Value::Null, json!("phishing")]);

        let human = world.human();
        let form = human.get(&format!("/report?host={host}")).await.expect(200).text();
        assert!(form.contains("<option value=\"copyright\">"), "{form}");
        let send = |category: &str| {
            human.post("/report").form(&[("host", host.as_str()), ("reason", ""), ("category", category)])
        };
        send("copyright").await.expect(201);
        send("").await.expect(201);
        send("theft").await.refused(400, "invalid_request").naming("category");
        let reports = review_item(&world, &host).await.expect(200).at("reports");
        assert_eq!(kept(reports), [Value::Null, json!("copyright"), Value::Null, json!("phishing")]);
        let case = human.get(&format!("/admin/moderation/{host}")).await.expect(200).text();
        assert!(case.contains("<span class=\"label\">copyright</span>"), "{case}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_appeals_on_the_page_of_the_artifact() {
    appeal_in_a_browser(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_an_owner_appeals_on_the_page_of_the_artifact() {
    appeal_in_a_browser(Scripts::Refused).await;
}

async fn appeal_in_a_browser(scripts: Scripts) {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let published = agent.publish("my-page", SEED_PHRASE_FORM).await.expect(201);
    let host = published.string("host");
    becomes(&agent, "my-page", "blocked").await;
    let owner = world.human();
    owner.register("ada", PASSWORD).await.expect(201);
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);

    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    let page = format!("{}/dashboard/{}/pages/my-page", world.base_url(), agent.handle());
    browser.open(&page).await;
    browser.fill("#username", "ada").await;
    browser.fill("#password", PASSWORD).await;
    browser.follow("button[value=sign_in]").await;
    let reported = browser.text("[aria-labelledby=moderation]").await;
    assert!(reported.contains("asks for a seed phrase"), "{reported}");
    inspect(&browser, scripts, "dashboard-page-blocked").await;
    // The browser's own check accepts a message of spaces.
    browser.fill("#message", " ").await;
    browser.follow("[aria-labelledby=moderation] button").await;
    assert_eq!((browser.status().await, browser.text("#message-fault").await.is_empty()), (400, false));
    inspect(&browser, scripts, "dashboard-page-appeal-refused").await;
    browser.fill("#message", "It is a lesson.").await;
    browser.follow("[aria-labelledby=moderation] button").await;
    assert!(browser.text(".notice").await.contains("Appeal sent"));
    assert!(
        browser.text("[aria-labelledby=moderation]").await.contains("Your appeal waits for a moderator.")
    );
    inspect(&browser, scripts, "dashboard-page-appealed").await;
    let forms = browser.evaluate("document.querySelectorAll('#message').length").await;
    assert_eq!(forms, json!(0), "it can be appealed for once");

    browser.open(&format!("{}/admin/moderation/{host}", world.base_url())).await;
    let appeals = browser.text("[aria-labelledby=appeals]").await;
    assert!(appeals.contains("It is a lesson.") && appeals.contains("open"), "{appeals}");
    inspect(&browser, scripts, "admin-page-appealed").await;
    browser.follow("button[value=pass]").await;
    eventually(PATIENCE, "the page is served", async || {
        (front_page(&world.visitor(), &published).await.status == 200).then_some(())
    })
    .await;
    browser.open(&format!("{}/admin/contents", world.base_url())).await;
    inspect(&browser, scripts, "admin-contents").await;
}

/// The pages look the same without scripts, so that only those with scripts are inspected.
async fn inspect(browser: &Browser, scripts: Scripts, name: &str) {
    if scripts == Scripts::Run {
        browser.inspect(name).await;
    }
}

fn appeal(agent: &Agent, slug: &str, message: &str) -> Call {
    agent.post(&format!("/v1/artifacts/{slug}/appeal")).json(&json!({ "message": message }))
}
