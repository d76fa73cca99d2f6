//! The checks of `handbill doctor`, and its advice.

use handbill_tests::{Mode, World, eventually, in_both_modes, program};

use super::{failed, object_of, objects_of, succeeded};
use crate::expectations::PAGE;

in_both_modes! {
    async fn doctor_reports_each_component_of_a_sound_installation(world: World) {
        let output = eventually(handbill_tests::PATIENCE, "a sound installation", async || {
            let examined = world.command(&["doctor"], &[]).await;
            examined.status.success().then_some(examined.output)
        })
        .await;
        let parts = ["database", "queue", "storage", "disk", "workers", "schedules", "redis", "clock", "secrets"];
        let addresses = ["api.base_url", "edge.serve_url", "edge.domain", "addresses"];
        for part in parts.into_iter().chain(addresses) {
            assert!(output.contains(&format!("ok    {part}: ")), "{part}: {output}");
        }
        assert!(output.contains("every queue has a worker"), "{output}");
        assert_eq!(output.contains("messages arrive"), world.mode() == Mode::Production, "{output}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_names_a_queue_without_workers() {
    let world = World::with(Mode::Production, program!()).start().await;
    // The worker handles signals once it is running.
    eventually(handbill_tests::PATIENCE, "a running worker", async || {
        world.worker().log().contains("ready").then_some(())
    })
    .await;
    assert_eq!(world.worker().terminate().await.status.code(), Some(0));
    world.start_worker(&["--queues", "publish,scan,views"]).await;
    let output = eventually(handbill_tests::PATIENCE, "a worker's heartbeat", async || {
        let output = failed(world.command(&["doctor"], &[]).await);
        output.contains("no worker takes jobs from upkeep, rescan").then_some(output)
    })
    .await;
    assert!(output.contains("FAULT workers") && output.contains("handbill worker"), "{output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unreachable_collector_is_a_fault_and_an_unused_ops_address_is_not() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    succeeded(world.command(&["migrate"], &[]).await);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{nobody}");
    let env = [("HANDBILL_TRACES__OTLP_URL", url.as_str()), ("HANDBILL_OPS__LISTEN", nobody.as_str())];
    let output = failed(world.command(&["doctor"], &env).await);
    assert!(output.contains("FAULT traces") && output.contains("traces.otlp_url"), "{output}");
    let away = [("HANDBILL_DATABASE__URL", "postgres://nobody@127.0.0.1:1/none")];
    let reported = failed(world.command(&["doctor"], &away).await);
    assert!(reported.contains("FAULT database"), "{reported}");
    for part in ["clock", "workers", "schedules"] {
        assert!(reported.contains(&format!("?     {part}: unknown")), "{part}: {reported}");
    }
    assert!(
        output.contains("ok    ops") && output.contains("ok    workers: no process is running"),
        "{output}"
    );
}

/// The doctor's output without faults, once it contains this.
async fn output_without_fault(world: &World, env: &[(&str, &str)], awaited: &str) -> String {
    eventually(handbill_tests::PATIENCE, awaited, async || {
        let output = world.command(&["doctor"], env).await;
        (output.status.success() && output.output.contains(awaited)).then_some(output.output)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paused_queue_and_lost_process_give_warnings_and_no_faults() {
    let world = World::with(Mode::Production, program!()).start().await;
    let second = world.start_worker(&[]).await;
    eventually(handbill_tests::PATIENCE, "a second running worker", async || {
        second.log().contains("ready").then_some(())
    })
    .await;
    succeeded(world.command(&["admin", "pause", "rescan", "--as", "Bea"], &[]).await);
    output_without_fault(&world, &[], "WARN  queue: rescan was paused by Bea").await;
    second.kill();
    let output = output_without_fault(&world, &[], "WARN  workers: 1 process has disappeared").await;
    assert!(output.contains("ok    workers: 3 processes are running"), "{output}");
    for reported in ["Resumed rescan.", "Nothing to do: rescan was not paused."] {
        let output = succeeded(world.command(&["admin", "resume", "rescan", "--as", "Bea"], &[]).await);
        assert!(output.contains(reported), "{output}");
    }
    let output = succeeded(world.command(&["doctor"], &[]).await);
    assert!(!output.contains("was paused"), "{output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_names_overdue_schedules() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    output_without_fault(&world, &[], "ok    schedules: ").await;
    // By a clock that is ahead, no schedule has fired for hours.
    let ahead = world.folder().join("clock-ahead");
    std::fs::write(&ahead, "7200000").unwrap();
    let ahead = ahead.display().to_string();
    let env = [("HANDBILL_TEST_CLOCK", ahead.as_str())];
    let output = failed(world.command(&["doctor"], &env).await);
    assert!(
        output.contains("WARN  schedules: ") && output.contains("cleanup has not fired since"),
        "{output}"
    );
    assert!(output.contains("FAULT clock"), "{output}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn address_served_by_another_server_is_a_fault_and_an_unreachable_one_is_not() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (api, edge) = (world.base_url(), world.serve_url());
    let swapped = [("HANDBILL_API__BASE_URL", edge.as_str()), ("HANDBILL_EDGE__SERVE_URL", api.as_str())];
    let output = failed(world.command(&["doctor"], &swapped).await);
    assert!(output.contains("FAULT api.base_url: ") && output.contains("FAULT edge.serve_url: "), "{output}");
    let nobody = [
        ("HANDBILL_API__BASE_URL", "http://127.0.0.1:1"),
        ("HANDBILL_EDGE__SERVE_URL", "http://127.0.0.1:1"),
        ("HANDBILL_EDGE__DOMAIN", "pages.invalid"),
    ];
    let output = succeeded(world.command(&["doctor"], &nobody).await);
    for part in ["api.base_url", "edge.serve_url", "edge.domain"] {
        assert!(output.contains(&format!("WARN  {part}: ")), "{part}: {output}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_requests_a_subdomain_of_the_pages_domain() {
    let setup = World::with(Mode::Embedded, program!()).env("HANDBILL_EDGE__DOMAIN", "pages.example");
    let world = setup.start().await;
    // Behind a proxy a name need not resolve to the edge. Here the edge is its own proxy.
    for (proxy, reported) in
        [(world.serve_url(), "ok    edge.domain: "), (world.base_url(), "FAULT edge.domain: ")]
    {
        let env = [("http_proxy", proxy.as_str()), ("no_proxy", "127.0.0.1")];
        let output = world.command(&["doctor"], &env).await.output;
        assert!(output.contains(reported) && output.contains(".pages.example"), "{output}");
        assert!(
            output.contains("ok    api.base_url: ") && output.contains("ok    edge.serve_url: "),
            "{output}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn doctor_on_an_edge_only_reads_the_storage() {
    let world = World::with(Mode::Production, program!()).start().await;
    let edge_alone = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", ""),
        ("HANDBILL_SECRETS__LINKS", "the-secret-of-the-links-and-no-other"),
    ];
    output_without_fault(&world, &edge_alone, "ok    storage: nothing is published yet").await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
    let output = output_without_fault(&world, &edge_alone, "ok    storage: reading works").await;
    assert!(output.contains("ok    disk: no data is stored on this machine"), "{output}");
    std::fs::remove_file(object_of(&objects_of(&world), PAGE)).unwrap();
    let output = failed(world.command(&["doctor"], &edge_alone).await);
    assert!(output.contains("FAULT storage: "), "{output}");
}
