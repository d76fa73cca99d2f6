//! Spec 2.11, 4.6 and 5.6: registering and signing in.

use std::time::{Duration, Instant};

use futures::future::join_all;
use handbill_tests::{Human, Mode, Reply, World, fields_of, in_both_modes, json, program};

use crate::expectations::PASSWORD;

const MINUTE: Duration = Duration::from_secs(60);
const WRONG_PASSWORD: &str = "wrong horse battery";

in_both_modes! {
    async fn registration_signs_in_and_usernames_are_case_insensitive(world: World) {
        let human = world.human();
        human.me().await.refused(401, "unauthorized");
        let registered = human.register("Ada_L", PASSWORD).await.expect(201);
        assert_eq!(registered.field_names(), ["user"]);
        assert_eq!(fields_of(&registered.at("user")), ["id", "username"]);
        assert_eq!(registered.string("user.username"), "ada_l");
        let me = human.me().await.expect(200);
        assert_eq!(me.json(), json!({ "user": registered.at("user"), "accounts": [] }));

        let elsewhere = world.human();
        for taken in ["ada_l", "ADA_L"] {
            elsewhere.register(taken, PASSWORD).await.refused(409, "username_taken");
        }
        elsewhere.me().await.refused(401, "unauthorized");
        let signed_in = elsewhere.login("ADA_l", PASSWORD).await.expect(200);
        assert_eq!(signed_in.json(), registered.json());
        elsewhere.me().await.expect(200);
    }

    // More refusals than the registrations that are allowed in a minute, because invalid attempts do not
    // count.
    async fn invalid_registration_is_refused_with_the_reason(world: World) {
        let human = world.human();
        for malformed in ["", "ab", "-ada", "ada lovelace", "äda", &"a".repeat(31)] {
            human.register(malformed, PASSWORD).await.refused(400, "invalid_request").naming("username");
        }
        let weak = [
            ("Short-1", "10 to 200"),
            (&*"xY1".repeat(67), "10 to 200"),
            ("abcdefghijkl", "at least two"),
            ("my-name-is-AdA-1", "username"),
            ("Password123", "100 most common"),
            ("1234567890", "100 most common"),
        ];
        for (password, rule) in weak {
            let refused = human.register("ada", password).await.refused(400, "weak_password");
            assert!(refused.string("message").contains(rule) && refused.string("hint").contains(rule), "{refused:?}");
        }
        for body in ["{", "[]", ""] {
            human.post("/auth/register").raw("application/json", body).await.refused(400, "invalid_body");
        }
        for body in [json!({ "username": "ada" }), json!({ "username": "ada", "password": 1_234_567_890 })] {
            let refused = human.post("/auth/register").json(&body).await.refused(400, "invalid_body");
            assert!(refused.string("message").contains("password"), "{refused:?}");
        }
        let unknown = json!({ "username": "ada", "password": PASSWORD, "email": "a@b.example" });
        human.post("/auth/register").json(&unknown).await.refused(400, "invalid_body").naming("email");
        let fields = [("username", "ada"), ("password", PASSWORD)];
        human.post("/auth/login").form(&fields).await.refused(415, "unsupported_media_type");
        human.register("ada", &"ä1".repeat(100)).await.expect(201);
    }

    async fn concurrent_registrations_of_one_name_create_one_person(world: World) {
        let callers = humans_at_two_processes(&world).await;
        let calls = callers.iter().map(|human| human.register("ada", PASSWORD).into_future());
        let mut statuses: Vec<_> = join_all(calls).await.into_iter().map(|reply| reply.status).collect();
        statuses.sort_unstable();
        assert_eq!(statuses, [201, 409]);
    }

    #[settings("HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "100")]
    async fn failed_login_reveals_nothing_by_message_or_timing(world: World) {
        let human = world.human();
        human.register("ada", PASSWORD).await.expect(201);
        human.dev_login("dev").await.expect(200);
        // In alternation, so that a busy machine slows all of them down. The shortest time of each counts.
        let mut shortest = [Duration::MAX; 5];
        let mut answers = Vec::new();
        for _ in 0..3 {
            for (number, username) in ["ada", "nobody", "dev", "not a name", ""].into_iter().enumerate() {
                let start = Instant::now();
                let failed = human.login(username, WRONG_PASSWORD).await.refused(401, "invalid_credentials");
                shortest[number] = shortest[number].min(start.elapsed());
                let header_names: Vec<_> = failed.headers.keys().map(ToString::to_string).collect();
                answers.push((failed.text(), header_names));
            }
        }
        assert!(answers.iter().all(|answer| *answer == answers[0]), "{answers:?}");
        assert!(answers[0].0.contains("POST /v1/signup to get a token"), "{answers:?}");
        // Without hashing it would be a hundredth.
        assert!(shortest.iter().all(|took| *took * 5 > shortest[0]), "{shortest:?}");
    }

    #[settings(
        "HANDBILL_LIMITS__LOGINS_PER_MINUTE" = "3",
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8"
    )]
    async fn logins_are_limited_per_username_and_per_address(world: World) {
        let human = world.human();
        human.register("ada", PASSWORD).await.expect(201);
        let login = async |username: &str, password: &str, from: &str| {
            human.login(username, password).header("X-Forwarded-For", from).await
        };
        for from in ["192.0.2.1", "192.0.2.2", "192.0.2.3"] {
            login("ada", WRONG_PASSWORD, from).await.refused(401, "invalid_credentials");
        }
        // The right password from another address, in capitals: it is the same username.
        assert_limited(&login("ADA", PASSWORD, "192.0.2.4").await);
        for _ in 0..2 {
            login("nobody", WRONG_PASSWORD, "192.0.2.4").await.refused(401, "invalid_credentials");
        }
        assert_limited(&login("another", WRONG_PASSWORD, "192.0.2.4").await);
        world.advance(MINUTE);
        login("ada", PASSWORD, "192.0.2.4").await.expect(200);
    }

    #[settings(
        "HANDBILL_LIMITS__REGISTRATIONS_PER_MINUTE" = "1",
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_API__TRUSTED_PROXIES" = "127.0.0.0/8"
    )]
    async fn registrations_are_limited_per_address(world: World) {
        let human = world.human();
        let register = async |username: &str, from: &str| {
            human.register(username, PASSWORD).header("X-Forwarded-For", from).await
        };
        register("ada", "192.0.2.1").await.expect(201);
        assert_limited(&register("bob", "192.0.2.1").await);
        register("bob", "192.0.2.2").await.expect(201);
        world.advance(MINUTE);
        register("eve", "192.0.2.1").await.expect(201);
    }

    async fn dev_login_signs_in_as_anybody_and_sets_no_password(world: World) {
        let human = world.human();
        let signed_in = human.dev_login("Ada").await.expect(200);
        assert_eq!(signed_in.field_names(), ["user"]);
        assert_eq!(signed_in.string("user.username"), "ada");
        assert_eq!(human.me().await.expect(200).at("user"), signed_in.at("user"));
        assert_eq!(world.human().dev_login("ada").await.expect(200).json(), signed_in.json());
        for password in ["", "!", PASSWORD] {
            world.human().login("ada", password).await.refused(401, "invalid_credentials");
        }
        human.get("/auth/dev").await.refused(400, "invalid_request").naming("user");
        human.dev_login("-").await.refused(400, "invalid_request").naming("user");

        let sent_on = human.get("/auth/dev?user=bob&next=/dashboard").await.expect(302);
        assert_eq!(sent_on.header("Location"), "/dashboard");
        assert_eq!(human.me().await.expect(200).string("user.username"), "bob");
        for elsewhere in ["//evil.example", "/%5Cevil.example", "https://evil.example", "/%09/evil.example"] {
            let stays = human.get(&format!("/auth/dev?user=bob&next={elsewhere}")).await.expect(200);
            assert_eq!(stays.header("Location"), "");
        }
    }

    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn outside_dev_mode_nobody_signs_in_without_a_password(world: World) {
        let human = world.human();
        human.register("ada", PASSWORD).await.expect(201);
        let refused = world.human().dev_login("ada").await.refused(404, "not_found");
        assert_eq!(refused.header("Set-Cookie"), "");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn limits_are_shared_by_all_processes() {
    let world = World::with(Mode::Production, program!())
        .env("HANDBILL_LIMITS__LOGINS_PER_MINUTE", "2")
        .start()
        .await;
    let [one, other] = humans_at_two_processes(&world).await;
    one.login("nobody", WRONG_PASSWORD).await.refused(401, "invalid_credentials");
    other.login("nobody", WRONG_PASSWORD).await.refused(401, "invalid_credentials");
    assert_limited(&one.login("nobody", WRONG_PASSWORD).await);
    assert_limited(&other.login("nobody", WRONG_PASSWORD).await);
}

#[track_caller]
fn assert_limited(reply: &Reply) {
    let refused = reply.clone().refused(429, "rate_limited");
    let seconds: u64 = refused.header("Retry-After").parse().expect("whole seconds");
    assert!((1..=60).contains(&seconds), "{refused:?}");
}

/// Two people, each at a process of their own if there can be two.
async fn humans_at_two_processes(world: &World) -> [Human; 2] {
    match world.mode() {
        Mode::Embedded => [world.human(), world.human()],
        Mode::Production => [world.human(), world.human().at(&world.start_api().await)],
    }
}
