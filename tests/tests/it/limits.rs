//! Limits apply regardless of the address, the number of a person's accounts and the concurrency.

use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{Agent, Human, Mode, PATIENCE, Reply, World, eventually, in_both_modes, json, program};

use crate::admin::OPERATOR_PASSWORD;
use crate::expectations::{PAGE, PASSWORD, assert_untouched, at_two_processes, page_saying};
use crate::mcp::failed;
use crate::teams::person;

const MINUTE: Duration = Duration::from_secs(60);
const HOUR: Duration = Duration::from_secs(3600);
/// Worlds with many addresses take the client's address from this header.
const FORWARDED: &str = "X-Forwarded-For";

in_both_modes! {
    #[settings("HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "3", "HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "60")]
    async fn limited_calls_report_what_remains(world: World) {
        let limit_headers = |reply: &Reply| {
            (reply.header("RateLimit").to_owned(), reply.header("RateLimit-Policy").to_owned())
        };
        let first = world.stranger().post("/v1/signup").await.expect(201);
        assert_eq!(limit_headers(&first), ("\"signup\";r=2;t=60".into(), "\"signup\";q=3;w=60".into()));
        world.advance(Duration::from_secs(10));
        let second = world.stranger().post("/v1/signup").await.expect(201);
        assert_eq!(second.header("RateLimit"), "\"signup\";r=1;t=50");
        world.stranger().post("/v1/signup").await.expect(201);
        let refused = world.stranger().post("/v1/signup").await.expect(429);
        assert_eq!(refused.header("RateLimit"), "\"signup\";r=0;t=50");
        assert_eq!(refused.header("Retry-After"), "50");
        world.advance(MINUTE);
        let agent = world.agent().await;
        let published = agent.publish("my-page", "<h1>Hello</h1>").await.expect(201);
        assert_eq!(limit_headers(&published), ("\"publish\";r=59;t=1".into(), "\"publish\";q=60;w=60".into()));
        let files = json!([{ "path": "index.html", "content": "<h1>Hello again</h1>" }]);
        let site = json!({ "slug": "my-page", "files": files });
        let by_tool = agent.call_tool("publish_artifact", &site).await.expect(200);
        assert_eq!(limit_headers(&by_tool), ("\"publish\";r=58;t=2".into(), "\"publish\";q=60;w=60".into()));
        let unlimited = agent.artifacts().await.expect(200);
        assert_eq!(unlimited.headers.get("RateLimit"), None);
    }

    #[settings(
        "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "1",
        "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8",
        "HANDBILL_ALLOW_PUBLIC_DEV" = "true"
    )]
    async fn ipv6_is_limited_by_64_56_and_48_prefixes_together(world: World) {
        let sign_up = async |from: String| world.stranger().post("/v1/signup").header(FORWARDED, from).await;
        // Eight of 256 /64 networks, in each of eight of 256 /56 networks.
        for number in 0..64 {
            let (of_48, of_56) = (number / 8, number % 8);
            sign_up(format!("2001:db8:1:{of_48:x}{of_56:02x}::1")).await.expect(201);
            if of_56 == 7 {
                let ninth_of_56 = format!("2001:db8:1:{of_48:x}ff::1");
                assert_limited(sign_up(ninth_of_56).await, MINUTE);
            }
        }
        assert_limited(sign_up("2001:db8:1:8000::1".into()).await, MINUTE);
        sign_up("2001:db8:2:8000::1".into()).await.expect(201);
        sign_up("192.0.2.1".into()).await.expect(201);
        assert_limited(sign_up("192.0.2.1".into()).await, MINUTE);
    }

    #[settings(
        "HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD,
        "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8",
        "HANDBILL_ALLOW_PUBLIC_DEV" = "true"
    )]
    async fn operator_password_attempts_are_limited_to_60_a_minute_in_total(world: World) {
        let callers = at_two_processes(&world, &world.human(), Human::at).await;
        let sign_in = async |number: usize, password: &str| {
            let form = [("name", "Ada"), ("password", password), ("next", "/admin/audit")];
            let call = callers[number % 2].post("/admin/signin").header("Accept", "text/html");
            call.header(FORWARDED, format!("198.51.100.{number}")).form(&form).await
        };
        for number in 0..5 {
            sign_in(number, OPERATOR_PASSWORD).await.expect(302);
        }
        let replies = join_all((10..110).map(|number| sign_in(number, "wrong"))).await;
        let count_of = |status| replies.iter().filter(|reply| reply.status == status).count();
        assert_eq!((count_of(401), count_of(429)), (60, 40));
        let refused = sign_in(200, OPERATOR_PASSWORD).await.expect(429);
        assert!(refused.header("Retry-After").parse::<u64>().is_ok_and(|seconds| seconds <= 60), "{refused:?}");
        world.advance(MINUTE);
        sign_in(201, OPERATOR_PASSWORD).await.expect(302);
    }

    #[settings("HANDBILL_LIMITS__CLAIMS_PER_PERSON" = "3", "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "100")]
    async fn concurrent_claims_stay_within_the_limit_per_person(world: World) {
        let human = person(&world, "farmer").await;
        let callers = at_two_processes(&world, &human, Human::at).await;
        let agents = join_all((0..20).map(|_| world.agent())).await;
        let claims = agents.iter().enumerate().map(|(number, agent)| {
            callers[number % 2].claim(&claim_url(agent)).into_future()
        });
        let replies = join_all(claims).await;
        let (claimed, refused): (Vec<_>, Vec<_>) = agents.iter().zip(replies).partition(|(_, reply)| reply.status == 200);
        assert_eq!(claimed.len(), 3);
        for (_, reply) in &refused {
            let refusal = reply.clone().refused(403, "quota_exceeded");
            assert!(refusal.string("message").contains('3') && refusal.string("hint").contains("GET /auth/me"), "{refusal:?}");
        }
        assert_eq!(human.me().await.expect(200).at("accounts").as_array().unwrap().len(), 3);
        let page = human.post(human.path_of(&claim_url(refused[0].0))).header("Accept", "text/html").form(&[]).await;
        assert!(page.expect(403).text().contains("accounts per person"));

        // Another person can still claim the account, and may create a user account on the way.
        for (agent, status) in refused.iter().map(|(agent, _)| agent).zip([200, 200, 200, 403]) {
            let form = [("username", "newcomer"), ("password", PASSWORD)];
            world.human().claim(&claim_url(agent)).form(&form).await.expect(status);
        }
    }

    #[settings("HANDBILL_LIMITS__CLAIMS_PER_ADDRESS_PER_DAY" = "2", "HANDBILL_LIMITS__SIGNUPS_PER_MINUTE" = "100")]
    async fn claims_per_day_are_limited_per_address(world: World) {
        let agents = join_all((0..6).map(|_| world.agent())).await;
        let processes = match world.mode() {
            Mode::Embedded => vec![world.api()],
            Mode::Production => vec![world.api(), world.start_api().await],
        };
        // Refused attempts do not count.
        let first = person(&world, "first").await;
        for _ in 0..3 {
            first.claim(&format!("/claim/{}", "x".repeat(32))).await.refused(404, "not_found");
        }
        let mut claimers = Vec::new();
        for number in 0..agents.len() {
            let claimer = world.human().at(&processes[number % processes.len()]);
            claimer.dev_login(&format!("claimer-{number}")).await.expect(200);
            claimers.push(claimer);
        }
        let claims = claimers.iter().zip(&agents).map(|(claimer, agent)| claimer.claim(&claim_url(agent)).into_future());
        let replies = join_all(claims).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 2, "{replies:?}");
        for refused in replies.into_iter().filter(|reply| reply.status != 200) {
            let seconds = assert_limited(refused, 24 * HOUR);
            assert!(seconds > 23 * 3600, "{seconds}");
        }
        world.advance(24 * HOUR);
        let agent = world.agent().await;
        person(&world, "next-day").await.claim(&claim_url(&agent)).await.expect(200);
    }

    #[settings("HANDBILL_LIMITS__FREE_STORAGE_BYTES" = "1000000")]
    async fn free_storage_is_shared_by_all_accounts_of_an_owner(world: World) {
        let (owner, other) = (person(&world, "owner").await, person(&world, "other").await);
        let (second, first, alone) = (world.agent().await, world.agent().await, world.agent().await);
        for (agent, human, bytes) in [(&first, &owner, 600_000), (&second, &owner, 1_000_000), (&alone, &other, 1_000_000)] {
            agent.publish_files("large", &[("index.html", &vec![b'x'; bytes])]).await.expect(201);
            human.claim(&claim_url(agent)).await.expect(200);
        }
        // 400,000 bytes are left for the account that was claimed second. It pays for the rest.
        for (agent, usd) in [(&first, 0.0), (&second, 0.000_03), (&alone, 0.0)] {
            assert_eq!(agent.usage().await.expect(200).number("storage.est_monthly_cost_usd"), usd);
        }
        let metered = world.operator().run_metering().await.expect(200);
        assert_eq!((metered.integer("accounts"), metered.integer("charges")), (3, 1), "{metered:?}");
        assert_eq!(second.account().await.expect(200).number("credits_usd"), -0.000_03);
        for agent in [&first, &alone] {
            assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.0);
        }
    }

    #[settings("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "2")]
    async fn publishes_per_minute_are_limited_across_interfaces(world: World) {
        let (agent, other) = (world.agent().await, world.agent().await);
        let first = agent.publish("my-page", PAGE).idempotency_key("first").await.expect(201);
        let files = json!({ "slug": "my-page", "files": [{ "path": "index.html", "content": page_saying("two") }] });
        assert_eq!(agent.call_tool("publish_artifact", &files).await.expect(200).at("result.isError"), json!(false));
        assert_limited(agent.publish("my-page", PAGE).await, MINUTE);
        assert_limited(agent.publish("my-page", PAGE).idempotency_key("second").await, MINUTE);
        assert_limited(agent.add_version("my-page", PAGE).await, MINUTE);
        failed(&agent.call_tool("publish_artifact", &files).await.expect(200), "rate_limited");
        // A refused call costs nothing, and a repeated call gets its first response.
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 2);
        let again = agent.publish("my-page", PAGE).idempotency_key("first").await.expect(201);
        assert_eq!(again.json(), first.json());
        other.publish("my-page", PAGE).await.expect(201);

        world.advance(MINUTE);
        agent.publish("my-page", PAGE).idempotency_key("second").await.expect(201);
        agent.add_version("my-page", PAGE).await.expect(201);
        assert_limited(agent.add_version("my-page", PAGE).await, MINUTE);
    }

    #[settings("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "2")]
    async fn repeats_of_an_answered_publish_are_limited_per_minute(world: World) {
        let agent = world.agent().await;
        let publish = || agent.publish("my-page", PAGE).idempotency_key("first");
        let first = publish().await.expect(201);
        for _ in 0..2 {
            assert_eq!(publish().await.expect(201).json(), first.json());
        }
        // Other content with the same key is a conflict, and is read no more often.
        assert_limited(publish().await, MINUTE);
        assert_limited(agent.publish("my-page", page_saying("two")).idempotency_key("first").await, MINUTE);
        // Repeats do not use the limit of publishes.
        agent.publish("my-page", PAGE).await.expect(201);
        world.advance(MINUTE);
        assert_eq!(publish().await.expect(201).json(), first.json());
    }

    #[settings("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "3")]
    async fn concurrent_publishes_stay_within_the_rate_limit(world: World) {
        let agent = world.agent().await;
        let callers = at_two_processes(&world, &agent, Agent::at).await;
        let publish = |number: usize| callers[number % 2].publish(&format!("page-{number}"), PAGE).into_future();
        let replies = join_all((0..20).map(publish)).await;
        assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 3, "{replies:?}");
        for refused in replies.into_iter().filter(|reply| reply.status != 201) {
            assert_limited(refused, MINUTE);
        }
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 3);
    }

    #[settings("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE" = "1", "HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "0")]
    async fn publish_refused_for_another_reason_does_not_use_the_rate_limit(world: World) {
        let agent = world.agent().await;
        for _ in 0..3 {
            agent.publish("my-page", PAGE).await.refused(402, "payment_required");
        }
        assert_untouched(&agent).await;
        agent.publish("my-page", PAGE).paying("dev:0.005").await.expect(201);
        assert_limited(agent.publish("my-page", PAGE).paying("dev:0.005").await, MINUTE);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_each_process_limits_publishes_locally() {
    let setup = World::with(Mode::Production, program!()).with_own_redis();
    let world = setup.env("HANDBILL_LIMITS__PUBLISHES_PER_MINUTE", "2").start().await;
    let agent = world.agent().await;
    // A process that starts without Redis ends.
    eventually(PATIENCE, "a running worker", async || world.worker().log().contains("ready").then_some(()))
        .await;
    world.redis().stop();
    for _ in 0..2 {
        agent.publish("my-page", PAGE).await.expect(201);
    }
    assert_limited(agent.publish("my-page", PAGE).await, MINUTE);
}

fn claim_url(agent: &Agent) -> String {
    agent.signup.as_ref().unwrap().string("claim_url")
}

/// The time to wait, which is at most this.
#[track_caller]
fn assert_limited(reply: Reply, at_most: Duration) -> u64 {
    let refused = reply.refused(429, "rate_limited");
    let seconds: u64 = refused.header("Retry-After").parse().expect("whole seconds");
    assert!((1..=at_most.as_secs()).contains(&seconds), "{refused:?}");
    seconds
}
