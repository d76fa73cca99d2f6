//! Processes that share data must receive each other's notices: one process owns the files of an embedded
//! installation, and all processes with the same PostgreSQL use the same Redis.

use handbill_tests::{Finished, Mode, PATIENCE, Port, World, eventually, program};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};

use crate::expectations::{PAGE, front_page};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_process_over_the_same_data_directory_is_refused_until_the_first_one_ends() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
    let (api, edge) = (Port::take(), Port::take());
    let (api, edge) = (api.address(), edge.address());
    let elsewhere = [("HANDBILL_API__LISTEN", api.as_str()), ("HANDBILL_EDGE__LISTEN", edge.as_str())];
    let refused = world.command(&["serve"], &elsewhere).await;
    assert_refused(&refused, "another process is using");
    assert!(refused.output.contains("handbill.db"), "{refused:?}");
    for beside in [&["config"][..], &["scrub"], &["ledger", "check"], &["admin", "queues"], &["migrate"]] {
        let finished = world.command(beside, &[]).await;
        assert!(finished.status.success(), "{beside:?}: {finished:?}");
    }
    // A crash leaves no lock behind.
    world.api().restart().await;
    world.agent().await.publish("my-page", PAGE).await.expect(201);
    world.api().terminate().await;
    world.api().restart().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_on_another_bus_is_refused_while_others_are_running() {
    let world = World::with(Mode::Production, program!()).start().await;
    // The worker may still be starting, and would find the refused process.
    eventually(PATIENCE, "all processes are running", async || (present(&world).await == 3).then_some(()))
        .await;
    let url = world.setting("HANDBILL_REDIS__URL");
    let (server, number) = url.rsplit_once('/').unwrap();
    // Another database of the same server is another bus.
    let another = format!("{server}/{}", (number.parse::<u32>().unwrap() + 1) % 4096);
    let refused = world.command(&["worker"], &[("HANDBILL_REDIS__URL", &another)]).await;
    assert_refused(&refused, "works on the same database over another Redis");
    let (api, edge) = (Port::take(), Port::take());
    let (api, edge) = (api.address(), edge.address());
    let without = [
        ("HANDBILL_REDIS__URL", ""),
        ("HANDBILL_API__LISTEN", api.as_str()),
        ("HANDBILL_EDGE__LISTEN", edge.as_str()),
    ];
    assert_refused(&world.command(&["serve"], &without).await, "give all processes the same redis.url");
    assert_eq!(present(&world).await, 3, "a refused process ends");

    // A start waits for processes that were killed, and not for those that signed off.
    for process in [world.api(), world.edge()] {
        process.kill();
    }
    world.worker().terminate().await;
    world.worker().restart_with(&[("HANDBILL_REDIS__URL", &another)]).await;
    eventually(PATIENCE, "the worker is ready again", async || {
        (world.worker().log().matches("ready role.api").count() == 2).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn new_processes_start_beside_old_ones_after_redis_lost_its_data() {
    let world = World::with(Mode::Production, program!()).with_own_redis().start().await;
    let client = redis::Client::open(world.setting("HANDBILL_REDIS__URL")).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for _ in 0..3 {
        let () = redis::cmd("FLUSHALL").query_async(&mut connection).await.unwrap();
        let worker = world.start_worker(&[]).await;
        world.start_edge().await;
        eventually(PATIENCE, "the worker is ready", async || {
            worker.log().contains("ready role.api").then_some(())
        })
        .await;
    }
    world.redis().stop();
    world.redis().start().await;
    let late = world.start_edge().await;
    let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
    front_page(&world.visitor().at(&late), &published).await.expect(200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn older_release_without_a_bus_identity_may_run_beside() {
    let world = World::with(Mode::Production, program!()).prepare().await;
    let mut database = PgConnection::connect(world.setting("HANDBILL_DATABASE__URL")).await.unwrap();
    // A row of the release before, with a heartbeat in the future so that it counts for the whole test.
    let row = "INSERT INTO handbill_processes
            (instance, role, host, process_id, version, takes, rates, started_at_ms, seen_at_ms)
        VALUES ('older', 'api', 'a-host', 1, '0.0.9', '{}', '[]', 0,
            (extract(epoch FROM now()) * 1000)::bigint + 600000)";
    database.execute(sqlx::raw_sql(AssertSqlSafe(row))).await.unwrap();
    world.start_program().await;
    let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
    front_page(&world.visitor(), &published).await.expect(200);
}

fn assert_refused(finished: &Finished, reason: &str) {
    assert!(!finished.status.success() && finished.output.contains(reason), "{finished:?}");
}

async fn present(world: &World) -> i64 {
    let mut database = PgConnection::connect(world.setting("HANDBILL_DATABASE__URL")).await.unwrap();
    let count = sqlx::query_scalar("SELECT count(*) FROM handbill_processes WHERE bus IS NOT NULL");
    count.fetch_one(&mut database).await.unwrap()
}
