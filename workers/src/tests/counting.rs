use std::time::Duration;

use anyhow::anyhow;
use domain::Queue;
use futures::FutureExt;

use super::bed::{Bed, Pool, Starts, cleanup, on_both, scan};
use crate::{GiveUp, QueueDepth};

on_both! {
    async fn depth_tells_what_waits_runs_failed_and_died(bed: Bed) {
        let queue = bed.ready().await;
        let empty = QueueDepth { queue: Queue::Scan, waiting: 0, running: 0, failed: 0, dead: 0, oldest_waiting_since: None };
        let depth = bed.queues.depth().await.unwrap();
        assert_eq!(depth, Queue::ALL.map(|queue| QueueDepth { queue, ..empty }));

        let before = bed.queues.clock.now();
        for _ in 0..6 {
            queue.push(scan()).await.unwrap();
        }
        let ids: Vec<_> = bed.rows().await.into_iter().map(|row| row.id).collect();
        for (id, status) in ids.iter().zip(["Queued", "Running", "Failed", "Killed", "Done"]) {
            bed.sql(&format!("UPDATE {{jobs}} SET status = '{status}' WHERE id = '{id}'")).await;
        }
        let depth = bed.queues.depth().await.unwrap();
        let scans = depth.iter().find(|depth| depth.queue == Queue::Scan).unwrap();
        let since = scans.oldest_waiting_since.unwrap();
        assert_eq!(*scans, QueueDepth { waiting: 1, running: 2, failed: 1, dead: 1, oldest_waiting_since: Some(since), ..empty });
        assert!(since.plus(Duration::from_secs(1)) >= before && since <= bed.queues.clock.now(), "{since}");
    }

    async fn a_job_that_is_not_due_is_not_counted_as_late(bed: Bed) {
        let queue = bed.ready().await;
        queue.push(scan()).await.unwrap();
        bed.sql(match bed.queues.database {
            crate::database::Database::Sqlite(_) => "UPDATE {jobs} SET run_at = unixepoch() + 60",
            crate::database::Database::Postgres(_) => "UPDATE {jobs} SET run_at = now() + interval '60 s'",
        })
        .await;
        let depth = bed.queues.depth().await.unwrap();
        let scans = depth.iter().find(|depth| depth.queue == Queue::Scan).unwrap();
        assert_eq!((scans.waiting, scans.oldest_waiting_since), (1, None));
    }

    async fn finished_jobs_are_forgotten_and_dead_ones_are_not(bed: Bed) {
        let queue = bed.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&bed.queues, starts.then(|envelope, _| {
            let is_scan = envelope.job.queue() == Queue::Scan;
            async move { if is_scan { Ok(()) } else { Err(GiveUp(anyhow!("no")).into()) } }.boxed()
        }));
        let (done, dead) = ([scan(), scan(), scan()], cleanup());
        for job in done.iter().chain([&dead]) {
            queue.push(job.clone()).await.unwrap();
        }
        for job in &done {
            bed.status_becomes(job.id, "Done").await;
        }
        bed.status_becomes(dead.id, "Killed").await;
        pool.stop().await;
        let waiting = scan();
        queue.push(waiting.clone()).await.unwrap();

        let now = bed.queues.clock.now();
        let (past, future) = (now.minus(Duration::from_secs(60)), now.plus(Duration::from_secs(60)));
        assert_eq!(bed.queues.delete_finished(past, 10).await.unwrap(), 0);
        assert_eq!(bed.queues.delete_finished(future, 2).await.unwrap(), 2);
        assert_eq!(bed.queues.delete_finished(future, 2).await.unwrap(), 1);
        let mut left = [dead.id, waiting.id].map(|id| id.to_string());
        left.sort();
        assert_eq!(bed.rows().await.into_iter().map(|row| row.id).collect::<Vec<_>>(), left);
        // The worker that the dead job names stays with it.
        assert_eq!(bed.worker_names().await.len(), 1);
    }
}
