use std::time::Duration;

use domain::{Job, JobEnvelope, Queue};

use super::bed::{Bed, JobRow, Pool, Starts, new_id, on_both, scan};
use crate::PoolSettings;

/// A job of the queue for rescans.
fn rescan() -> JobEnvelope {
    match scan() {
        JobEnvelope { job: Job::Scan(scan), .. } => {
            JobEnvelope { id: new_id(), reply_to: None, job: Job::Rescan(scan) }
        }
        other => other,
    }
}

on_both! {
    async fn what_is_over_begins_anew_and_what_waits_or_runs_stays_as_it_is(bed: Bed) {
        let queue = bed.ready().await;
        let job = scan();
        queue.push_anew(job.clone()).await.unwrap();
        for (status, after, attempts) in [
            ("Done", "Pending", 0),
            ("Killed", "Pending", 0),
            ("Failed", "Failed", 3),
            ("Queued", "Queued", 3),
            ("Running", "Running", 3),
        ] {
            bed.sql(&format!("UPDATE {{jobs}} SET status = '{status}', attempts = 3")).await;
            queue.push_anew(job.clone()).await.unwrap();
            let expected = JobRow { id: job.id.to_string(), status: after.to_owned(), attempts };
            assert_eq!(bed.rows().await, [expected], "{status}");
        }
    }

    async fn a_job_is_done_as_often_as_it_is_asked_for_anew(bed: Bed) {
        let queue = bed.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&bed.queues, starts.then_done());
        let job = rescan();
        for round in 1..=3 {
            queue.push_anew(job.clone()).await.unwrap();
            starts.reach(round).await;
            bed.status_becomes(job.id, "Done").await;
            assert!(starts.of(job.id).iter().all(|start| start.0.number == 1));
        }
        assert_eq!(bed.rows().await.len(), 1);
        pool.stop().await;
    }

    async fn each_queue_runs_so_many_jobs_at_a_time_as_are_its_own(bed: Bed) {
        let queue = bed.ready().await;
        let mut settings = PoolSettings::new([(Queue::Scan, 3), (Queue::Rescan, 1)]);
        settings.stop_timeout = Duration::from_millis(50);
        let starts = Starts::default();
        let pool = Pool::with(&bed.queues, settings, starts.then_hang());
        let rescans = [rescan(), rescan(), rescan()].map(|job| (job.id, job));
        for (_, job) in &rescans {
            queue.push(job.clone()).await.unwrap();
        }
        starts.reach(1).await;
        for _ in 0..5 {
            queue.push(scan()).await.unwrap();
        }
        starts.reach(4).await;
        // More than a tick: whoever had a free hand would have looked.
        tokio::time::sleep(Duration::from_millis(700)).await;
        let of_rescans = rescans.iter().filter(|(id, _)| !starts.of(*id).is_empty()).count();
        assert_eq!((starts.all().len(), of_rescans), (4, 1));
        pool.stop().await;
    }
}

#[tokio::test]
async fn a_pool_that_would_do_nothing_is_refused() {
    let bed = Bed::sqlite().await;
    bed.queues.migrate().await.unwrap();
    for settings in [PoolSettings::new([]), PoolSettings::new([(Queue::Scan, 1), (Queue::Rescan, 0)])] {
        let handler = Starts::default().then_done();
        let refused = bed.queues.run_pool(settings, handler, Default::default()).await.unwrap_err();
        assert!(refused.to_string().starts_with("a pool works on at least one"), "{refused:#}");
    }
}
