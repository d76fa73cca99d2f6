//! Spec 3.1, 4.4 and the pages for it: a person makes an account and its pages permanent.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Agent, Human, Mode, Reply, World, in_both_modes, json, program};

use crate::expectations::{PAGE, PASSWORD, assert_page, assert_serves, front_page};

const MINUTE: Duration = Duration::from_secs(60);
const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

in_both_modes! {
    async fn a_claim_makes_the_account_and_its_pages_permanent(world: World) {
        let agent = world.agent().await;
        let (visitor, human) = (world.visitor(), world.human());
        let pages = [agent.publish("one", PAGE).await.expect(201), agent.publish("two", PAGE).await.expect(201)];
        for page in &pages {
            assert_serves(&front_page(&visitor, page).await, PAGE);
        }
        human.dev_login("ada").await.expect(200);
        let claimed = human.claim(&claim_url(&agent)).await.expect(200);
        assert_eq!(
            claimed.json(),
            json!({ "account": {
                "id": agent.signup.as_ref().unwrap().string("account.id"),
                "handle": agent.handle(),
                "name": null,
                "status": "claimed",
                "expires_at": null,
            } })
        );
        // After the response to the claim, the badge is gone from every page.
        for page in &pages {
            assert_eq!(front_page(&visitor, page).await.expect(200).text(), PAGE);
        }
        let account = agent.account().await.expect(200);
        assert_eq!(account.string("status"), "claimed");
        assert_eq!(account.integer("free_publishes_left"), 100);
        assert_eq!((account.at("expires_at"), account.at("limits.total_mb")), (json!(null), json!(null)));
        assert_eq!(account.json().get("claim_url"), None);
        let accounts = human.me().await.expect(200).at("accounts");
        let id = account.string("id");
        assert_eq!(
            accounts,
            json!([{ "id": id, "handle": agent.handle(), "status": "claimed", "role": "owner" }])
        );

        world.advance(31 * MINUTE);
        let again = agent.publish("one", PAGE).await.expect(201);
        assert_eq!(again.at("account.expires_at"), json!(null));
        assert_eq!(again.integer("account.free_publishes_left"), 99);
        assert_eq!(front_page(&visitor, &pages[1]).await.expect(200).text(), PAGE);
        human.claim(&claim_url(&agent)).await.refused(409, "already_claimed");
    }

    async fn signed_out_visitor_registers_or_signs_in_with_the_claim(world: World) {
        let (first, second) = (world.agent().await, world.agent().await);
        let human = world.human();
        let claimed = submit(&human, &first, "Ada", PASSWORD).await.expect(302);
        assert_eq!(claimed.header("Location"), "/dashboard");
        assert_eq!(human.cookie("svc_arrival"), Some(format!("claimed.{}", first.handle())));
        let me = human.me().await.expect(200);
        assert_eq!((me.string("user.username"), me.string("accounts.0.role")), ("ada".into(), "owner".into()));

        let elsewhere = world.human();
        let wrong = submit(&elsewhere, &second, "ada", "wrong horse battery").await;
        let weak = submit(&elsewhere, &second, "bob", "weak").await;
        for refused in [wrong.refused(401, "invalid_credentials"), weak.refused(400, "weak_password")] {
            assert!(refused.string("hint").contains("request again"), "{refused:?}");
        }
        submit(&elsewhere, &second, "b", PASSWORD).await.refused(400, "invalid_request").naming("username");
        let path = elsewhere.path_of(&claim_url(&second)).to_owned();
        elsewhere.post(&path).await.refused(401, "unauthorized");
        let half = elsewhere.post(&path).form(&[("username", "ada")]).await;
        half.refused(400, "invalid_request").naming("password");
        elsewhere.post(&path).raw("text/plain", "x").await.refused(415, "unsupported_media_type");
        elsewhere.post(&path).raw("application/json", "{").await.refused(400, "invalid_body");
        assert_eq!(second.account().await.expect(200).string("status"), "provisional");
        assert_eq!(elsewhere.cookie("svc_sess"), None);

        let as_json = json!({ "username": "ada", "password": PASSWORD });
        let claimed = elsewhere.claim(&claim_url(&second)).json(&as_json).await.expect(200);
        assert_eq!(claimed.string("account.handle"), second.handle());
        assert_eq!(elsewhere.me().await.expect(200).at("accounts").as_array().unwrap().len(), 2);
        let code = claim_url(&second).rsplit('/').next().unwrap().to_owned();
        for secret in [PASSWORD, &code, &elsewhere.cookie("svc_sess").unwrap()] {
            assert!(!world.logs().contains(secret), "a secret was logged: {secret}");
        }
    }

    async fn claim_page_lists_the_tokens_and_revokes_them_on_request(world: World) {
        let agent = world.agent().await;
        let other = agent.minted(&json!({ "name": "deploy <bot>" })).await;
        let human = world.human();
        let path = human.path_of(&claim_url(&agent)).to_owned();
        let page = human.get(&path).header("Accept", BROWSER).await;
        assert_page(&page, 200);
        let text = page.text();
        for part in [
            "Tokens that keep working",
            "<strong>deploy &#60;bot&#62;</strong>, created with signup, never used",
            "<strong>signup</strong>, created at sign-up, last used",
            "name=\"revoke_tokens\"",
        ] {
            assert!(text.contains(part), "{part} is missing: {text}");
        }
        let fields = [("action", "register"), ("username", "ada"), ("revoke_tokens", "true")];
        let press = async |password| {
            let fields = [&fields[..], &[("password", password)]].concat();
            human.post(&path).header("Accept", BROWSER).form(&fields).await
        };
        // A ticked box stays ticked on the page with an error.
        let refused = press("weak").await;
        assert_page(&refused, 400);
        assert!(refused.text().contains("value=\"true\" checked"), "{refused:?}");
        other.account().await.expect(200);
        press(PASSWORD).await.expect(302);
        for ended in [&agent, &other] {
            ended.account().await.refused(401, "unauthorized");
        }
        assert_eq!(human.tokens().await.expect(200).json(), json!([]));
    }

    async fn json_claim_keeps_the_tokens_unless_revoke_tokens_is_set(world: World) {
        let (kept, ended) = (world.agent().await, world.agent().await);
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        human.claim(&claim_url(&kept)).json(&json!({ "revoke_tokens": false })).await.expect(200);
        human.claim(&claim_url(&ended)).json(&json!({ "revoke_tokens": true })).await.expect(200);
        kept.account().await.expect(200);
        ended.account().await.refused(401, "unauthorized");
        human.claim(&claim_url(&kept)).json(&json!({ "revoke_tokens": "x" })).await.refused(400, "invalid_body");
    }

    async fn claim_form_button_decides_between_registration_and_sign_in(world: World) {
        let agent = world.agent().await;
        world.human().register("ada", PASSWORD).await.expect(201);
        let human = world.human();
        let path = human.path_of(&claim_url(&agent)).to_owned();
        let press = async |action: &str, username: &str| {
            let fields = [("action", action), ("username", username), ("password", PASSWORD)];
            human.post(&path).header("Accept", BROWSER).form(&fields).await
        };
        // A mistyped username creates no person and claims nothing.
        let mistyped = press("sign_in", "adaa").await;
        assert_page(&mistyped, 401);
        assert!(mistyped.text().contains("id=\"password-fault\""), "{mistyped:?}");
        let taken = press("register", "ada").await;
        assert_page(&taken, 409);
        let fault = |page: &Reply, text: &str| {
            assert!(page.text().contains(text), "{text} is missing: {page:?}");
        };
        fault(&taken, "id=\"username-fault\"");
        fault(&taken, "id=\"password-fault\">Enter your password again.");
        // Both faults of a form are reported at once, and the username is kept.
        let fields = [("action", "register"), ("username", "b!"), ("password", "weak")];
        let both = human.post(&path).header("Accept", BROWSER).form(&fields).await;
        assert_page(&both, 400);
        fault(&both, "id=\"username-fault\">Use 3 to 30");
        fault(&both, "id=\"password-fault\">Too weak: it must have 10");
        fault(&both, "value=\"b!\"");
        assert!(!both.text().contains("weak\""), "{both:?}");
        assert_eq!(human.cookie("svc_sess"), None);
        assert_eq!(agent.account().await.expect(200).string("status"), "provisional");
        press("sign_in", "ada").await.expect(302);
        assert_eq!(human.me().await.expect(200).string("user.username"), "ada");
    }

    async fn registration_with_a_lost_claim_race_still_signs_in(world: World) {
        let agent = world.agent().await;
        let claimers: Vec<Human> = (0..4).map(|_| world.human()).collect();
        let names = ["ada", "bea", "cleo", "dora"];
        let posts = claimers.iter().zip(names).map(|(human, name)| submit(human, &agent, name, PASSWORD));
        let replies = join_all(posts).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 302).count(), 1);
        for (human, reply) in claimers.iter().zip(replies) {
            if reply.status != 302 {
                let reply = reply.refused(409, "already_claimed");
                let is_signed_in = human.cookie("svc_sess").is_some();
                assert_eq!(is_signed_in, human.me().await.status == 200, "{reply:?}");
            }
        }
        let signed_in = claimers.iter().filter(|human| human.cookie("svc_sess").is_some()).count();
        assert!(signed_in > 1, "hashing a password takes longer than reading the code: some claims came too late");
    }

    #[settings("HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "2", "HANDBILL_LIMITS__REGISTRATIONS_PER_MINUTE" = "1")]
    async fn claims_count_towards_the_sign_in_and_registration_limits(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        human.register("ada", PASSWORD).await.expect(201);
        let stranger = world.human();
        submit(&stranger, &agent, "bob", PASSWORD).await.refused(429, "rate_limited");
        submit(&stranger, &agent, "ada", "wrong horse battery").await.refused(401, "invalid_credentials");
        submit(&stranger, &agent, "ada", PASSWORD).await.refused(429, "rate_limited");
    }

    async fn an_expired_account_cannot_be_claimed(world: World) {
        let agent = world.agent().await;
        let page = agent.publish("a-page", PAGE).await.expect(201);
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        world.advance(30 * MINUTE);
        human.claim(&claim_url(&agent)).await.refused(410, "account_expired");
        submit(&world.human(), &agent, "bob", PASSWORD).await.refused(410, "account_expired");
        let gone = human.get(human.path_of(&claim_url(&agent))).header("Accept", BROWSER).await;
        assert_page(&gone, 410);
        assert!(gone.text().contains("expired"), "{gone:?}");
        // The attempt had no effect, and the other rules for expired accounts hold: reads work, writes and
        // pages do not.
        assert_eq!(human.me().await.expect(200).at("accounts"), json!([]));
        assert_eq!(agent.account().await.expect(200).string("status"), "provisional");
        agent.artifact("a-page").await.expect(200);
        agent.publish("a-page", PAGE).await.refused(403, "account_expired");
        front_page(&world.visitor(), &page).await.expect(410);
        world.operator().post("/internal/run-cleanup").await.expect(200);
        human.claim(&claim_url(&agent)).await.refused(404, "not_found");
    }

    async fn unknown_claim_code_claims_nothing(world: World) {
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        for path in ["/claim/0123456789abcdefghijABCDEFGHIJxy", "/claim/x", "/claim/%00", "/claim/%27"] {
            human.claim(path).await.refused(404, "not_found").naming("claim link");
            human.get(path).await.refused(404, "not_found");
            assert_page(&human.get(path).header("Accept", BROWSER).await, 404);
        }
    }

    async fn a_rotated_code_claims_nothing(world: World) {
        let agent = world.agent().await;
        let rotated = agent.post("/v1/account/claim-link").await.expect(200);
        let human = world.human();
        human.dev_login("ada").await.expect(200);
        human.claim(&claim_url(&agent)).await.refused(404, "not_found");
        human.claim(&rotated.string("claim_url")).await.expect(200);
    }

    async fn a_claim_from_another_sites_page_is_refused(world: World) {
        let (agent, human) = (world.agent().await, world.human());
        for origin in [world.serve_url(), "null".into(), "https://evil.example".into()] {
            let elsewhere = human.on_a_page_of(&origin);
            elsewhere.claim(&claim_url(&agent)).await.refused(403, "forbidden");
            // This holds without a session too: another site's page must not sign a person in.
            submit(&elsewhere, &agent, "ada", PASSWORD).await.refused(403, "forbidden");
        }
        human.dev_login("ada").await.expect(200);
        human.on_a_page_of(&world.serve_url()).claim(&claim_url(&agent)).await.refused(403, "forbidden");
        assert_eq!(agent.account().await.expect(200).string("status"), "provisional");
    }

    async fn only_one_of_concurrent_claims_succeeds(world: World) {
        let agent = world.agent().await;
        agent.publish("a-page", PAGE).await.expect(201);
        let processes = match world.mode() {
            Mode::Embedded => vec![world.api()],
            Mode::Production => vec![world.api(), world.start_api().await],
        };
        let mut claimers = Vec::new();
        for number in 0..6 {
            let human = world.human().at(&processes[number % processes.len()]);
            human.dev_login(&format!("claimer-{number}")).await.expect(200);
            claimers.push(human);
        }
        let url = claim_url(&agent);
        let replies = join_all(claimers.iter().map(|human| human.claim(&url).into_future())).await;
        let mut owners = 0;
        for (human, reply) in claimers.iter().zip(replies) {
            let roles = human.me().await.expect(200).at("accounts");
            if reply.status == 200 {
                owners += 1;
                assert_eq!(roles[0]["role"], "owner");
            } else {
                reply.refused(409, "already_claimed");
                assert_eq!(roles, json!([]));
            }
        }
        assert_eq!(owners, 1);
    }

    async fn the_claim_page_shows_what_is_claimed_and_needs_no_script(world: World) {
        let agent = world.agent().await;
        let page = agent.publish("a-page", PAGE).await.expect(201);
        let human = world.human();
        let path = human.path_of(&claim_url(&agent)).to_owned();
        let open = async || human.get(&path).header("Accept", BROWSER).await;
        let signed_out = open().await;
        assert_page(&signed_out, 200);
        let text = signed_out.text();
        for part in [&agent.handle(), &page.string("url"), "29 minutes", "name=\"username\"", "name=\"password\""] {
            assert!(text.contains(part), "{part} is missing: {signed_out:?}");
        }
        human.dev_login("ada").await.expect(200);
        let signed_in = open().await.text();
        assert!(signed_in.contains("Claim as ada") && !signed_in.contains("name=\"password\""), "{signed_in}");
        // Programs get the same page. Only errors have another form.
        assert_page(&human.get(&path).await, 200);

        human.post(&path).header("Accept", BROWSER).form(&[]).await.expect(302);
        let dashboard = human.get("/dashboard").header("Accept", BROWSER).await.expect(302);
        let dashboard = human.get(dashboard.header("Location")).header("Accept", BROWSER).await;
        assert_page(&dashboard, 200);
        for part in ["ada", &agent.handle(), "owner", "Account claimed.", &page.string("url")] {
            assert!(dashboard.text().contains(part), "{part} is missing: {dashboard:?}");
        }
        let taken = open().await;
        assert_page(&taken, 409);
        assert!(taken.text().contains("claimed already"), "{taken:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_edge_shows_the_badge_after_the_claim_response() {
    let world = World::with(Mode::Production, program!()).start().await;
    let (api, edge) = (world.start_api().await, world.start_edge().await);
    let agent = world.agent().await;
    let page = agent.publish("a-page", PAGE).await.expect(201);
    let visitors = [world.visitor(), world.visitor().at(&edge)];
    for visitor in &visitors {
        assert_serves(&front_page(visitor, &page).await, PAGE);
    }
    let human = world.human().at(&api);
    human.dev_login("ada").await.expect(200);
    human.claim(&claim_url(&agent)).await.expect(200);
    for visitor in &visitors {
        assert_eq!(front_page(visitor, &page).await.expect(200).text(), PAGE);
    }
}

#[track_caller]
fn claim_url(agent: &Agent) -> String {
    agent.signup.as_ref().expect("an agent that signed up").string("claim_url")
}

/// Posts the form of a claim page as a browser does.
async fn submit(human: &Human, agent: &Agent, username: &str, password: &str) -> Reply {
    let url = claim_url(agent);
    human.post(human.path_of(&url)).form(&[("username", username), ("password", password)]).await
}
