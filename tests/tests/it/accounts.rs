//! Spec 2.1, 2.7, 3.1, 4.1, 4.4 and 5: signing up, reading the account, and expiry.

use std::time::Duration;

use handbill_tests::{Agent, Method, Reply, fields_of, in_both_modes, json};

use crate::expectations::{PAGE, front_page, millis_from_now};

const MINUTE: Duration = Duration::from_secs(60);

in_both_modes! {
    async fn status_reports_that_the_service_is_running(world: World) {
        let status = world.stranger().get("/v1/status").await.expect(200);
        assert_eq!(status.field_names(), ["dev_mode", "status", "version"]);
        assert_eq!(status.string("status"), "ok");
    }

    async fn a_signup_gives_an_account_a_token_and_a_claim_link(world: World) {
        let signup = world.stranger().post("/v1/signup").await.expect(201);
        assert_eq!(signup.field_names(), ["account", "claim_url", "limits", "token"]);
        assert_eq!(fields_of(&signup.at("account")), ["expires_at", "handle", "id", "name", "status"]);
        assert_eq!(signup.at("limits"), json!({ "free_publishes": 5, "total_mb": 20 }));
        assert_eq!(signup.string("account.status"), "provisional");
        assert_alphanumeric(&signup.string("account.handle"), "acct_");
        let token = signup.string("token");
        assert_alphanumeric(&token, "svc_sk_");
        assert_eq!(token.len(), "svc_sk_".len() + 32);
        assert_alphanumeric(&signup.string("claim_url"), &format!("{}/claim/", world.base_url()));
        let lifetime_ms = millis_from_now(&signup.string("account.expires_at"));
        assert!((29 * 60_000..=30 * 60_000).contains(&lifetime_ms), "{lifetime_ms}");
    }

    async fn two_signups_are_fully_separate(world: World) {
        let (one, other) = (world.agent().await, world.agent().await);
        assert_ne!(one.handle(), other.handle());
        assert_ne!(one.token(), other.token());
        one.publish("mine", PAGE).await.expect(201);
        assert_eq!(other.artifacts().await.expect(200).json(), json!([]));
    }

    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "3")]
    async fn signups_are_limited_per_address_regardless_of_forwarded_headers(world: World) {
        let stranger = world.stranger();
        let sign_up_as =
            async |address: &str| stranger.post("/v1/signup").header("X-Forwarded-For", address).await;
        for address in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
            sign_up_as(address).await.expect(201);
        }
        let refused = sign_up_as("192.0.2.4").await.refused(429, "rate_limited");
        let seconds: u64 = refused.header("Retry-After").parse().expect("whole seconds");
        assert!((1..=60).contains(&seconds), "{refused:?}");
        world.advance(MINUTE);
        sign_up_as("192.0.2.5").await.expect(201);
    }

    #[settings(
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "1",
        "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8"
    )]
    async fn behind_a_trusted_proxy_the_client_address_is_used(world: World) {
        let stranger = world.stranger();
        for address in ["192.0.2.1", "192.0.2.2"] {
            stranger.post("/v1/signup").header("X-Forwarded-For", address).await.expect(201);
            let again = stranger.post("/v1/signup").header("X-Forwarded-For", address).await;
            again.refused(429, "rate_limited");
        }
    }

    async fn the_account_shows_its_state_and_its_limits(world: World) {
        let agent = world.agent().await;
        agent.publish("a-page", PAGE).await.expect(201);
        let account = agent.account().await.expect(200);
        assert_eq!(
            account.field_names(),
            [
                "account",
                "allow_agent_join",
                "claim_url",
                "credits_usd",
                "expires_at",
                "free_publishes_left",
                "handle",
                "id",
                "limits",
                "name",
                "status",
                "suspended",
                "usage",
                "versions_days",
                "versions_kept",
            ]
        );
        let signup = agent.signup.as_ref().unwrap();
        assert_eq!(account.at("account"), signup.at("account"));
        assert_eq!(account.string("handle"), agent.handle());
        assert_eq!(account.string("id"), signup.string("account.id"));
        assert_eq!(account.string("expires_at"), signup.string("account.expires_at"));
        assert_eq!(account.string("claim_url"), signup.string("claim_url"));
        assert_eq!(account.at("limits"), signup.at("limits"));
        assert_eq!(account.integer("free_publishes_left"), 4);
        assert_eq!(account.number("credits_usd"), 0.0);
        assert_eq!(account.at("allow_agent_join"), true);
        assert_eq!(fields_of(&account.at("usage")), ["month", "publishes", "storage_bytes", "views"]);
        assert_eq!(account.integer("usage.publishes"), 1);
        assert_eq!(account.integer("usage.storage_bytes"), i64::try_from(PAGE.len()).unwrap());
    }

    async fn the_usage_shows_every_field(world: World) {
        let agent = world.agent().await;
        let content = vec![b'x'; 3_000_000];
        agent.publish_files("a-page", &[("a.txt", &content)]).await.expect(201);
        let usage = agent.usage().await.expect(200);
        assert_eq!(
            usage.field_names(),
            ["credits_usd", "month", "private_artifacts", "publishes", "status", "storage", "traffic"]
        );
        let month = usage.string("month");
        assert!(month.len() == 7 && month.as_bytes()[4] == b'-', "{month}");
        assert_eq!(usage.at("publishes"), json!({ "used": 1, "free_limit": 5, "free_left": 4 }));
        assert_eq!(fields_of(&usage.at("storage")), ["bytes", "est_monthly_cost_usd", "gb"]);
        assert_eq!(usage.integer("storage.bytes"), 3_000_000);
        assert_eq!(usage.number("storage.gb"), 0.003);
        assert_eq!(usage.number("storage.est_monthly_cost_usd"), 0.0);
        let traffic = json!({ "views": 0, "free_limit": 1_000_000, "overage_views": 0 });
        assert_eq!(usage.at("traffic"), traffic);
        assert_eq!(fields_of(&usage.at("private_artifacts")), ["count", "monthly_cost_usd"]);
        assert_eq!(usage.integer("private_artifacts.count"), 0);
        assert_eq!(usage.number("private_artifacts.monthly_cost_usd"), 0.0);
        assert_eq!(usage.number("credits_usd"), 0.0);
        assert_eq!(usage.string("status"), "provisional");
    }

    async fn calls_without_a_valid_token_get_401_with_a_sign_up_hint(world: World) {
        let stranger = world.stranger();
        let unknown = stranger.with_token("svc_sk_0123456789abcdefghijABCDEFGHIJxy");
        for agent in [&stranger, &unknown, &stranger.with_token("nonsense"), &stranger.with_token("")] {
            for reply in every_call_with_a_token(agent).await {
                let refused = reply.refused(401, "unauthorized");
                assert!(refused.string("hint").contains("POST /v1/signup"), "{refused:?}");
            }
        }
    }

    async fn until_it_expires_a_provisional_account_works(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("a-page", PAGE).await.expect(201);
        world.advance(29 * MINUTE);
        agent.publish("a-page", PAGE).await.expect(201);
        front_page(&world.visitor(), &published).await.expect(200);
    }

    async fn an_expired_account_can_be_read_but_not_changed(world: World) {
        let agent = world.agent().await;
        agent.publish("a-page", PAGE).await.expect(201);
        world.advance(31 * MINUTE);
        agent.publish("a-page", PAGE).await.refused(403, "account_expired");
        agent.publish("a-page", PAGE).paying("dev:0.005").await.refused(403, "account_expired");
        agent.activate("a-page", 1).await.refused(403, "account_expired");
        agent.delete("a-page").await.refused(403, "account_expired");
        assert_eq!(agent.artifact("a-page").await.expect(200).integer("version"), 1);
        assert_eq!(agent.account().await.expect(200).string("status"), "provisional");
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 1);
    }

    async fn pages_of_an_expired_account_are_gone_and_show_no_content(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("a-page", PAGE).await.expect(201);
        let visitor = world.visitor();
        front_page(&visitor, &published).await.expect(200);
        world.advance(31 * MINUTE);
        for path in ["", "index.html", "no-such-page"] {
            let gone = visitor.open_site(&published, path).await.expect(410);
            assert!(gone.header("Content-Type").starts_with("text/html"), "{gone:?}");
            assert_eq!(gone.header("Cache-Control"), "no-store");
            assert!(gone.text().contains("xpired") && !gone.text().contains("Hello"), "{gone:?}");
        }
    }

    #[settings(
        "HANDBILL_LIMITS__PROVISIONAL_LIFETIME" = "2m",
        "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "1"
    )]
    async fn the_limits_follow_the_settings(world: World) {
        let agent = world.agent().await;
        let lifetime_ms = millis_from_now(&agent.signup.as_ref().unwrap().string("account.expires_at"));
        assert!((60_000..=120_000).contains(&lifetime_ms), "{lifetime_ms}");
        agent.publish("a-page", PAGE).await.expect(201);
        agent.publish("a-page", PAGE).await.refused(402, "payment_required");
        world.advance(3 * MINUTE);
        agent.publish("a-page", PAGE).await.refused(403, "account_expired");
    }
}

#[track_caller]
fn assert_alphanumeric(text: &str, prefix: &str) {
    let rest = text.strip_prefix(prefix).unwrap_or_else(|| panic!("{text} does not begin with {prefix}"));
    assert!(!rest.is_empty() && rest.bytes().all(|b| b.is_ascii_alphanumeric()), "{text}");
}

async fn every_call_with_a_token(agent: &Agent) -> Vec<Reply> {
    vec![
        agent.publish("a-page", PAGE).await,
        agent.artifacts().await,
        agent.artifact("a-page").await,
        agent.activate("a-page", 1).await,
        agent.call(Method::DELETE, "/v1/artifacts/a-page").await,
        agent.account().await,
        agent.usage().await,
    ]
}
