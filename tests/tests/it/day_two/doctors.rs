//! What `handbill doctor` looks at, and what it says to do.

use handbill_tests::{Mode, World, eventually, in_both_modes, program};

use super::{failed, succeeded};

in_both_modes! {
    async fn a_sound_installation_is_told_part_by_part(world: World) {
        let said = eventually(handbill_tests::PATIENCE, "a sound installation", async || {
            let examined = world.command(&["doctor"], &[]).await;
            examined.status.success().then_some(examined.output)
        })
        .await;
        for part in ["database", "queue", "storage", "disk", "workers", "redis", "clock", "secrets", "addresses"] {
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
