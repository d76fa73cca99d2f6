//! Spec 6.2: a schedule fires once for each fire time, however many processes run.

use std::time::Duration;

use handbill_tests::{Mode, PATIENCE, World, eventually, in_both_modes};

const HOUR: Duration = Duration::from_secs(3600);

/// The time until the clock reaches this minute of an hour.
fn until_minute(minute: u64) -> Duration {
    let now = handbill_tests::system_time().as_secs() % 3600;
    Duration::from_secs((minute * 60 + 3600 - now) % 3600)
}

/// The hourly cleanup fired this many times, and each firing ran once.
async fn assert_fired(world: &World, slots: usize) {
    eventually(PATIENCE, "the cleanup", async || {
        let jobs = world.jobs("cleanup").await;
        (jobs.len() == slots && jobs.iter().all(|job| job.status == "Done")).then_some(())
    })
    .await;
    // Enough time for a second firing.
    tokio::time::sleep(Duration::from_secs(3)).await;
    let jobs = world.jobs("cleanup").await;
    assert_eq!(jobs.len(), slots, "{jobs:?}");
    assert!(jobs.iter().all(|job| job.attempts == 1), "{jobs:?}");
}

in_both_modes! {
    async fn schedule_fires_once_and_catches_up_after_downtime(world: World) {
        if world.mode() == Mode::Production {
            world.start_worker(&[]).await;
            world.start_worker(&["--queues", "upkeep"]).await;
        }
        // Far from :07, when the cleanup fires, so that the hour does not change in the middle of the test.
        world.advance(until_minute(20));
        eventually(PATIENCE, "the first firing", async || (!world.jobs("cleanup").await.is_empty()).then_some(())).await;
        tokio::time::sleep(Duration::from_secs(3)).await;
        let first = world.jobs("cleanup").await.len();
        assert_fired(&world, first).await;
        world.advance(HOUR);
        assert_fired(&world, first + 1).await;
        let worker = world.worker();
        if world.mode() == Mode::Embedded {
            assert!(worker.terminate().await.status.success());
            world.advance(5 * HOUR);
            worker.restart().await;
            // Only the last fire time, because every scheduled job does all due work.
            assert_fired(&world, first + 2).await;
        }
    }
}
