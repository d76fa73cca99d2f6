//! Pushing jobs in batches.

use std::time::Duration;

use domain::{Content, Job, Queue};
use service::{IfKnown, JobQueue, Push, PushResult};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::harness::{Pool, Starts, WorkerHarness, cleanup, on_both, publish, scan};
use crate::Queues;

type WaitingPushTest = oneshot::Receiver<anyhow::Result<PushResult>>;

fn push_of(envelope: domain::JobEnvelope) -> (Push, WaitingPushTest) {
    let (kept, is_kept) = oneshot::channel();
    (Push { envelope, if_known: IfKnown::Leave, kept }, is_kept)
}

/// Makes all these pushes wait together, so that they form one batch, and returns their results.
async fn keep_together(
    queues: &Queues,
    pushes: Vec<Push>,
    waiting: Vec<WaitingPushTest>,
) -> Vec<Result<(), String>> {
    let (sender, receiver) = mpsc::channel(pushes.len());
    for push in pushes {
        sender.send(push).await.unwrap();
    }
    drop(sender);
    queues.run_pushes(receiver, CancellationToken::new()).await;
    let mut answers = Vec::new();
    for kept in waiting {
        answers.push(kept.await.unwrap().map(|_| ()).map_err(|error| format!("{error:#}")));
    }
    answers
}

on_both! {
    async fn a_job_starts_at_once_and_not_at_the_next_tick(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        queue.push(scan()).await.unwrap();
        starts.reach(1).await;

        let mut waits = Vec::new();
        for round in 2..=21 {
            // After the second poll that follows a wake-up.
            tokio::time::sleep(Duration::from_millis(20)).await;
            let job = scan();
            let id = job.id;
            queue.push(job).await.unwrap();
            let pushed = std::time::Instant::now();
            starts.reach(round).await;
            waits.push(starts.of(id)[0].1.saturating_duration_since(pushed));
        }
        waits.sort();
        // With the tick alone, this would be 250 ms; with a wake-up it is about one.
        assert!(waits[10] < Duration::from_millis(60), "{waits:?}");
        pool.stop().await;
    }

    async fn an_acknowledgement_does_not_wait_for_the_tick(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, Starts::default().then_done());
        let mut late = 0;
        for _ in 0..30 {
            let job = scan();
            let pushed = std::time::Instant::now();
            queue.push(job.clone()).await.unwrap();
            harness.status_becomes(job.id, "Done").await;
            late += usize::from(pushed.elapsed() > Duration::from_millis(250));
        }
        assert!(late <= 3, "{late} of 30 were acknowledged late");
        pool.stop().await;
    }

    async fn repeated_push_of_an_id_succeeds_and_changes_nothing(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        queue.push(job.clone()).await.unwrap();
        assert_eq!(harness.rows().await.len(), 1);

        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        harness.status_becomes(job.id, "Done").await;
        queue.push(job.clone()).await.unwrap();
        queue.push(scan()).await.unwrap();
        starts.reach(2).await;
        assert_eq!(starts.of(job.id).len(), 1);
        pool.stop().await;
    }

    async fn every_push_of_a_batch_is_stored_and_each_queue_is_woken_once(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let (mut pushes, mut waiting) = (Vec::new(), Vec::new());
        for job in (0..100).map(|_| scan()).chain((0..100).map(|_| cleanup())) {
            let (push, kept) = push_of(job);
            pushes.push(push);
            waiting.push(kept);
        }
        let answers = keep_together(&harness.queues, pushes, waiting).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(harness.rows().await.len(), 200);
        assert_eq!(*harness.woken.lock().unwrap(), [Queue::Scan, Queue::Upkeep]);
    }

    async fn large_jobs_are_stored_in_statements_of_limited_size(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let of_size = |mib: usize| publish(Content::Inline("aGk=".repeat(mib << 18)));
        let jobs = (0..9).map(|_| of_size(1)).chain([of_size(5), scan()]);
        let (pushes, waiting) = jobs.map(push_of).unzip();
        let answers = keep_together(&harness.queues, pushes, waiting).await;
        assert!(answers.iter().all(Result::is_ok), "{answers:?}");
        assert_eq!(harness.rows().await.len(), 11);
        // One wake-up for each statement.
        let of_one_mib = [Queue::Publish; 3];
        assert_eq!(*harness.woken.lock().unwrap(), [&of_one_mib[..], &[Queue::Publish, Queue::Scan]].concat());
    }

    async fn every_push_gets_an_error_when_the_database_is_unreachable(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        harness.queues.close().await;
        let jobs = (0..5).map(|_| publish(Content::Inline("aGk=".repeat(1 << 18))));
        let (pushes, waiting) = jobs.map(push_of).unzip();
        let answers = keep_together(&harness.queues, pushes, waiting).await;
        assert_eq!(answers.len(), 5);
        assert!(answers.iter().all(Result::is_err), "{answers:?}");
    }

    async fn id_of_another_queue_is_refused_and_the_rest_of_the_batch_is_stored(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let (first, mut second, third) = (scan(), scan(), scan());
        (second.id, second.job) = (first.id, Job::Cleanup);
        let (pushes, waiting) = [first.clone(), second, third.clone()].map(push_of).into_iter().unzip();
        let answers = keep_together(&harness.queues, pushes, waiting).await;
        assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
        assert!(answers[1].as_ref().unwrap_err().contains("has the id of a job of queue scan"), "{answers:?}");
        let kept: Vec<_> = harness.rows().await.into_iter().map(|row| row.id).collect();
        let mut expected = [first.id.to_string(), third.id.to_string()];
        expected.sort();
        assert_eq!(kept, expected);
    }

    async fn job_rejected_by_the_database_does_not_fail_its_batch(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        harness.sql(match harness.queues.database {
            crate::database::Database::Sqlite(_) => {
                "CREATE TRIGGER no_upkeep BEFORE INSERT ON {jobs} WHEN NEW.job_type = 'upkeep'
                 BEGIN SELECT RAISE(ABORT, 'no upkeep today'); END"
            }
            crate::database::Database::Postgres(_) => {
                "ALTER TABLE {jobs} ADD CONSTRAINT no_upkeep_today CHECK (job_type <> 'upkeep')"
            }
        })
        .await;
        let (pushes, waiting) = [scan(), cleanup(), scan()].map(push_of).into_iter().unzip();
        let answers = keep_together(&harness.queues, pushes, waiting).await;
        assert!(answers[0].is_ok() && answers[2].is_ok(), "{answers:?}");
        assert!(answers[1].as_ref().unwrap_err().contains("keeping a job"), "{answers:?}");
        assert_eq!(harness.rows().await.len(), 2);
    }

    async fn dead_job_is_requeued_by_a_push_with_a_waiting_caller(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let mut job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.sql("UPDATE {jobs} SET status = 'Killed', attempts = 8").await;
        // Without a waiting process, a push leaves a dead job alone.
        queue.push(job.clone()).await.unwrap();
        assert_eq!(harness.row(job.id).await.status, "Killed");
        job.reply_to = Some("api-1".into());
        queue.push(job.clone()).await.unwrap();
        let row = harness.row(job.id).await;
        assert_eq!((row.status.as_str(), row.attempts), ("Pending", 0));
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        harness.status_becomes(job.id, "Done").await;
        // A done job stays done.
        queue.push(job.clone()).await.unwrap();
        assert_eq!(harness.row(job.id).await.status, "Done");
        assert_eq!(starts.of(job.id).len(), 1);
        pool.stop().await;
    }

    async fn job_in_backoff_is_due_at_once_after_a_push_with_a_waiting_caller(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let mut job = scan();
        job.reply_to = Some("api-1".into());
        queue.push(job.clone()).await.unwrap();
        harness.sql(match harness.queues.database {
            crate::database::Database::Sqlite(_) => "UPDATE {jobs} SET status = 'Failed', attempts = 2, run_at = unixepoch() + 3600",
            crate::database::Database::Postgres(_) => "UPDATE {jobs} SET status = 'Failed', attempts = 2, run_at = now() + interval '1 hour'",
        })
        .await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        assert_eq!(starts.of(job.id)[0].0.number, 3);
        pool.stop().await;
    }

    async fn pending_pushes_are_stored_at_shutdown(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        let (queue, receiver) = JobQueue::new();
        let (one, other) = (queue.clone(), queue.clone());
        let pushing = [tokio::spawn(async move { one.push(scan()).await }), tokio::spawn(async move { other.push(scan()).await })];
        super::harness::until("both wait", || async { receiver.len() == 2 }).await;
        let cancelled = CancellationToken::new();
        cancelled.cancel();
        harness.queues.run_pushes(receiver, cancelled).await;
        for push in pushing {
            push.await.unwrap().unwrap();
        }
        assert_eq!(harness.rows().await.len(), 2);
        assert!(queue.push(scan()).await.unwrap_err().to_string().contains("closed"));
    }

    async fn no_job_runs_twice_when_many_run_at_once(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let other = harness.another("two").await;
        let starts = Starts::default();
        let work = |_, _| -> futures::future::BoxFuture<'static, anyhow::Result<()>> {
            Box::pin(async {
                tokio::time::sleep(Duration::from_millis(2)).await;
                Ok(())
            })
        };
        let pools = [Pool::start(&harness.queues, starts.then(work)), Pool::start(&other, starts.then(work))];
        let pushes = (0..300).map(|_| queue.push(scan()));
        futures::future::try_join_all(pushes).await.unwrap();
        super::harness::until("all are done", || async { harness.rows().await.iter().all(|row| row.status == "Done") }).await;
        let counts = starts.counts();
        assert_eq!(counts.len(), 300);
        assert!(counts.values().all(|count| *count == 1), "{counts:?}");
        for pool in pools {
            pool.stop().await;
        }
    }
}
