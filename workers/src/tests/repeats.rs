//! Jobs that are delivered more than once.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use domain::{Job, JobEnvelope, Queue, RescanJob};
use futures::FutureExt;
use service::PushResult;

use super::harness::{JobRow, Pool, Starts, WorkerHarness, new_id, on_both, scan};
use crate::{LeftToAnother, PoolSettings};

/// A job of the queue for rescans.
fn rescan() -> JobEnvelope {
    match scan() {
        JobEnvelope { job: Job::Scan(scan), .. } => JobEnvelope {
            id: new_id(),
            reply_to: None,
            trace: None,
            job: Job::Rescan(RescanJob { scan, rules: 2 }),
        },
        other => other,
    }
}

on_both! {
    async fn push_again_restarts_ended_jobs_and_leaves_waiting_or_running_ones(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let job = scan();
        assert_eq!(queue.push_again(job.clone()).await.unwrap(), PushResult::Queued);
        for (status, after, attempts, came_of) in [
            ("Pending", "Pending", 3, PushResult::AlreadyQueued),
            ("Done", "Pending", 0, PushResult::Queued),
            ("Killed", "Pending", 0, PushResult::Queued),
            ("Failed", "Failed", 3, PushResult::AlreadyQueued),
            ("Queued", "Queued", 3, PushResult::AlreadyQueued),
            ("Running", "Running", 3, PushResult::AlreadyQueued),
        ] {
            harness.sql(&format!("UPDATE {{jobs}} SET status = '{status}', attempts = 3")).await;
            assert_eq!(queue.push_again(job.clone()).await.unwrap(), came_of, "{status}");
            let expected = JobRow { id: job.id.to_string(), status: after.to_owned(), attempts };
            assert_eq!(harness.rows().await, [expected], "{status}");
        }
    }

    async fn job_runs_once_per_push_again(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        let job = rescan();
        for round in 1..=3 {
            queue.push_again(job.clone()).await.unwrap();
            starts.reach(round).await;
            harness.status_becomes(job.id, "Done").await;
            assert!(starts.of(job.id).iter().all(|start| start.0.number == 1));
        }
        assert_eq!(harness.rows().await.len(), 1);
        pool.stop().await;
    }

    async fn restarted_job_has_the_payload_of_the_last_push(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let requested = Arc::new(Mutex::new(Vec::new()));
        let (received, starts) = (requested.clone(), Starts::default());
        let pool = Pool::start(&harness.queues, starts.then(move |envelope, _| {
            let Job::Rescan(job) = envelope.job else { panic!("not a rescan") };
            received.lock().unwrap().push(job.rules);
            async { Ok(()) }.boxed()
        }));
        let first = rescan();
        let Job::Rescan(job) = first.job else { panic!("not a rescan") };
        for rules in [2, 3] {
            let job = Job::Rescan(RescanJob { rules, ..job });
            queue.push_again(JobEnvelope { job, ..first.clone() }).await.unwrap();
            starts.reach(rules as usize - 1).await;
            harness.status_becomes(first.id, "Done").await;
        }
        assert_eq!(*requested.lock().unwrap(), [2, 3]);
        pool.stop().await;
    }

    async fn job_left_to_another_process_is_requeued_without_costing_an_attempt(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let older = Pool::start(&harness.queues, starts.then(|_, _| async { Err(LeftToAnother { retry_after: Duration::from_secs(30) }.into()) }.boxed()));
        let job = rescan();
        queue.push(job.clone()).await.unwrap();
        // A process waits for it, so it is due at once.
        let awaited = JobEnvelope { reply_to: Some("api-1".into()), ..job.clone() };
        let expedite = async || queue.push(awaited.clone()).await.unwrap();
        for round in 1..=5 {
            starts.reach(round).await;
            harness.status_becomes(job.id, "Pending").await;
            // By now a late acknowledgement would have arrived, and a worker that polls too early would have
            // fetched the job.
            tokio::time::sleep(Duration::from_millis(700)).await;
            assert_eq!(harness.rows().await, [JobRow { id: job.id.to_string(), status: "Pending".into(), attempts: 0 }]);
            assert_eq!(starts.all().len(), round);
            if round < 5 {
                expedite().await;
            }
        }
        older.stop().await;
        expedite().await;
        let newer = Pool::start(&harness.queues, Starts::default().then_done());
        harness.status_becomes(job.id, "Done").await;
        newer.stop().await;
    }

    async fn each_queue_has_its_own_concurrency_limit(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let mut settings = PoolSettings::new([(Queue::Scan, 3), (Queue::Rescan, 1)]);
        settings.stop_timeout = Duration::from_millis(50);
        let starts = Starts::default();
        let pool = Pool::with(&harness.queues, settings, starts.then_hang());
        let rescans = [rescan(), rescan(), rescan()].map(|job| (job.id, job));
        for (_, job) in &rescans {
            queue.push(job.clone()).await.unwrap();
        }
        starts.reach(1).await;
        for _ in 0..5 {
            queue.push(scan()).await.unwrap();
        }
        starts.reach(4).await;
        // More than a tick, in which a worker with a free slot would have polled.
        tokio::time::sleep(Duration::from_millis(700)).await;
        let of_rescans = rescans.iter().filter(|(id, _)| !starts.of(*id).is_empty()).count();
        assert_eq!((starts.all().len(), of_rescans), (4, 1));
        pool.stop().await;
    }
}

#[tokio::test]
async fn a_pool_that_would_do_nothing_is_refused() {
    let harness = WorkerHarness::sqlite().await;
    harness.queues.migrate().await.unwrap();
    for settings in [PoolSettings::new([]), PoolSettings::new([(Queue::Scan, 1), (Queue::Rescan, 0)])] {
        let handler = Starts::default().then_done();
        let refused = harness.queues.run_pool(settings, handler, Default::default()).await.unwrap_err();
        assert!(refused.to_string().starts_with("a pool works on at least one"), "{refused:#}");
    }
}
