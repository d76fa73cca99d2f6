//! Paused queues.

use std::time::{Duration, Instant};

use domain::{OperatorName, Queue};
use futures::FutureExt;
use service::Board;

use super::harness::{Pool, Starts, WorkerHarness, cleanup, on_both, scan, until};

/// A pause or resume takes effect in every process within this time.
const IN_FORCE_WITHIN: Duration = Duration::from_secs(2);

fn ada() -> OperatorName {
    OperatorName::cleaned("ada").unwrap()
}

async fn pauser(harness: &WorkerHarness, queue: Queue) -> Option<String> {
    let figures = harness.queues.figures().await.unwrap();
    figures.queues.into_iter().find(|figures| figures.queue == queue).unwrap().paused.map(|paused| paused.by)
}

on_both! {
    async fn paused_queue_starts_no_jobs_until_resumed_and_others_continue(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        harness.queues.pause(Queue::Scan, &ada()).await.unwrap();
        let (held, free) = (scan(), cleanup());
        queue.push(held.clone()).await.unwrap();
        queue.push(free.clone()).await.unwrap();
        harness.status_becomes(free.id, "Done").await;
        tokio::time::sleep(Duration::from_millis(1200)).await;
        assert_eq!(harness.row(held.id).await.status, "Pending");

        // A second pause changes nothing.
        harness.queues.pause(Queue::Scan, &OperatorName::cleaned("grace").unwrap()).await.unwrap();
        assert_eq!(pauser(&harness, Queue::Scan).await.as_deref(), Some("ada"));
        assert_eq!(pauser(&harness, Queue::Upkeep).await, None);

        harness.queues.resume(Queue::Scan).await.unwrap();
        harness.status_becomes(held.id, "Done").await;
        assert_eq!(pauser(&harness, Queue::Scan).await, None);
        pool.stop().await;
    }

    async fn pause_and_resume_reach_other_processes_within_two_seconds(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let other = harness.another("two").await;
        let starts = Starts::default();
        let pool = Pool::start(&other, starts.then_done());
        let first = scan();
        queue.push(first.clone()).await.unwrap();
        harness.status_becomes(first.id, "Done").await;

        harness.queues.pause(Queue::Scan, &ada()).await.unwrap();
        tokio::time::sleep(IN_FORCE_WITHIN).await;
        let held = scan();
        queue.push(held.clone()).await.unwrap();
        other.handle_wake(Queue::Scan);
        tokio::time::sleep(Duration::from_millis(800)).await;
        assert_eq!(starts.all().len(), 1);

        // Without a message from the bus.
        harness.queues.resume(Queue::Scan).await.unwrap();
        let resumed = Instant::now();
        starts.reach(2).await;
        assert!(resumed.elapsed() < IN_FORCE_WITHIN, "{:?}", resumed.elapsed());
        pool.stop().await;
    }

    async fn wake_for_a_queue_cached_as_paused_rereads_the_pauses_at_once(harness: WorkerHarness) {
        let queue = harness.ready().await;
        harness.queues.pause(Queue::Scan, &ada()).await.unwrap();
        let other = harness.another("two").await;
        let starts = Starts::default();
        let pool = Pool::start(&other, starts.then_done());
        queue.push(scan()).await.unwrap();
        until("it is held back", || async { other.pauses.holds(Queue::Scan) }).await;
        harness.queues.resume(Queue::Scan).await.unwrap();
        other.handle_wake(Queue::Scan);
        let heard = Instant::now();
        starts.reach(1).await;
        assert!(heard.elapsed() < Duration::from_millis(700), "{:?}", heard.elapsed());
        pool.stop().await;
    }

    async fn process_started_during_a_pause_starts_no_jobs_of_the_queue(harness: WorkerHarness) {
        let queue = harness.ready().await;
        harness.queues.pause(Queue::Scan, &ada()).await.unwrap();
        queue.push(scan()).await.unwrap();
        let starts = Starts::default();
        let pool = Pool::start(&harness.another("two").await, starts.then_done());
        tokio::time::sleep(Duration::from_millis(1500)).await;
        assert!(starts.all().is_empty());
        pool.stop().await;
    }

    async fn running_jobs_of_a_paused_queue_are_finished(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (starts, elsewhere) = (Starts::default(), Starts::default());
        let pool = Pool::start(&harness.queues, starts.then(|_, _| async {
            tokio::time::sleep(Duration::from_secs(9)).await;
            Ok(())
        }.boxed()));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        starts.reach(1).await;
        harness.queues.pause(Queue::Scan, &ada()).await.unwrap();
        let other = Pool::start(&harness.another("two").await, elsewhere.then_done());
        harness.status_becomes(job.id, "Done").await;
        assert_eq!((starts.all().len(), elsewhere.all().len()), (1, 0), "its worker was not taken for lost");
        pool.stop().await;
        other.stop().await;
    }
}
