//! Secrets in published files: active tokens of this service are refused, keys of other providers cause a
//! warning.

use std::time::Duration;

use handbill_tests::{Agent, Reply, in_both_modes, json};

use crate::expectations::{PAGE, assert_page, open_result, page_saying};
use crate::mcp::{failed, tool_result};
use crate::uploads::{address, stage};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

in_both_modes! {
    async fn an_active_token_of_any_account_is_not_published(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let leaking = page_saying(&format!("\n<script>const token = '{}';</script>", other.token()));
        let refused = assert_held_back(&agent.publish("my-page", leaking.clone()).await, &other);
        assert!(refused.string("message").contains("\"index.html\""), "{refused:?}");
        assert!(refused.string("message").contains("on line 2"), "{refused:?}");
        assert!(refused.string("hint").contains("POST /v1/tokens/revoke"), "{refused:?}");
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));

        let binary = [b"\x89PNG\0", other.token().as_bytes(), b"\0"].concat();
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("img/a.png", &binary)];
        let refused = assert_held_back(&agent.publish_files("my-page", &files).await, &other);
        assert!(refused.string("message").contains("img/a.png"), "{refused:?}");

        let published = agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(published.integer("account.free_publishes_left"), 4, "nothing was charged");
        assert_held_back(&agent.add_version("my-page", leaking.clone()).await, &other);
        let files = json!([{ "path": "index.html", "content": leaking }]);
        let tool = agent.call_tool("publish_artifact", &json!({ "slug": "my-page", "files": files })).await;
        assert!(!failed(&tool, "secret_in_publish").to_string().contains(other.token()));
        let staged = stage(&agent).await;
        address(&world, &staged).field("html", leaking).await.expect(201);
        let upload = json!({ "slug": "my-page", "upload": staged["upload"] });
        failed(&agent.call_tool("publish_upload", &upload).await, "secret_in_publish");
        assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), 1);
        world.assert_no_secret_was_logged();
    }

    async fn a_token_that_does_not_work_may_be_published(world: World) {
        let agent = world.agent().await;
        let revoked = agent.mint(&json!({})).await.expect(201);
        let page = page_saying(&revoked.string("token"));
        let call = || agent.publish("my-page", page.clone()).idempotency_key("1");
        assert_eq!(call().await.refused(400, "secret_in_publish").status, 400);
        // A refused publish does not occupy its idempotency key.
        agent.publish("other-page", PAGE).idempotency_key("1").await.expect(201);
        agent.revoke_token(&revoked.string("id")).await.expect(200);
        agent.publish("my-page", page.clone()).await.expect(201);
        agent.publish("my-page", page_saying(&format!("svc_sk_{}", "a".repeat(32)))).await.expect(201);
    }

    async fn publish_with_more_token_like_strings_than_the_lookup_limit_is_refused(world: World) {
        let agent = world.agent().await;
        let texts = |count| (0..count).map(|number| format!("svc_sk_{number:032}\n")).collect::<String>();
        agent.publish("my-page", page_saying(&texts(1_000))).await.expect(201);
        agent.publish("my-page", page_saying(&texts(1_001))).await.refused(400, "invalid_request").naming("files");
    }

    async fn key_of_another_provider_gives_a_warning_and_is_published(world: World) {
        let agent = world.agent().await;
        assert_eq!(agent.publish("my-page", PAGE).await.expect(201).at("warnings"), json!([]));
        // In two parts, so that secret scanners do not report this file.
        let key = format!("AK{}", "IAQ7RTWXK4ZB2MNV6A");
        let files: [(&str, &[u8]); 2] =
            [("index.html", PAGE.as_bytes()), ("js/app.js", &format!("//\nconst key = '{key}';\n").into_bytes())];
        let call = || agent.publish_files("my-page", &files).idempotency_key("1");
        let published = call().await.expect(201);
        let warning = published.at("warnings.0");
        assert_eq!((&warning["code"], &warning["path"], &warning["line"]), (&json!("secret"), &json!("js/app.js"), &json!(2)));
        assert!(warning["message"].as_str().unwrap().contains("AWS"), "{warning}");
        assert!(warning["hint"].as_str().unwrap().contains("revoke"), "{warning}");
        assert!(!published.text().contains(&key[4..]), "{published:?}");
        assert_eq!(published.at("warnings").as_array().unwrap().len(), 1);
        // A repeat gets the same response.
        assert_eq!(call().await.expect(201).json(), published.json());
        let files = json!([{ "path": "index.html", "content": page_saying(&key) }]);
        let tool = agent.call_tool("publish_artifact", &json!({ "slug": "by-tool", "files": files })).await;
        assert_eq!(tool_result(&tool)["warnings"][0]["path"], "index.html");
    }

    async fn front_page_shows_token_errors_and_key_warnings(world: World) {
        let agent = world.agent().await;
        let human = world.human();
        let paste = async |html: String| human.post("/").header("Accept", BROWSER).field("html", html).await;
        let refused = paste(page_saying(agent.token())).await;
        assert_page(&refused, 400);
        assert!(refused.text().contains("id=\"html-fault\">This page contains an active token"), "{refused:?}");
        let warned = paste(page_saying(&format!("AK{}", "IAQ7RTWXK4ZB2MNV6A"))).await;
        // The warnings stay when the page is reloaded.
        for _ in 0..2 {
            let shown = open_result(&human, &warned).await;
            assert!(shown.text().contains("an access key ID of AWS"), "{shown:?}");
        }
    }

    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "2")]
    async fn front_page_refusal_for_a_secret_does_not_use_the_sign_up_limit(world: World) {
        let agent = world.agent().await;
        let paste = async |html: String| {
            world.human().post("/").header("Accept", BROWSER).field("html", html).await
        };
        for _ in 0..2 {
            assert_page(&paste(page_saying(agent.token())).await, 400);
        }
        paste(page_saying("no secret")).await.expect(303);
        assert_page(&paste(page_saying("no secret")).await, 429);
        world.advance(Duration::from_secs(60));
        // Only this many are refunded in a minute. Further ones count.
        for _ in 0..4 {
            assert_page(&paste(page_saying(agent.token())).await, 400);
        }
        assert_page(&paste(page_saying("no secret")).await, 429);
    }
}

/// The publish was refused, and the error does not contain the token.
#[track_caller]
fn assert_held_back(reply: &Reply, owner: &Agent) -> Reply {
    let refused = reply.clone().refused(400, "secret_in_publish");
    assert!(!refused.text().contains(&owner.token()[7..20]), "{refused:?}");
    refused
}
