//! Discarding jobs.

use domain::Queue;
use service::{Board, JobActionResult, JobState};

use super::harness::{Pool, Starts, WorkerHarness, ada, cleanup, hopeless, name_of, on_both, scan};

on_both! {
    async fn discarded_dead_job_keeps_its_error_and_can_be_restored(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Killed").await;
        pool.stop().await;
        assert_eq!(harness.discard(Queue::Publish, job.id).await, JobActionResult::Unknown);
        assert_eq!(harness.discard(Queue::Scan, job.id).await, JobActionResult::Done);
        assert_eq!(harness.discard(Queue::Scan, job.id).await, JobActionResult::Is(JobState::Cancelled));
        assert_eq!(harness.scans_ended().await, (0, 1));
        assert_eq!(harness.queues.requeue_dead(Queue::Scan, &ada()).await.unwrap(), 0);
        let detail = harness.detail(&job).await;
        assert_eq!((detail.job.state, detail.job.last_error.as_deref()), (JobState::Cancelled, Some("no")));
        let events: Vec<_> = detail.timeline.iter().map(|event| name_of(&event.what)).collect();
        assert_eq!(events, ["pushed", "began 1", "died 1: no", "cancelled by ada"]);
        assert_eq!(harness.retry(Queue::Scan, job.id).await, JobActionResult::Done);
        assert_eq!(harness.scans_ended().await, (0, 0));
    }

    async fn discarding_all_dead_jobs_of_a_queue_keeps_those_of_others(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        let jobs = [scan(), scan(), scan(), cleanup()];
        for job in &jobs {
            queue.push(job.clone()).await.unwrap();
            harness.status_becomes(job.id, "Killed").await;
        }
        pool.stop().await;
        assert_eq!(harness.queues.discard_dead(Queue::Scan, &ada()).await.unwrap(), 3);
        assert_eq!(harness.queues.discard_dead(Queue::Scan, &ada()).await.unwrap(), 0);
        assert_eq!(harness.scans_ended().await, (0, 3));
        assert_eq!(harness.dead().await.iter().map(|job| job.id).collect::<Vec<_>>(), [jobs[3].id]);
    }

    async fn only_successful_schedule_jobs_update_the_last_done_time(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let last_done = async |schedule: &str| {
            let done = harness.queues.schedules_done().await.unwrap();
            done.into_iter().find(|(name, _)| *name == schedule).unwrap().1
        };
        assert_eq!(last_done("cleanup").await, None);
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        let failed = cleanup();
        queue.push(failed.clone()).await.unwrap();
        harness.status_becomes(failed.id, "Killed").await;
        pool.stop().await;
        assert_eq!(last_done("cleanup").await, None);

        let before = harness.queues.clock.now();
        let pool = Pool::start(&harness.queues, Starts::default().then_done());
        let mut times = Vec::new();
        for job in [cleanup(), cleanup()] {
            queue.push(job.clone()).await.unwrap();
            harness.status_becomes(job.id, "Done").await;
            times.push(last_done("cleanup").await.unwrap());
        }
        pool.stop().await;
        assert!(before <= times[0] && times[0] <= times[1] && times[1] <= harness.queues.clock.now(), "{times:?}");
        assert_eq!(last_done("metering").await, None);
    }
}
