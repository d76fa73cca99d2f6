//! Spec 6.2: a schedule fires once for each fire time in the whole deployment, even when processes are
//! killed, and catches up after a complete outage.

use std::collections::BTreeSet;
use std::time::Duration;

use domain::JobId;
use futures::future::join_all;
use handbill_tests::{JobRow, Mode, PATIENCE, Process, World, eventually, program};

const HOUR_S: u64 = 3_600;
const HOUR: Duration = Duration::from_secs(HOUR_S);
/// The hourly jobs and their minutes.
const HOURLY: [(&str, u64); 4] = [("meter", 5), ("cleanup", 7), ("sweep_blobs", 23), ("sweep_records", 41)];
/// After the last job of an hour and long before the first of the next, so that the hour does not change
/// during the test.
const QUIET_MINUTE: u64 = 45;
const SWEEPS_EVERY: Duration = Duration::from_secs(15);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn schedule_fires_once_across_processes_and_catches_up_after_a_stop() {
    let world = World::with(Mode::Production, program!()).start().await;
    let mut workers = vec![world.worker()];
    for args in [&[][..], &[][..], &["--queues", "upkeep"][..]] {
        workers.push(world.start_worker(args).await);
    }
    world.advance(until_the_quiet_minute(&world));
    let first = hour_of(&world);
    fired(&world, first).await;

    for hour in 1..=4 {
        if hour == 3 {
            workers[1].kill();
        }
        world.advance(HOUR);
        fired(&world, first + hour).await;
    }
    for worker in workers.iter().filter(|worker| worker.is_running()) {
        assert!(worker.terminate().await.status.success(), "{}", worker.log());
    }
    world.advance(3 * HOUR);
    join_all(workers.iter().map(Process::restart)).await;
    fired(&world, first + 7).await;
    // A second firing would have happened by the end of the next sweep.
    world.advance(SWEEPS_EVERY);
    swept(&world).await;

    // Every job does all due work, so that after an outage only the last fire time runs.
    for (kind, minute) in HOURLY {
        let expected: Vec<_> = [1, 2, 3, 4, 7].map(|hour| slot_ms(first + hour, minute)).to_vec();
        let jobs: Vec<_> = world.jobs(kind).await;
        let since: Vec<_> = jobs.iter().filter(|job| slot_of(job) > slot_ms(first, minute)).collect();
        assert_eq!(since.iter().map(|job| slot_of(job)).collect::<Vec<_>>(), expected, "{kind}: {jobs:?}");
        assert!(since.iter().all(|job| job.attempts == 1 && job.status == "Done"), "{kind}: {since:?}");
    }
    let sweeps = world.jobs("sweep_scans").await;
    let slots: BTreeSet<_> = sweeps.iter().map(slot_of).collect();
    assert_eq!(slots.len(), sweeps.len(), "a slot fired twice: {sweeps:?}");
}

fn until_the_quiet_minute(world: &World) -> Duration {
    let past_s = world.now_seconds().unsigned_abs() % HOUR_S;
    Duration::from_secs((QUIET_MINUTE * 60 + HOUR_S - past_s) % HOUR_S)
}

/// Hours since 1970.
fn hour_of(world: &World) -> u64 {
    world.now_seconds().unsigned_abs() / HOUR_S
}

fn slot_ms(hour: u64, minute: u64) -> u64 {
    (hour * HOUR_S + minute * 60) * 1_000
}

/// The id of a scheduled job contains its fire time.
fn slot_of(job: &JobRow) -> u64 {
    job.id.parse::<JobId>().expect("a job's id").ulid().timestamp_ms()
}

/// Waits until everything that was due in this hour is done.
async fn fired(world: &World, hour: u64) {
    for (kind, minute) in HOURLY {
        eventually(PATIENCE, &format!("the {kind} of hour {hour}"), async || {
            let jobs = world.jobs(kind).await;
            let is_done = |job: &JobRow| slot_of(job) == slot_ms(hour, minute) && job.status == "Done";
            jobs.iter().any(is_done).then_some(())
        })
        .await;
    }
}

/// Waits for the sweep of this moment.
async fn swept(world: &World) {
    let every_s = SWEEPS_EVERY.as_secs();
    let slot_ms = world.now_seconds().unsigned_abs() / every_s * every_s * 1_000;
    eventually(PATIENCE, "a sweep", async || {
        let sweeps = world.jobs("sweep_scans").await;
        sweeps.iter().any(|sweep| slot_of(sweep) >= slot_ms && sweep.status == "Done").then_some(())
    })
    .await;
}
