//! Liveness and readiness probes: an unavailable component is reported to the operator, and a stopping
//! process says so while it finishes its work.

use std::time::Duration;

use handbill_tests::{
    Method, Mode, PATIENCE, Process, Value, World, eventually, in_both_modes, json, program,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// The probe of a silent component takes two seconds, more on a busy machine.
const PROBED_WITHIN: Duration = Duration::from_secs(4);

in_both_modes! {
    #[given(with_ops)]
    async fn process_with_all_dependencies_is_alive_and_ready(world: World) {
        let named = |names: &[&str]| {
            names.iter().map(|name| json!({ "name": name, "is_ready": true })).collect::<Vec<Value>>()
        };
        let (all, of_pages): (Vec<Value>, Vec<Value>) = match world.mode() {
            Mode::Embedded => {
                let parts = named(&["database", "queue", "disk", "storage"]);
                (parts.clone(), parts)
            }
            Mode::Production => {
                (named(&["database", "queue", "redis", "storage"]), named(&["database", "queue", "redis"]))
            }
        };
        for (process, parts) in [(world.api(), &all), (world.edge(), &of_pages), (world.worker(), &all)] {
            let alive = world.ask_ops(&process, "/healthz").await.expect(200);
            assert_eq!(alive.json(), json!({ "status": "ok" }));
            let ready = world.ask_ops(&process, "/readyz").await.expect(200);
            assert_eq!(ready.json(), json!({ "status": "ready", "parts": parts }), "{}", process.name());
            assert_eq!(ready.header("Cache-Control"), "no-store");
        }
    }

    async fn public_probes_return_only_the_overall_status(world: World) {
        let (stranger, visitor) = (world.stranger(), world.visitor());
        let probes = [("/healthz", json!({ "status": "ok" })), ("/readyz", json!({ "status": "ready" }))];
        for (path, response) in probes {
            for reply in [stranger.get(path).await, visitor.open(path).await] {
                let reply = reply.expect(200);
                assert_eq!(reply.json(), response, "{reply:?}");
                assert_eq!(reply.header("Cache-Control"), "no-store");
                assert_eq!(reply.header("X-Content-Type-Options"), "nosniff");
            }
            for head in [stranger.call(Method::HEAD, path), visitor.call(Method::HEAD, path)] {
                assert_eq!(head.await.expect(200).text(), "");
            }
            stranger.post(path).await.refused(404, "not_found");
            visitor.open_by_name("nobody-here-a1b2.localhost", path).await.expect(404);
        }
        assert!(!world.api().log().contains("/readyz"), "probes would fill the log");
    }

    async fn site_files_named_like_probes_are_served_at_its_host_name(world: World) {
        let (agent, visitor) = (world.agent().await, world.visitor());
        let own: [(&str, &[u8]); 3] = [("index.html", b"<h1>home</h1>"), ("healthz", b"mine"), ("metrics", b"mine")];
        let published = agent.publish_files("my-page", &own).await.expect(201);
        let name = format!("{}.localhost", published.string("host"));
        for path in ["healthz", "metrics"] {
            let by_name = visitor.open_by_name(&name, &format!("/{path}"));
            for reply in [by_name.await, visitor.open_site(&published, path).await] {
                assert_eq!(reply.expect(200).text(), "mine");
            }
        }
        visitor.open_by_name(&name, "/readyz").await.expect(404);
    }

    #[given(with_ops)]
    async fn stopping_process_reports_its_shutdown_until_it_ends(world: World) {
        let api = world.api();
        let mut asking = TcpStream::connect(api.url().trim_start_matches("http://")).await.unwrap();
        let body = json!({ "code": "abcdef" }).to_string();
        let head = format!(
            "POST /v1/account/join HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
             Connection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        asking.write_all(head.as_bytes()).await.unwrap();
        asking.write_all(&body.as_bytes()[..1]).await.unwrap();
        world.ask_ops(&api, "/readyz").await.expect(200);
        api.signal("TERM");
        eventually(PATIENCE, "it says that it stops", async || {
            let reply = world.ask_ops(&api, "/readyz").await;
            (reply.status == 503).then(|| assert_eq!(reply.json(), json!({ "status": "stopping" })))
        })
        .await;
        world.ask_ops(&api, "/healthz").await.expect(200);
        asking.write_all(&body.as_bytes()[1..]).await.unwrap();
        let mut answer = String::new();
        asking.read_to_string(&mut answer).await.unwrap();
        assert!(answer.starts_with("HTTP/1.1 404"), "what was begun is answered: {answer}");
        assert!(api.exit_within(PATIENCE).await.success());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_dependency_is_named_until_it_is_back() {
    let setup = World::with(Mode::Production, program!()).with_own_postgres().with_own_redis().with_ops();
    let world = setup.start().await;
    let (api, edge, worker) = (world.api(), world.edge(), world.worker());

    world.redis().stop();
    for process in [&api, &edge, &worker] {
        lacks(&world, process, "degraded", &["redis"]).await;
    }
    for response in [world.stranger().get("/readyz").await, world.visitor().open("/readyz").await] {
        assert_eq!(response.expect(200).json(), json!({ "status": "ready" }));
    }
    assert!(api.log().contains("degraded: a dependency does not respond"));
    assert!(!api.log().contains("not ready"), "without Redis it goes on");
    world.redis().start().await;

    world.s3().stop().await;
    lacks(&world, &api, "degraded", &["storage"]).await;
    lacks(&world, &worker, "not ready", &["storage"]).await;
    lacks(&world, &edge, "ready", &[]).await;
    world.s3().start().await;

    world.postgres().stop();
    for process in [&api, &worker] {
        lacks(&world, process, "not ready", &["database", "queue"]).await;
    }
    lacks(&world, &edge, "degraded", &["database", "queue"]).await;
    let response = world.stranger().get("/readyz").await.expect(503);
    assert_eq!(response.json(), json!({ "status": "not ready" }));
    world.visitor().open("/readyz").await.expect(200);
    world.postgres().start().await;
    for process in [&api, &edge, &worker] {
        lacks(&world, process, "ready", &[]).await;
        assert!(process.is_running());
    }
    for process in [&api, &worker] {
        assert!(process.log().contains("not ready: a required dependency does not respond"));
        assert!(process.log().contains("ready again: every dependency responds"));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn occupied_ops_address_is_reported_in_one_line_before_the_start() {
    let world = World::with(Mode::Embedded, program!()).with_ops().start().await;
    let taken = world.api().ops_url().trim_start_matches("http://").to_owned();
    let second = World::with(Mode::Embedded, program!()).prepare().await;
    // Limits that are small enough for any machine, so that the address is the only warning.
    let settings = [
        ("HANDBILL_OPS__LISTEN", taken.as_str()),
        ("HANDBILL_API__CONNECTIONS_MAX", "100"),
        ("HANDBILL_EDGE__CONNECTIONS_MAX", "100"),
    ];
    let refused = second.command(&["serve"], &settings).await;
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let response = format!(
        "handbill: cannot listen on {taken} (setting ops.listen): Address already in use (os error 98)\n"
    );
    assert_eq!(refused.output, response);
}

/// Waits until exactly these components of a process fail, with this status. It stays alive all the while.
async fn lacks(world: &World, process: &Process, status: &str, parts: &[&str]) {
    let what = format!("{} lacks {parts:?}", process.name());
    eventually(PATIENCE * 2, &what, async || {
        world.ask_ops(process, "/healthz").await.expect(200);
        let started = std::time::Instant::now();
        let response = world.ask_ops(process, "/readyz").await;
        assert!(started.elapsed() < PROBED_WITHIN, "{:?}", started.elapsed());
        let body = response.json();
        assert_eq!(response.status, if body["status"] == "not ready" { 503 } else { 200 }, "{response:?}");
        (missing(&body) == parts).then(|| assert_eq!(body["status"], status, "{response:?}"))
    })
    .await;
}

fn missing(response: &Value) -> Vec<&str> {
    let parts = response["parts"].as_array().expect("a list of parts").iter();
    let missing = parts.filter(|part| part["is_ready"] == false);
    missing.map(|part| part["name"].as_str().expect("a name")).collect()
}
