//! Failed jobs: retries, backoff and giving up.

use std::time::Duration;

use anyhow::{Context, anyhow};
use domain::Queue;
use futures::FutureExt;

use super::harness::{Pool, Starts, WorkerHarness, cleanup, on_both, scan};
use crate::{Attempt, GiveUp, PoolSettings};

on_both! {
    async fn failed_attempt_is_retried_after_its_backoff(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|_, attempt| {
            async move { if attempt.number < 3 { Err(anyhow!("not yet")) } else { Ok(()) } }.boxed()
        }));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        assert_eq!(harness.row(job.id).await.attempts, 3);

        let (attempts, times): (Vec<_>, Vec<_>) = starts.of(job.id).into_iter().unzip();
        let max = Queue::Scan.attempts_max();
        assert_eq!(attempts, [1, 2, 3].map(|number| Attempt { number, max }));
        for attempt in [1, 2] {
            let waited = times[attempt as usize].duration_since(times[attempt as usize - 1]);
            assert!(waited >= Queue::Scan.backoff(attempt), "{waited:?} before attempt {}", attempt + 1);
        }
        pool.stop().await;
    }

    async fn job_is_dead_after_its_last_failed_attempt(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        let max = Queue::Scan.attempts_max();
        harness.sql(&format!("UPDATE {{jobs}} SET attempts = {}", max - 1)).await;

        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|_, _| async { Err(anyhow!("disk full")).context("storing") }.boxed()));
        harness.status_becomes(job.id, "Killed").await;
        let attempts: Vec<_> = starts.of(job.id).into_iter().map(|(attempt, _)| attempt).collect();
        assert_eq!(attempts, [Attempt { number: max, max }]);
        assert!(attempts[0].is_last());

        let dead = harness.dead().await;
        assert_eq!(dead.len(), 1);
        assert_eq!((dead[0].id, dead[0].queue, dead[0].kind.as_str()), (job.id, Queue::Scan, "scan"));
        assert_eq!((dead[0].attempts, dead[0].last_error.as_deref()), (max, Some("storing: disk full")));
        assert!(harness.queues.clock.now().since(dead[0].ended_at.unwrap()) < Duration::from_secs(60));
        pool.stop().await;
    }

    async fn permanent_failure_is_not_retried_and_may_have_any_error_text(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|_, _| {
            async { Err(GiveUp(anyhow!("a \0 byte").context("hopeless")).into()) }.boxed()
        }));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Killed").await;
        assert_eq!(starts.of(job.id).len(), 1);
        let dead = harness.dead().await;
        assert_eq!(dead[0].last_error.as_deref(), Some("hopeless: a \u{fffd} byte"));
        pool.stop().await;
    }

    async fn job_in_the_wrong_queue_is_dead_at_once_and_is_not_executed(harness: WorkerHarness) {
        harness.ready().await;
        let forged = cleanup();
        harness.insert_raw(&forged.id.to_string(), "views", &serde_json::to_string(&forged).unwrap()).await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|_, _| async { Ok(()) }.boxed()));
        harness.status_becomes(forged.id, "Killed").await;
        assert!(starts.of(forged.id).is_empty());
        let dead = harness.dead().await;
        assert_eq!((dead[0].queue, dead[0].attempts), (Queue::Views, 1));
        assert_eq!(dead[0].last_error.as_deref(), Some("a job of kind cleanup does not belong to queue views"));
        pool.stop().await;
    }

    async fn a_panic_is_a_failed_attempt_and_no_stuck_row(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then(|_, attempt| match attempt.number {
            1 => panic!("before the first await"),
            2 => async { panic!("after it") }.boxed(),
            _ => async { Ok(()) }.boxed(),
        }));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        assert_eq!(starts.of(job.id).len(), 3);
        pool.stop().await;
    }

    async fn string_content_in_a_panic_message_is_not_shown(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let pool = Pool::start(&harness.queues, Starts::default().then(|_, attempt| {
            let end = 98 + attempt.number as usize;
            async move { panic!("{}", &"somebody's page"[..end]) }.boxed()
        }));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Failed").await;
        let shown = format!("{:?}", harness.detail(&job).await);
        assert!(shown.contains("end byte index 99") && !shown.contains("somebody"), "{shown}");
        pool.stop().await;
    }

    async fn an_attempt_that_takes_too_long_fails(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let mut settings = PoolSettings::new([(Queue::Scan, 1)]);
        settings.attempt_timeout = Some(Duration::from_millis(100));
        let pool = Pool::with(&harness.queues, settings, starts.then(|_, attempt| match attempt.number {
            1 => std::future::pending().boxed(),
            _ => async { Err(GiveUp(anyhow!("enough")).into()) }.boxed(),
        }));
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Killed").await;
        let starts = starts.of(job.id);
        assert_eq!(starts.len(), 2);
        assert!(starts[1].1 - starts[0].1 >= Duration::from_millis(100) + Queue::Scan.backoff(1));
        pool.stop().await;
    }

    async fn undecodable_jobs_are_dead_and_the_worker_continues(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let (garbled, unknown, good) = (scan(), scan(), scan());
        for job in [&garbled, &unknown] {
            queue.push(job.clone()).await.unwrap();
        }
        harness.sql(&format!("UPDATE {{jobs}} SET job = '{{ not json' WHERE id = '{}'", garbled.id)).await;
        harness.sql(&format!(
            r#"UPDATE {{jobs}} SET job = '{{"id":"{0}","kind":"from_the_future","payload":"secret"}}' WHERE id = '{0}'"#,
            unknown.id
        ))
        .await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        queue.push(good.clone()).await.unwrap();
        harness.status_becomes(good.id, "Done").await;
        harness.status_becomes(garbled.id, "Killed").await;
        harness.status_becomes(unknown.id, "Killed").await;
        assert_eq!(starts.all().len(), 1);

        let mut dead = harness.dead().await;
        dead.sort_by_key(|job| job.id != garbled.id);
        assert_eq!(dead[0].kind, "unreadable");
        assert_eq!(dead[1].kind, "from_the_future");
        for job in &dead {
            let error = job.last_error.as_deref().unwrap();
            assert!(error.starts_with("its arguments do not decode"), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
        pool.stop().await;
    }

    async fn a_worker_whose_database_failed_comes_back_under_a_new_name(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let settings = PoolSettings::new([(Queue::Upkeep, 1)]);
        let pool = Pool::with(&harness.queues, settings, starts.then_done());
        queue.push(cleanup()).await.unwrap();
        starts.reach(1).await;
        let names = harness.worker_names().await;

        harness.sql("ALTER TABLE {jobs} RENAME TO away").await;
        tokio::time::sleep(Duration::from_millis(1200)).await;
        harness.sql(match harness.queues.database {
            crate::database::Database::Sqlite(_) => "ALTER TABLE away RENAME TO Jobs",
            crate::database::Database::Postgres(_) => "ALTER TABLE apalis.away RENAME TO jobs",
        })
        .await;
        queue.push(cleanup()).await.unwrap();
        starts.reach(2).await;

        let now = harness.worker_names().await;
        assert_eq!(names.len(), 1);
        assert!(now.len() > 1 && now.contains(&names[0]), "{names:?} {now:?}");
        pool.stop().await;
    }
}
