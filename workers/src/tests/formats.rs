//! Which format of stored data all running processes read.

use std::sync::Arc;

use domain::Time;
use service::Board;

use super::harness::{WorkerHarness, on_both};
use crate::Presence;
use crate::database::Database;

/// As a process of a release without the column writes it.
const OLDER_HEARTBEAT: &str = "
    INSERT INTO handbill_processes
        (instance, role, host, process_id, version, takes, rates, started_at_ms, bus, seen_at_ms)
    VALUES ('older', 'edge', 'a-host', 1, '0.0.9', '{}', '[]', 1, 'a-bus', $1)";

fn presence() -> Presence {
    let (host, started_at) = ("a-host".into(), Time::from_millis(1_000));
    Presence { role: "worker", host, takes: [].into(), started_at, bus: Arc::new(|| "a-bus".into()) }
}

on_both! {
    async fn a_process_that_runs_alone_shares_its_format(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        assert!(!harness.queues.is_format_shared(), "nothing is known before the first heartbeat");
        harness.queues.join(&presence()).await.unwrap();
        assert!(harness.queues.is_format_shared());
    }
}

#[tokio::test]
async fn a_running_process_of_an_older_release_prevents_the_new_format() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    harness.queues.migrate().await.unwrap();
    let Database::Postgres(pool) = &harness.queues.database else { panic!("this is not Postgres") };
    let now_ms: i64 = sqlx::query_scalar(crate::sql::postgres::NOW_MS).fetch_one(pool).await.unwrap();
    sqlx::query(OLDER_HEARTBEAT).bind(now_ms).execute(pool).await.unwrap();
    harness.queues.join(&presence()).await.unwrap();
    assert!(!harness.queues.is_format_shared());
    sqlx::query("UPDATE handbill_processes SET seen_at_ms = 1 WHERE instance = 'older'")
        .execute(pool)
        .await
        .unwrap();
    harness.queues.join(&presence()).await.unwrap();
    assert!(harness.queues.is_format_shared(), "it has sent no heartbeat for long");
}
