//! Safeguards against a service that is open to everybody because of a forgotten setting.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};

use handbill_tests::{Agent, Call, Finished, Human, Mode, Reply, World, in_both_modes, json, program};

use crate::expectations::{PAGE, PASSWORD};

const PAYMENT: &str = "dev:100";

/// The headers of a request that did not come directly from this machine.
const FROM_ELSEWHERE: [(&str, &str); 6] = [
    ("X-Forwarded-For", "203.0.113.10"),
    ("X-Forwarded-Proto", "https"),
    ("X-Forwarded-Server", "127.0.0.1"),
    ("Forwarded", "for=127.0.0.1"),
    ("Host", "api.example.com"),
    ("Host", "rebound.example:8080"),
];

/// Features of dev mode, each as a new call. The last one signs in as another person.
fn offers_of_dev_mode(agent: &Agent, human: &Human) -> Vec<Call> {
    vec![
        agent.buy_credit(100.0).paying(PAYMENT),
        agent.set_visibility("my-page", "private").paying("dev:0.5"),
        human.post("/v1/moderation/my-page").json(&json!({ "action": "block" })),
        human.get("/v1/artifacts"),
        human.get("/v1/account"),
        human.get("/admin/moderation"),
        human.get("/admin/queues"),
        human.get("/auth/dev?user=victim"),
    ]
}

/// An agent with a page, and a person who has claimed its account.
async fn with_a_page(world: &World) -> (Agent, Human) {
    let (agent, human) = (world.agent().await, world.human());
    agent.publish("my-page", PAGE).await.expect(201);
    human.dev_login("owner").await.expect(200);
    let claim_url = agent.account().await.expect(200).string("claim_url");
    human.claim(&claim_url).await.expect(200);
    (agent, human)
}

fn add_credits(agent: &Agent) -> Call {
    agent.call_tool("add_credits", &json!({ "amount_usd": 100, "payment_scheme": "dev" }))
}

in_both_modes! {
    async fn dev_mode_features_are_refused_to_remote_requests(world: World) {
        let (agent, human) = with_a_page(&world).await;
        for (name, value) in FROM_ELSEWHERE {
            for call in offers_of_dev_mode(&agent, &human) {
                call.header(name, value).await.refused(403, "forbidden").naming("dev mode");
            }
            let refused = add_credits(&agent).header(name, value).await.expect(200);
            assert!(refused.text().contains("forbidden") && refused.text().contains("dev mode"), "{refused:?}");
        }
        let account = agent.account().await.expect(200);
        assert_eq!(account.number("credits_usd"), 0.0);
        world.human().login("victim", PASSWORD).await.refused(401, "invalid_credentials");
        for call in offers_of_dev_mode(&agent, &human) {
            let reply = call.await;
            assert!(reply.status < 300, "from this machine it works: {reply:?}");
        }
    }

    async fn remote_request_is_not_offered_dev_payment(world: World) {
        let (agent, _) = with_a_page(&world).await;
        for (name, value) in FROM_ELSEWHERE {
            for call in [agent.set_visibility("my-page", "private"), agent.buy_credit(5.0)] {
                let challenge = call.header(name, value).await.expect(402);
                assert!(!challenge.text().contains("dev:"), "{challenge:?}");
                assert_eq!(challenge.at("accepts.0"), json!({ "scheme": "dev", "status": "disabled" }));
            }
        }
        let challenge = agent.set_visibility("my-page", "private").await.expect(402);
        assert!(challenge.text().contains("X-PAYMENT: dev:0.5"), "{challenge:?}");
    }

    #[settings("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES" = "0")]
    async fn remote_tool_call_is_not_offered_dev_payment(world: World) {
        let agent = world.agent().await;
        let page = json!({ "slug": "my-page", "files": [{ "path": "index.html", "content": PAGE }] });
        let publish = || agent.call_tool("publish_artifact", &page);
        for (name, value) in FROM_ELSEWHERE {
            let refused = publish().header(name, value).await.expect(200).text();
            assert!(refused.contains("payment_required") && !refused.contains("add_credits"), "{refused}");
        }
        assert!(publish().await.expect(200).text().contains("add_credits"));
    }

    async fn unneeded_payment_is_ignored_from_local_and_remote_requests(world: World) {
        let (agent, _) = with_a_page(&world).await;
        for (name, value) in FROM_ELSEWHERE {
            agent.publish("my-page", PAGE).paying("dev:0.005").header(name, value).await.expect(201);
            agent.set_visibility("my-page", "public").paying("dev:0.5").header(name, value).await.expect(200);
        }
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 0.0);
    }

    async fn other_dev_mode_routes_ignore_forwarded_headers(world: World) {
        let (agent, human) = with_a_page(&world).await;
        for (name, value) in FROM_ELSEWHERE {
            world.stranger().post("/v1/signup").header(name, value).await.expect(201);
            agent.publish("my-page", PAGE).header(name, value).await.expect(201);
            agent.account().header(name, value).await.expect(200);
            world.stranger().get("/v1/artifacts").header(name, value).await.refused(401, "unauthorized");
            // Outside of dev mode these accept sessions, too.
            human.me().header(name, value).await.expect(200);
            human.invites().header(name, value).await.expect(200);
        }
    }

    #[settings("HANDBILL_ALLOW_PUBLIC_DEV" = "true")]
    async fn public_dev_mode_serves_remote_requests_but_admin_stays_local(world: World) {
        let (agent, human) = with_a_page(&world).await;
        let through = |call: Call| call.header("X-Forwarded-For", "203.0.113.10").header("Host", "api.example.com");
        through(world.human().get("/auth/dev?user=anybody")).await.expect(200);
        through(agent.buy_credit(100.0).paying(PAYMENT)).await.expect(200);
        through(human.get("/v1/artifacts")).await.expect(200);
        through(human.get("/admin/moderation")).await.refused(403, "forbidden");
        human.get("/admin/moderation").await.expect(200);
    }

    #[given(with_ops)]
    async fn dev_mode_is_reported_in_status_log_doctor_and_metrics(world: World) {
        assert_eq!(world.stranger().get("/v1/status").await.expect(200).at("dev_mode"), true);
        for process in [world.api(), world.edge(), world.worker()] {
            assert!(process.log().contains("DEV MODE"), "{}", process.log());
            let metrics = world.ask_ops(&process, "/metrics").await.expect(200).text();
            assert!(metrics.contains("\nhandbill_dev_mode 1\n"), "{metrics}");
        }
        let doctor = world.command(&["doctor"], &[]).await;
        assert!(doctor.output.contains("WARN  dev mode: DEV MODE is on"), "{doctor:?}");
    }

    #[given(with_ops)]
    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn dev_mode_is_reported_as_off_outside_dev_mode(world: World) {
        assert_eq!(world.stranger().get("/v1/status").await.expect(200).at("dev_mode"), false);
        assert!(!world.logs().contains("DEV MODE"), "{}", world.logs());
        let metrics = world.ask_ops(&world.api(), "/metrics").await.expect(200).text();
        assert!(metrics.contains("\nhandbill_dev_mode 0\n"), "{metrics}");
        let doctor = world.command(&["doctor"], &[]).await;
        assert!(doctor.output.contains("ok    dev mode: off"), "{doctor:?}");
    }

    #[settings(
        "HANDBILL_DEV_MODE" = "false",
        "HANDBILL_API__BASE_URL" = "https://handbill.example",
        "HANDBILL_EDGE__URL_STYLE" = "host"
    )]
    async fn planted_session_cookie_cannot_claim(world: World) {
        let session = async |username: &str| {
            let human = world.human().on_a_page_of("https://handbill.example");
            let registered = human.register(username, PASSWORD).await.expect(201);
            assert_eq!(cookies_of(&registered).len(), 2, "{registered:?}");
            let [plain, own] = ["svc_sess", "__Host-svc_sess"].map(|name| human.cookie(name).unwrap());
            assert_eq!(plain, own);
            own
        };
        let (victim, attacker) = (session("victim").await, session("attacker").await);
        let claim_url = world.agent().await.account().await.expect(200).string("claim_url");
        let stranger = world.stranger();
        let path = claim_url.trim_start_matches("https://handbill.example");
        let open = |cookies: String| stranger.get(path).header("Accept", "text/html").header("Cookie", cookies);

        let planted = format!("svc_sess={attacker}");
        let both = open(format!("{planted}; svc_sess={victim}; __Host-svc_sess={victim}")).await.expect(200).text();
        assert!(both.contains("victim") && !both.contains("attacker"), "{both}");
        // A victim who is not signed in, in a browser.
        let signed_out = open(planted.clone()).header("Sec-Fetch-Site", "cross-site").await.expect(200).text();
        assert!(!signed_out.contains("attacker"), "{signed_out}");
        // A program that uses only the cookie name of the specification.
        let me = |cookies: &str| stranger.get("/auth/me").header("Cookie", cookies);
        assert_eq!(me(&planted).await.expect(200).string("user.username"), "attacker");
        // With two cookies and no prefixed one, either may be planted.
        me(&format!("{planted}; svc_sess={victim}")).await.refused(401, "unauthorized");

        let all = format!("{planted}; __Host-svc_sess={victim}");
        let signed_out = stranger.post("/auth/logout").header("Cookie", all).await.expect(200);
        let cleared = cookies_of(&signed_out);
        assert!(cleared.len() == 2 && cleared.iter().all(|cookie| cookie.contains("Max-Age=0")), "{cleared:?}");
        for secret in [victim, attacker] {
            me(&format!("svc_sess={secret}")).await.refused(401, "unauthorized");
        }
    }
}

fn cookies_of(reply: &Reply) -> Vec<String> {
    let set = reply.headers.get_all("Set-Cookie").iter();
    set.map(|value| value.to_str().unwrap().to_owned()).collect()
}

async fn world() -> World {
    World::with(Mode::Embedded, program!()).prepare().await
}

/// Expects that the start ended at once, and names these settings.
#[track_caller]
fn assert_stopped(ended: &Finished, settings: &[&str]) {
    assert_eq!(ended.status.code(), Some(2), "{ended:?}");
    for setting in settings {
        assert!(ended.output.contains(setting), "{setting}: {ended:?}");
    }
}

#[tokio::test]
async fn dev_mode_does_not_start_behind_a_proxy() {
    let world = world().await;
    let public = [
        ("HANDBILL_API__BASE_URL", "https://api.example.com"),
        ("HANDBILL_API__TRUSTED_PROXIES", "127.0.0.1/32"),
        ("HANDBILL_EDGE__SERVE_URL", "https://pages.example.net"),
        ("HANDBILL_EDGE__DOMAIN", "pages.example.net"),
        ("HANDBILL_EDGE__URL_STYLE", "host"),
        ("HANDBILL_SECRETS__OPERATOR_PASSWORD", "a password of the operator's own"),
        ("HANDBILL_CARD__SECRET_KEY", "sk_live_x"),
    ];
    let named =
        ["api.base_url", "api.trusted_proxies", "edge.serve_url", "card.secret_key", "HANDBILL_DEV_MODE"];
    assert_stopped(&world.command(&["serve"], &public).await, &named);
    for (setting, key) in [(0, named[0]), (1, named[1]), (2, named[2]), (6, named[3])] {
        assert_stopped(
            &world.command(&["serve"], &public[setting..=setting]).await,
            &[key, "HANDBILL_DEV_MODE"],
        );
    }
}

#[tokio::test]
async fn pages_on_the_api_site_prevent_the_start_and_are_a_doctor_fault() {
    let world = world().await;
    let shared = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_API__BASE_URL", "https://handbill.test"),
        ("HANDBILL_EDGE__SERVE_URL", "https://handbill.test:8443"),
        ("HANDBILL_EDGE__DOMAIN", "pages.handbill.test"),
        ("HANDBILL_EDGE__URL_STYLE", "path"),
    ];
    let keys = ["edge.url_style", "edge.serve_url", "edge.domain", "edge.allow_same_site"];
    assert_stopped(&world.command(&["serve"], &shared).await, &keys);
    let doctor = world.command(&["doctor"], &shared).await;
    assert!(!doctor.status.success(), "{doctor:?}");
    for key in &keys[..3] {
        assert!(doctor.output.contains(&format!("FAULT site: {key}: ")), "{doctor:?}");
    }
    let wanted = [&shared[..], &[("HANDBILL_EDGE__ALLOW_SAME_SITE", "true")]].concat();
    let doctor = world.command(&["doctor"], &wanted).await;
    assert!(doctor.output.contains("WARN  site: edge.serve_url: "), "{doctor:?}");
    assert!(!doctor.output.contains("FAULT site"), "{doctor:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_on_the_api_site_are_allowed_by_setting() {
    let setup = World::with(Mode::Embedded, program!())
        .env("HANDBILL_DEV_MODE", "false")
        .env("HANDBILL_API__BASE_URL", "https://example.com")
        .env("HANDBILL_EDGE__SERVE_URL", "https://example.com/pages")
        .env("HANDBILL_EDGE__ALLOW_SAME_SITE", "true");
    let world = setup.start().await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
}

#[tokio::test]
async fn outside_dev_mode_guessable_secrets_prevent_the_start() {
    let world = world().await;
    let zeros = "0".repeat(64);
    for (name, value, key) in [
        ("HANDBILL_SECRETS__SIGNING", zeros.as_str(), "secrets.signing"),
        ("HANDBILL_SECRETS__LINKS", zeros.as_str(), "secrets.links"),
        ("HANDBILL_SECRETS__OPERATOR_PASSWORD", "password1234", "secrets.operator_password"),
    ] {
        let stopped = world.command(&["serve"], &[("HANDBILL_DEV_MODE", "false"), (name, value)]).await;
        assert_stopped(&stopped, &[key, "openssl rand -hex 32"]);
        assert!(!stopped.output.contains(value), "{stopped:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_files_are_private_even_in_an_existing_directory() {
    let world = world().await;
    let data_dir = world.folder().join("data");
    fs::DirBuilder::new().mode(0o755).create(&data_dir).unwrap();
    world.start_program().await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
    let mut unseen = vec![data_dir.clone()];
    let mut names = Vec::new();
    while let Some(folder) = unseen.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            // A temporary file may be gone by now.
            let Ok(found) = fs::metadata(&path) else { continue };
            assert_eq!(found.mode() & 0o077, 0, "{} has {:o}", path.display(), found.mode());
            names.push(path.file_name().unwrap().to_string_lossy().into_owned());
            if found.is_dir() {
                unseen.push(path);
            }
        }
    }
    for name in ["handbill.db", "handbill.db-wal", "queue.db", "blobs"] {
        assert!(names.iter().any(|found| found == name), "{name} is not in {names:?}");
    }
    assert!(world.api().log().contains("other users of this machine can read"), "{}", world.api().log());
    let doctor = world.command(&["doctor"], &[]).await;
    assert!(doctor.output.contains("WARN  data: other users of this machine can read"), "{doctor:?}");
    fs::set_permissions(&data_dir, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
    let doctor = world.command(&["doctor"], &[]).await;
    assert!(doctor.output.contains("ok    data: "), "{doctor:?}");
}
