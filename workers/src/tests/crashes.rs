//! Jobs of a worker that crashed are delivered again.

use std::time::{Duration, Instant};

use domain::Queue;
use service::JobEventKind;

use super::harness::{Pool, Starts, WorkerHarness, on_both, scan};
use crate::Attempt;

/// Heartbeats stop, the worker counts as lost after six seconds, and another checks within two; rounded up.
const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(12);

on_both! {
    async fn a_job_whose_process_died_is_taken_over_by_another_and_the_attempt_counts(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (before, after) = (Starts::default(), Starts::default());
        let dying = Pool::start(&harness.queues, before.then_hang());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        before.reach(1).await;
        dying.die().await;
        let died = Instant::now();

        let other = harness.another("two").await;
        let pool = Pool::start(&other, after.then_done());
        harness.status_becomes(job.id, "Done").await;
        assert!(died.elapsed() < TAKEN_OVER_WITHIN, "{:?}", died.elapsed());
        let attempts: Vec<_> = after.of(job.id).into_iter().map(|(attempt, _)| attempt).collect();
        assert_eq!(attempts, [Attempt { number: 2, max: Queue::Scan.attempts_max() }]);
        let timeline = harness.timeline(&job).await;
        let JobEventKind::Began { attempt: 1, worker } = &timeline[1] else { panic!("{timeline:?}") };
        assert!(worker.starts_with("one-"), "{worker}");
        let JobEventKind::Failed { attempt: 1, error, .. } = &timeline[2] else { panic!("{timeline:?}") };
        assert!(error.starts_with("its worker sent no heartbeats"), "{error}");
        let JobEventKind::Began { attempt: 2, worker } = &timeline[3] else { panic!("{timeline:?}") };
        assert!(worker.starts_with("two-"), "{worker}");
        assert_eq!(timeline[4..], [JobEventKind::Done { attempt: 2 }]);
        pool.stop().await;
    }

    async fn slow_job_of_a_running_process_is_not_taken_over(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let slow = starts.then(|_, _| Box::pin(async {
            tokio::time::sleep(Duration::from_secs(9)).await;
            Ok(())
        }));
        let other = harness.another("two").await;
        let pools = [Pool::start(&harness.queues, slow.clone()), Pool::start(&other, slow)];
        let jobs: Vec<_> = (0..12).map(|_| scan()).collect();
        for job in &jobs {
            queue.push(job.clone()).await.unwrap();
        }
        for job in &jobs {
            harness.status_becomes(job.id, "Done").await;
        }
        let counts = starts.counts();
        assert!(counts.len() == 12 && counts.values().all(|count| *count == 1), "{counts:?}");
        for pool in pools {
            pool.stop().await;
        }
    }

    async fn job_that_crashes_its_process_is_not_retried_forever(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        let max = Queue::Scan.attempts_max();
        // As after that many crashes: each takeover counts as one attempt.
        harness.sql(&format!("UPDATE {{jobs}} SET attempts = {max}")).await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        harness.status_becomes(job.id, "Killed").await;
        assert!(starts.all().is_empty());
        let dead = harness.dead().await;
        assert!(dead[0].last_error.as_deref().unwrap().contains("cut off"), "{dead:?}");
        pool.stop().await;
    }

    async fn no_two_workers_ever_share_a_name(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        for round in 1..=2 {
            let pool = Pool::start(&harness.queues, starts.then_done());
            queue.push(scan()).await.unwrap();
            starts.reach(round).await;
            super::harness::until("all have registered", || async { harness.worker_names().await.len() == Queue::ALL.len() * round }).await;
            pool.stop().await;
        }
        let names = harness.worker_names().await;
        for queue in Queue::ALL {
            let of_queue = names.iter().filter(|name| name.ends_with(&format!("-{}-0", queue.name()))).count();
            assert_eq!(of_queue, 2, "{names:?}");
        }
    }
}
