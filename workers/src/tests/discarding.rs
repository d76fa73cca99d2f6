//! Discarding jobs.

use domain::Queue;
use service::{Board, JobState, Steered};

use super::harness::{Pool, Starts, WorkerHarness, ada, cleanup, hopeless, name_of, on_both, scan};

on_both! {
    async fn a_dead_job_that_is_discarded_keeps_what_it_died_of_and_can_be_had_back(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, hopeless(&Starts::default()));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Killed").await;
        pool.stop().await;
        assert_eq!(harness.queues.discard(Queue::Publish, job.id, &ada()).await.unwrap(), Steered::Unknown);
        assert_eq!(harness.queues.discard(Queue::Scan, job.id, &ada()).await.unwrap(), Steered::Done);
        assert_eq!(harness.queues.discard(Queue::Scan, job.id, &ada()).await.unwrap(), Steered::Is(JobState::Cancelled));
        assert_eq!(harness.scans_ended().await, (0, 1));
        assert_eq!(harness.queues.requeue_dead(Queue::Scan, &ada()).await.unwrap(), 0);
        let detail = harness.detail(&job).await;
        assert_eq!((detail.job.state, detail.job.last_error.as_deref()), (JobState::Cancelled, Some("no")));
        let events: Vec<_> = detail.timeline.iter().map(|event| name_of(&event.what)).collect();
        assert_eq!(events, ["pushed", "began 1", "died 1: no", "cancelled by ada"]);
        assert_eq!(harness.queues.retry(Queue::Scan, job.id, &ada()).await.unwrap(), Steered::Done);
        assert_eq!(harness.scans_ended().await, (0, 0));
    }

    async fn the_dead_of_one_queue_are_discarded_together_and_those_of_others_stay(harness: WorkerHarness) {
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

    async fn when_a_schedule_s_job_was_done_is_known_and_when_it_failed_is_not(harness: WorkerHarness) {
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
