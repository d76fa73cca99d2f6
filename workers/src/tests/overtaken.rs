//! On Postgres, a row may change between a read and a write. A statement that waited for a row must check it
//! again.

use std::time::Duration;

use domain::{JobId, OperatorName, Queue};
use service::Board;
use sqlx::{PgConnection, PgPool};

use super::harness::{WorkerHarness, new_id, scan, until};
use crate::Queues;
use crate::database::Database;
use crate::sql::PushedJob;

/// A job in one state, which an uncommitted transaction has changed to another.
async fn changing(
    harness: &WorkerHarness,
    from: &str,
    to: &str,
) -> (JobId, sqlx::Transaction<'static, sqlx::Postgres>) {
    let job = scan();
    harness.ready().await.push(job.clone()).await.unwrap();
    harness.sql(&format!("UPDATE {{jobs}} SET status = '{from}', done_at = now() - interval '1 hour'")).await;
    let mut other = pool(harness).begin().await.unwrap();
    set_status(&mut other, to).await;
    (job.id, other)
}

fn pool(harness: &WorkerHarness) -> PgPool {
    let Database::Postgres(pool) = &harness.queues.database else { panic!("not Postgres") };
    pool.clone()
}

async fn set_status(connection: &mut PgConnection, status: &str) {
    let update = sqlx::query("UPDATE apalis.jobs SET status = $1, done_at = NULL").bind(status);
    update.execute(connection).await.unwrap();
}

async fn somebody_waits_for_a_row(harness: &WorkerHarness) {
    let waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock')";
    let pool = pool(harness);
    let is_so = || async { sqlx::query_scalar::<_, bool>(waiting).fetch_one(&pool).await.unwrap() };
    until("somebody waits for a row", is_so).await;
}

#[tokio::test]
async fn requeueing_dead_jobs_does_not_take_a_job_that_runs_again() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    let (job, other) = changing(&harness, "Killed", "Queued").await;
    let queues = harness.queues.clone();
    let ada = OperatorName::cleaned("ada").unwrap();
    let raising = tokio::spawn(async move { queues.requeue_dead(Queue::Scan, &ada).await });
    somebody_waits_for_a_row(&harness).await;
    other.commit().await.unwrap();
    assert_eq!(raising.await.unwrap().unwrap(), 0);
    assert_eq!(harness.row(job).await.status, "Queued");
}

#[tokio::test]
async fn restarted_job_is_not_deleted_with_finished_jobs() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    let (job, other) = changing(&harness, "Done", "Pending").await;
    let before = harness.queues.clock.now().minus(Duration::from_secs(60));
    assert_eq!(harness.queues.delete_finished(before, 10).await.unwrap(), 0, "without waiting for the row");
    other.commit().await.unwrap();
    assert_eq!(harness.row(job).await.status, "Pending");
}

/// A statement that waits for the first of two rows must not have locked the second, or two of them could
/// deadlock. The rows are in the table in reverse order.
async fn assert_the_lowest_id_is_taken_first<F>(take: impl FnOnce(Queues, Vec<JobId>) -> F)
where
    F: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let Some(harness) = WorkerHarness::postgres().await else { return };
    harness.ready().await;
    let mut ids: Vec<JobId> = (0..2).map(|_| new_id()).collect();
    ids.sort_unstable();
    for id in ids.iter().rev() {
        harness.insert_raw(&id.to_string(), Queue::Scan.name(), "{}").await;
    }
    harness.sql("UPDATE {jobs} SET status = 'Killed', done_at = now() - interval '1 hour'").await;
    // An update moves its row behind all others.
    harness.sql(&format!("UPDATE {{jobs}} SET attempts = 1 WHERE id = '{}'", ids[0])).await;
    let hold = "SELECT id FROM apalis.jobs WHERE id = $1 FOR UPDATE NOWAIT";
    let mut other = pool(&harness).begin().await.unwrap();
    sqlx::query(hold).bind(ids[0].to_string()).execute(&mut *other).await.unwrap();
    let backwards = ids.iter().rev().copied().collect();
    let taking = tokio::spawn(take(harness.queues.clone(), backwards));
    somebody_waits_for_a_row(&harness).await;
    let second = sqlx::query(hold).bind(ids[1].to_string()).execute(&mut *other).await;
    assert!(second.is_ok(), "the second row was taken before the first: {second:?}");
    other.commit().await.unwrap();
    taking.await.unwrap().unwrap();
    for id in ids {
        assert_eq!(harness.row(id).await.status, "Pending");
    }
}

#[tokio::test]
async fn requeueing_dead_jobs_locks_rows_in_id_order() {
    assert_the_lowest_id_is_taken_first(|queues, _| async move {
        let ada = OperatorName::cleaned("ada").unwrap();
        queues.requeue_dead(Queue::Scan, &ada).await.map(drop)
    })
    .await;
}

#[tokio::test]
async fn expediting_jobs_locks_rows_in_id_order() {
    assert_the_lowest_id_is_taken_first(|queues, ids| async move {
        let ids: Vec<String> = ids.iter().map(JobId::to_string).collect();
        queues.expedite(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await
    })
    .await;
}

#[tokio::test]
async fn restarting_jobs_locks_rows_in_id_order() {
    assert_the_lowest_id_is_taken_first(|queues, ids| async move {
        let ids: Vec<String> = ids.iter().map(JobId::to_string).collect();
        let jobs: Vec<_> =
            ids.iter().map(|id| PushedJob { id, queue: Queue::Scan, payload: &b"{}"[..] }).collect();
        queues.restart(&jobs).await.map(drop)
    })
    .await;
}
