//! Copying a queue to another database.

use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use domain::{Chance, Clock, Content, JobEnvelope, OperatorName, Queue, VersionId};
use futures::FutureExt;
use service::{Board, JobEventKind, JobFilter, JobState};

use super::harness::{Pool, Starts, WorkerHarness, cleanup, on_both, publish, scan};
use crate::{CopiedJobs, GiveUp, Opening, Queues};

impl WorkerHarness {
    /// A done job, a dead one, one held by a worker that is gone, and one that waits.
    async fn fill(&self) -> [JobEnvelope; 4] {
        let queue = self.ready().await;
        let [done, dead, held, waiting] = [scan(), cleanup(), scan(), publish(Content::Spooled)];
        queue.push(done.clone()).await.unwrap();
        queue.push(dead.clone()).await.unwrap();
        let dying = dead.id;
        let handler = Starts::default().then(move |envelope, _| {
            async move { if envelope.id == dying { Err(GiveUp(anyhow!("hopeless")).into()) } else { Ok(()) } }.boxed()
        });
        let pool = Pool::start(&self.queues, handler);
        self.status_becomes(done.id, "Done").await;
        self.status_becomes(dead.id, "Killed").await;
        pool.stop().await;
        queue.push(held.clone()).await.unwrap();
        queue.push(waiting.clone()).await.unwrap();
        self.sql(&format!("UPDATE {{jobs}} SET status = 'Running', attempts = 2 WHERE id = '{}'", held.id))
            .await;
        [done, dead, held, waiting]
    }

    async fn count_in(&self, queue: Queue, state: JobState) -> usize {
        self.queues.jobs(JobFilter::of(queue, state)).await.unwrap().jobs.len()
    }
}

on_both! {
    async fn unfinished_jobs_are_copied_to_either_database(harness: WorkerHarness) {
        let [_, dead, held, waiting] = harness.fill().await;
        harness.queues.pause(Queue::Views, &OperatorName::cleaned("olga").unwrap()).await.unwrap();
        for target in [Some(WorkerHarness::sqlite().await), WorkerHarness::postgres().await].into_iter().flatten() {
            target.queues.migrate().await.unwrap();
            let copied = harness.queues.copy_unfinished(&target.queues).await.unwrap();
            assert_eq!(copied, CopiedJobs { waiting: 2, failed: 0, dead: 1 });
            assert_eq!(target.rows().await.len(), 3, "what is done stays behind");
            assert_eq!(target.row(dead.id).await.status, "Killed");
            let row = target.row(held.id).await;
            assert_eq!((row.status.as_str(), row.attempts), ("Pending", 2));
            let shown = target.dead().await;
            assert_eq!(shown[0].last_error.as_deref(), Some("hopeless"));
            assert!(target.queues.clock.now().since(shown[0].ended_at.unwrap()) < Duration::from_secs(60));
            let timeline = target.timeline(&dead).await;
            assert!(timeline.iter().any(|what| matches!(what, JobEventKind::Died { .. })), "{timeline:?}");
            assert_eq!(target.count_in(Queue::Publish, JobState::Waiting).await, 1);
            let paused = target.queues.figures().await.unwrap();
            assert!(paused.queues.iter().all(|shown| (shown.queue == Queue::Views) == shown.paused.is_some()));

            let refused = harness.queues.copy_unfinished(&target.queues).await.unwrap_err().to_string();
            assert!(refused.contains("3 jobs"), "{refused}");
            let starts = Starts::default();
            let pool = Pool::start(&target.queues, starts.then_done());
            target.status_becomes(waiting.id, "Done").await;
            target.status_becomes(held.id, "Done").await;
            pool.stop().await;
        }
    }

    async fn only_unfinished_spooled_publishes_need_their_upload(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let [spooled, inline, done] =
            [Content::Spooled, Content::Inline(String::new()), Content::Spooled].map(publish);
        for job in [&spooled, &inline, &done, &scan()] {
            queue.push(job.clone()).await.unwrap();
        }
        harness.sql(&format!("UPDATE {{jobs}} SET status = 'Done' WHERE id = '{}'", done.id)).await;
        let page = harness.queues.spooled(None).await.unwrap();
        assert_eq!(page.versions, [VersionId::from_ulid(spooled.id.ulid())]);
        assert_eq!(page.next, None);
    }

    async fn more_jobs_than_a_page_are_copied_once(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let jobs: Vec<_> = (0..401).map(|_| publish(Content::Spooled)).collect();
        futures::future::join_all(jobs.iter().map(|job| queue.push(job.clone()))).await;
        let target = WorkerHarness::sqlite().await;
        target.queues.migrate().await.unwrap();
        assert_eq!(harness.queues.copy_unfinished(&target.queues).await.unwrap().waiting, 401);
        let (mut versions, mut after) = (Vec::new(), None::<String>);
        loop {
            let page = target.queues.spooled(after.as_deref()).await.unwrap();
            versions.extend(page.versions);
            after = page.next;
            if after.is_none() {
                break;
            }
        }
        let mut expected: Vec<_> = jobs.iter().map(|job| VersionId::from_ulid(job.id.ulid())).collect();
        expected.sort_unstable();
        assert_eq!(versions, expected);
    }
}

#[tokio::test]
async fn snapshot_releases_jobs_from_their_workers() {
    let harness = WorkerHarness::sqlite().await;
    let [_, _, held, _] = harness.fill().await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("queue.db");
    harness.queues.snapshot_into(&file).await.unwrap();
    let opening = Opening {
        url: &format!("sqlite://{}", file.display()),
        connections_max: 1,
        instance: "copy",
        clock: Clock::system(),
        chance: Chance::from_system(),
        on_pushed: Arc::new(|_| {}),
    };
    let snapshot = Queues::open(opening).await.unwrap();
    snapshot.forget_processes().await.unwrap();
    let running = async |queues: &Queues| {
        queues.job_counts().await.unwrap().values().map(|counts| counts.running).sum::<u64>()
    };
    assert_eq!((running(&snapshot).await, running(&harness.queues).await), (0, 1), "the original goes on");
    assert_eq!(snapshot.figures().await.unwrap().processes.len(), 0);
    assert!(harness.row(held.id).await.attempts == 2);
}
