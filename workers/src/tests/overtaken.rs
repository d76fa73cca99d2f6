//! What one process reads on Postgres, another may change before it is written: whoever waits for a row asks it again.

use std::time::Duration;

use domain::{JobId, OperatorName, Queue};
use service::Board;
use sqlx::{PgConnection, PgPool};

use super::bed::{Bed, scan, until};
use crate::database::Database;

/// A job in this state, of which somebody else has just made one of another, and has not committed it.
async fn changing(bed: &Bed, from: &str, to: &str) -> (JobId, sqlx::Transaction<'static, sqlx::Postgres>) {
    let job = scan();
    bed.ready().await.push(job.clone()).await.unwrap();
    bed.sql(&format!("UPDATE {{jobs}} SET status = '{from}', done_at = now() - interval '1 hour'")).await;
    let mut other = pool(bed).begin().await.unwrap();
    set_status(&mut other, to).await;
    (job.id, other)
}

fn pool(bed: &Bed) -> PgPool {
    let Database::Postgres(pool) = &bed.queues.database else { panic!("not Postgres") };
    pool.clone()
}

async fn set_status(connection: &mut PgConnection, status: &str) {
    let update = sqlx::query("UPDATE apalis.jobs SET status = $1, done_at = NULL").bind(status);
    update.execute(connection).await.unwrap();
}

async fn somebody_waits_for_a_row(bed: &Bed) {
    let waiting = "SELECT EXISTS (SELECT FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock')";
    let pool = pool(bed);
    let is_so = || async { sqlx::query_scalar::<_, bool>(waiting).fetch_one(&pool).await.unwrap() };
    until("somebody waits for a row", is_so).await;
}

#[tokio::test]
async fn a_dead_job_that_runs_again_is_not_taken_from_its_worker_by_who_raises_the_dead() {
    let bed = Bed::postgres().await;
    let (job, other) = changing(&bed, "Killed", "Queued").await;
    let queues = bed.queues.clone();
    let ada = OperatorName::cleaned("ada").unwrap();
    let raising = tokio::spawn(async move { queues.requeue_dead(Queue::Scan, &ada).await });
    somebody_waits_for_a_row(&bed).await;
    other.commit().await.unwrap();
    assert_eq!(raising.await.unwrap().unwrap(), 0);
    assert_eq!(bed.row(job).await.status, "Queued");
}

#[tokio::test]
async fn a_finished_job_that_begins_anew_is_not_forgotten_with_those_that_are_done() {
    let bed = Bed::postgres().await;
    let (job, other) = changing(&bed, "Done", "Pending").await;
    let queues = bed.queues.clone();
    let before = queues.clock.now().minus(Duration::from_secs(60));
    let forgetting = tokio::spawn(async move { queues.delete_finished(before, 10).await });
    somebody_waits_for_a_row(&bed).await;
    other.commit().await.unwrap();
    assert_eq!(forgetting.await.unwrap().unwrap(), 0);
    assert_eq!(bed.row(job).await.status, "Pending");
}
