//! Counts of jobs by queue and status.

use std::time::Duration;

use anyhow::anyhow;
use domain::Queue;
use futures::FutureExt;
use service::{JobActionResult, JobCounts};

use super::harness::{Pool, Starts, WorkerHarness, cleanup, on_both, scan};
use crate::GiveUp;

on_both! {
    async fn queue_depth_counts_waiting_running_failed_dead_and_cancelled_jobs(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let counts = harness.queues.job_counts().await.unwrap();
        assert_eq!(counts, Queue::ALL.map(|queue| (queue, JobCounts::default())).into());

        let before = harness.queues.clock.now();
        for _ in 0..8 {
            queue.push(scan()).await.unwrap();
        }
        let ids: Vec<_> = harness.rows().await.into_iter().map(|row| row.id).collect();
        for (id, status) in ids.iter().zip(["Queued", "Running", "Failed", "Killed", "Done", "Killed", "Failed"]) {
            harness.sql(&format!("UPDATE {{jobs}} SET status = '{status}' WHERE id = '{id}'")).await;
        }
        let called_off = [ids[5].parse().unwrap(), ids[6].parse().unwrap()];
        assert_eq!(harness.discard(Queue::Scan, called_off[0]).await, JobActionResult::Done);
        assert_eq!(harness.cancel(Queue::Scan, called_off[1]).await, JobActionResult::Done);
        let scans = harness.queues.job_counts().await.unwrap()[&Queue::Scan];
        let since = scans.oldest_waiting_since.unwrap();
        assert_eq!(scans, JobCounts { waiting: 1, running: 2, failed: 1, dead: 1, cancelled: 2, oldest_waiting_since: Some(since) });
        assert!(since.plus(Duration::from_secs(1)) >= before && since <= harness.queues.clock.now(), "{since}");
    }

    async fn a_job_that_is_not_due_is_not_counted_as_late(harness: WorkerHarness) {
        let queue = harness.ready().await;
        queue.push(scan()).await.unwrap();
        harness.sql(match harness.queues.database {
            crate::database::Database::Sqlite(_) => "UPDATE {jobs} SET run_at = unixepoch() + 60",
            crate::database::Database::Postgres(_) => "UPDATE {jobs} SET run_at = now() + interval '60 s'",
        })
        .await;
        let scans = harness.queues.job_counts().await.unwrap()[&Queue::Scan];
        assert_eq!((scans.waiting, scans.oldest_waiting_since), (1, None));
    }

    async fn a_failed_job_counts_as_late_from_when_its_next_attempt_is_due(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let oldest = || async {
            let scans = harness.queues.job_counts().await.unwrap()[&Queue::Scan];
            scans.oldest_waiting_since.map(|since| harness.queues.clock.now().since(since).as_secs())
        };
        queue.push(scan()).await.unwrap();
        queue.push(scan()).await.unwrap();
        let ids: Vec<_> = harness.rows().await.into_iter().map(|row| row.id).collect();
        harness.sql(&format!("UPDATE {{jobs}} SET status = 'Failed' WHERE id = '{}'", ids[0])).await;
        for (shift_s, expected) in [(600, 0), (-90, 90)] {
            let at = match harness.queues.database {
                crate::database::Database::Sqlite(_) => format!("unixepoch() + {shift_s}"),
                crate::database::Database::Postgres(_) => format!("now() + interval '{shift_s} s'"),
            };
            harness.sql(&format!("UPDATE {{jobs}} SET run_at = {at} WHERE id = '{}'", ids[0])).await;
            let late = oldest().await.unwrap();
            assert!((expected..expected + 30).contains(&late), "{shift_s}: {late}");
        }
        harness.sql("UPDATE {jobs} SET status = 'Killed'").await;
        assert_eq!(oldest().await, None, "a dead job is not due");
    }

    async fn cancelled_jobs_are_deleted_with_finished_ones_and_dead_jobs_are_kept(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (done, died, discarded, cancelled) = (scan(), scan(), scan(), scan());
        for job in [&done, &died, &discarded, &cancelled] {
            queue.push(job.clone()).await.unwrap();
        }
        harness.sql(&format!("UPDATE {{jobs}} SET status = 'Done' WHERE id = '{}'", done.id)).await;
        harness.sql(&format!("UPDATE {{jobs}} SET status = 'Killed' WHERE id IN ('{}', '{}')", died.id, discarded.id)).await;
        harness.sql(match harness.queues.database {
            crate::database::Database::Sqlite(_) => "UPDATE {jobs} SET done_at = unixepoch() - 1000000",
            crate::database::Database::Postgres(_) => "UPDATE {jobs} SET done_at = now() - interval '1000000 s'",
        })
        .await;
        assert_eq!(harness.discard(Queue::Scan, discarded.id).await, JobActionResult::Done);
        assert_eq!(harness.cancel(Queue::Scan, cancelled.id).await, JobActionResult::Done);

        let now = harness.queues.clock.now();
        let (past, future) = (now.minus(Duration::from_secs(60)), now.plus(Duration::from_secs(60)));
        // The retention of a dead job starts when it is discarded, because somebody may want it back.
        assert_eq!(harness.queues.delete_finished(past, 10).await.unwrap(), 1);
        assert_eq!(harness.rows().await.len(), 3);
        assert_eq!(harness.queues.delete_finished(future, 1).await.unwrap(), 1);
        assert_eq!(harness.queues.delete_finished(future, 10).await.unwrap(), 1);
        assert_eq!(harness.rows().await.into_iter().map(|row| row.id).collect::<Vec<_>>(), [died.id.to_string()]);
        assert_eq!(harness.count("handbill_job_events").await, 0);
    }

    async fn finished_jobs_are_forgotten_and_dead_ones_are_not(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|envelope, _| {
            let is_scan = envelope.job.queue() == Queue::Scan;
            async move { if is_scan { Ok(()) } else { Err(GiveUp(anyhow!("no")).into()) } }.boxed()
        }));
        let (done, dead) = ([scan(), scan(), scan()], cleanup());
        for job in done.iter().chain([&dead]) {
            queue.push(job.clone()).await.unwrap();
        }
        for job in &done {
            harness.status_becomes(job.id, "Done").await;
        }
        harness.status_becomes(dead.id, "Killed").await;
        pool.stop().await;
        let waiting = scan();
        queue.push(waiting.clone()).await.unwrap();

        let now = harness.queues.clock.now();
        let (past, future) = (now.minus(Duration::from_secs(60)), now.plus(Duration::from_secs(60)));
        assert_eq!(harness.queues.delete_finished(past, 10).await.unwrap(), 0);
        assert_eq!(harness.queues.delete_finished(future, 2).await.unwrap(), 2);
        assert_eq!(harness.queues.delete_finished(future, 2).await.unwrap(), 1);
        let mut left = [dead.id, waiting.id].map(|id| id.to_string());
        left.sort();
        assert_eq!(harness.rows().await.into_iter().map(|row| row.id).collect::<Vec<_>>(), left);
        // The worker that the dead job names is kept with it.
        assert_eq!(harness.worker_names().await.len(), 1);
    }
}
