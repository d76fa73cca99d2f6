//! Graceful stops.

use std::sync::Arc;
use std::time::{Duration, Instant};

use domain::Queue;
use tokio::sync::Notify;

use service::Board;

use super::harness::{Pool, Starts, WorkerHarness, hopeless, name_of, on_both, scan};
use crate::PoolSettings;

on_both! {
    async fn stopping_pool_finishes_its_jobs_and_fetches_no_new_ones(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (starts, finish) = (Starts::default(), Arc::new(Notify::new()));
        let finished = finish.clone();
        let pool = Pool::start(&harness.queues, starts.then(move |_, _| {
            let finished = finished.clone();
            Box::pin(async move {
                finished.notified().await;
                Ok(())
            })
        }));
        let (running, late) = (scan(), scan());
        queue.push(running.clone()).await.unwrap();
        starts.reach(1).await;
        pool.request_stop();
        // A fetch that is under way when the stop is requested may still return a job.
        tokio::time::sleep(Duration::from_millis(300)).await;
        queue.push(late.clone()).await.unwrap();
        tokio::time::sleep(Duration::from_millis(700)).await;
        finish.notify_one();
        pool.stop().await;

        assert_eq!(harness.row(running.id).await.status, "Done");
        let late = harness.row(late.id).await;
        assert_eq!((late.status.as_str(), late.attempts), ("Pending", 0));
        assert_eq!(starts.all().len(), 1);
    }

    async fn job_unfinished_at_the_stop_timeout_is_returned_without_costing_an_attempt(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let mut settings = PoolSettings::new([(Queue::Scan, 1)]);
        settings.stop_timeout = Duration::from_millis(300);
        let pool = Pool::with(&harness.queues, settings, starts.then_hang());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        starts.reach(1).await;
        let stopping_since = Instant::now();
        pool.stop().await;
        assert!(stopping_since.elapsed() < Duration::from_secs(5), "{:?}", stopping_since.elapsed());
        let row = harness.row(job.id).await;
        assert_eq!((row.status.as_str(), row.attempts), ("Pending", 0));
    }

    async fn aborted_or_unacknowledged_attempt_is_recorded_at_a_stop(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let mut settings = PoolSettings::new([(Queue::Scan, 1)]);
        settings.stop_timeout = Duration::from_millis(300);
        let pool = Pool::with(&harness.queues, settings, starts.then_hang());
        let (running, waiting) = (scan(), scan());
        queue.push(running.clone()).await.unwrap();
        starts.reach(1).await;
        queue.push(waiting.clone()).await.unwrap();
        pool.stop().await;
        assert!(harness.queues.has_begun(running.id).await.unwrap());
        assert!(!harness.queues.has_begun(waiting.id).await.unwrap());
        let events: Vec<_> = harness.timeline(&running).await.iter().map(name_of).collect();
        assert_eq!(events, ["pushed", "began 1"]);
    }

    async fn an_attempt_that_was_acknowledged_leaves_no_record_at_a_stop(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        pool.stop().await;
        assert!(!harness.queues.has_begun(job.id).await.unwrap());
    }

    async fn an_attempt_that_another_process_has_taken_over_is_not_recorded_at_a_stop(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let mut settings = PoolSettings::new([(Queue::Scan, 1)]);
        settings.stop_timeout = Duration::from_millis(300);
        let pool = Pool::with(&harness.queues, settings, starts.then_hang());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        starts.reach(1).await;
        harness.sql("UPDATE {jobs} SET lock_by = NULL, status = 'Killed'").await;
        pool.stop().await;
        assert_eq!(harness.row(job.id).await.status, "Killed");
        assert!(!harness.queues.has_begun(job.id).await.unwrap());
    }

    async fn a_retry_by_an_operator_does_not_hide_earlier_attempts(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, hopeless(&starts));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Killed").await;
        pool.stop().await;
        harness.retry(Queue::Scan, job.id).await;
        assert_eq!(harness.row(job.id).await.attempts, 0);
        assert!(harness.queues.has_begun(job.id).await.unwrap());
    }

    async fn a_slow_job_is_not_taken_over_while_its_pool_waits_for_it(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (starts, elsewhere) = (Starts::default(), Starts::default());
        let slow = starts.then(|_, _| Box::pin(async {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(())
        }));
        let pool = Pool::start(&harness.queues, slow);
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        starts.reach(1).await;
        let other = Pool::start(&harness.another("two").await, elsewhere.then_done());
        pool.stop().await;
        let row = harness.row(job.id).await;
        assert_eq!((row.status.as_str(), row.attempts), ("Done", 1));
        assert!(elsewhere.all().is_empty());
        other.stop().await;
    }

    async fn an_idle_pool_stops_at_once(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let pool = Pool::start(&harness.queues, Starts::default().then_done());
        super::harness::until("all have registered", || async { harness.worker_names().await.len() == Queue::ALL.len() }).await;
        let stopping_since = Instant::now();
        pool.stop().await;
        assert!(stopping_since.elapsed() < Duration::from_secs(2), "{:?}", stopping_since.elapsed());
    }
}
