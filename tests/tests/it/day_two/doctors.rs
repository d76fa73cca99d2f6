//! What `handbill doctor` looks at, and what it says to do.

use handbill_tests::{Mode, World, eventually, in_both_modes, program};

use super::{failed, object_of, objects_of, succeeded};
use crate::expectations::PAGE;

in_both_modes! {
    async fn a_sound_installation_is_told_part_by_part(world: World) {
        let said = eventually(handbill_tests::PATIENCE, "a sound installation", async || {
            let examined = world.command(&["doctor"], &[]).await;
            examined.status.success().then_some(examined.output)
        })
        .await;
        let parts = ["database", "queue", "storage", "disk", "workers", "schedules", "redis", "clock", "secrets"];
        let addresses = ["api.base_url", "edge.serve_url", "edge.domain", "addresses"];
        for part in parts.into_iter().chain(addresses) {
            assert!(said.contains(&format!("ok    {part}: ")), "{part}: {said}");
        }
        assert!(said.contains("every queue is taken"), "{said}");
        assert_eq!(said.contains("messages arrive"), world.mode() == Mode::Production, "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_queue_that_nobody_takes_is_named() {
    let world = World::with(Mode::Production, program!()).start().await;
    // It hears a signal once it is at work.
    eventually(handbill_tests::PATIENCE, "a worker at work", async || {
        world.worker().log().contains("ready").then_some(())
    })
    .await;
    assert_eq!(world.worker().terminate().await.status.code(), Some(0));
    world.start_worker(&["--queues", "publish,scan,views"]).await;
    let said = eventually(handbill_tests::PATIENCE, "a worker that is heard of", async || {
        let said = failed(world.command(&["doctor"], &[]).await);
        said.contains("takes the queue upkeep, rescan").then_some(said)
    })
    .await;
    assert!(said.contains("FAULT workers") && said.contains("handbill worker"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_collector_that_is_not_there_is_a_fault_and_a_free_operator_address_is_none() {
    let world = World::with(Mode::Embedded, program!()).prepare().await;
    succeeded(world.command(&["migrate"], &[]).await);
    let nobody = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("http://{nobody}");
    let env = [("HANDBILL_TRACES__OTLP_URL", url.as_str()), ("HANDBILL_OPS__LISTEN", nobody.as_str())];
    let said = failed(world.command(&["doctor"], &env).await);
    assert!(said.contains("FAULT traces") && said.contains("traces.otlp_url"), "{said}");
    let away = [("HANDBILL_DATABASE__URL", "postgres://nobody@127.0.0.1:1/none")];
    let told = failed(world.command(&["doctor"], &away).await);
    assert!(told.contains("FAULT database") && told.contains("?     clock: not known"), "{told}");
    assert!(said.contains("ok    ops") && said.contains("ok    workers: no process runs"), "{said}");
}

/// What the doctor says while nothing is at fault, once it says this.
async fn said_without_fault(world: &World, env: &[(&str, &str)], awaited: &str) -> String {
    eventually(handbill_tests::PATIENCE, awaited, async || {
        let said = world.command(&["doctor"], env).await;
        (said.status.success() && said.output.contains(awaited)).then_some(said.output)
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_paused_queue_and_a_lost_process_are_warned_of_and_are_no_fault() {
    let world = World::with(Mode::Production, program!()).start().await;
    let second = world.start_worker(&[]).await;
    eventually(handbill_tests::PATIENCE, "a second worker at work", async || {
        second.log().contains("ready").then_some(())
    })
    .await;
    succeeded(world.command(&["admin", "pause", "rescan", "--as", "Bea"], &[]).await);
    said_without_fault(&world, &[], "WARN  queue: rescan was paused by Bea").await;
    second.kill();
    let said = said_without_fault(&world, &[], "WARN  workers: 1 process has gone silent").await;
    assert!(said.contains("ok    workers: 3 processes are alive"), "{said}");
    succeeded(world.command(&["admin", "resume", "rescan", "--as", "Bea"], &[]).await);
    let said = succeeded(world.command(&["doctor"], &[]).await);
    assert!(!said.contains("was paused"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schedules_that_have_not_fired_when_they_were_due_are_named() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    said_without_fault(&world, &[], "ok    schedules: ").await;
    // By a clock that is ahead nobody has fired anything for hours.
    let ahead = world.folder().join("clock-ahead");
    std::fs::write(&ahead, "7200000").unwrap();
    let ahead = ahead.display().to_string();
    let env = [("HANDBILL_TEST_CLOCK", ahead.as_str())];
    let said = failed(world.command(&["doctor"], &env).await);
    assert!(said.contains("WARN  schedules: ") && said.contains("cleanup has not fired since"), "{said}");
    assert!(said.contains("FAULT clock"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_somebody_else_answers_is_a_fault_and_one_that_nobody_answers_is_none() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (api, edge) = (world.base_url(), world.serve_url());
    let swapped = [("HANDBILL_API__BASE_URL", edge.as_str()), ("HANDBILL_EDGE__SERVE_URL", api.as_str())];
    let said = failed(world.command(&["doctor"], &swapped).await);
    assert!(said.contains("FAULT api.base_url: ") && said.contains("FAULT edge.serve_url: "), "{said}");
    let nobody = [
        ("HANDBILL_API__BASE_URL", "http://127.0.0.1:1"),
        ("HANDBILL_EDGE__SERVE_URL", "http://127.0.0.1:1"),
        ("HANDBILL_EDGE__DOMAIN", "pages.invalid"),
    ];
    let said = succeeded(world.command(&["doctor"], &nobody).await);
    for part in ["api.base_url", "edge.serve_url", "edge.domain"] {
        assert!(said.contains(&format!("WARN  {part}: ")), "{part}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_below_the_pages_domain_is_tried() {
    let setup = World::with(Mode::Embedded, program!()).env("HANDBILL_EDGE__DOMAIN", "pages.example");
    let world = setup.start().await;
    // Whoever asks a proxy need not know where a name leads; here the edge is its own.
    for (proxy, told) in
        [(world.serve_url(), "ok    edge.domain: "), (world.base_url(), "FAULT edge.domain: ")]
    {
        let env = [("http_proxy", proxy.as_str()), ("no_proxy", "127.0.0.1")];
        let said = world.command(&["doctor"], &env).await.output;
        assert!(said.contains(told) && said.contains(".pages.example"), "{said}");
        assert!(said.contains("ok    api.base_url: ") && said.contains("ok    edge.serve_url: "), "{said}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_storage_of_an_edge_is_only_read() {
    let world = World::with(Mode::Production, program!()).start().await;
    let edge_alone = [
        ("HANDBILL_DEV_MODE", "false"),
        ("HANDBILL_SECRETS__SIGNING", ""),
        ("HANDBILL_SECRETS__LINKS", "the-secret-of-the-links-and-no-other"),
    ];
    said_without_fault(&world, &edge_alone, "ok    storage: nothing is published yet").await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
    let said = said_without_fault(&world, &edge_alone, "ok    storage: a content can be read").await;
    assert!(said.contains("ok    disk: nothing is kept on this machine"), "{said}");
    std::fs::remove_file(object_of(&objects_of(&world), PAGE)).unwrap();
    let said = failed(world.command(&["doctor"], &edge_alone).await);
    assert!(said.contains("FAULT storage: "), "{said}");
}
