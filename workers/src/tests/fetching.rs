//! How jobs are taken from a queue on PostgreSQL.

use apalis_core::task::Task;
use domain::Queue;
use sqlx::PgPool;

use super::harness::{Pool, Starts, WorkerHarness, scan};
use crate::database::Database;
use crate::slots::FETCHED_AT_ONCE_MAX;
use crate::sql::postgres::{FETCH, fetch};

/// Enough that reading all of them is expensive.
const WAITING: u32 = 20_000;

async fn ready() -> Option<(WorkerHarness, PgPool)> {
    let harness = WorkerHarness::postgres().await?;
    harness.queues.migrate().await.unwrap();
    let Database::Postgres(pool) = &harness.queues.database else { panic!("not Postgres") };
    let pool = pool.clone();
    for worker in ["one", "two"] {
        let insert = "INSERT INTO apalis.workers (id, worker_type, storage_name) VALUES ($1, 'scan', '')";
        sqlx::query(insert).bind(worker).execute(&pool).await.unwrap();
    }
    Some((harness, pool))
}

/// A waiting job. The last characters of its id are its number.
async fn insert(harness: &WorkerHarness, number: u32, queue: &str, more: &str, values: &str) {
    let id = format!("01AA{number:022}");
    harness
        .sql(&format!(
            "INSERT INTO {{jobs}} (id, job_type, job, max_attempts{more}) VALUES ('{id}', '{queue}', '{{}}', 8{values})"
        ))
        .await;
}

fn numbers(tasks: &[Task<Vec<u8>>]) -> Vec<u32> {
    let mut numbers: Vec<u32> =
        tasks.iter().map(|task| task.task_id().unwrap().to_string()[4..].parse().unwrap()).collect();
    numbers.sort_unstable();
    numbers
}

#[tokio::test]
async fn due_jobs_of_the_queue_are_fetched_by_priority_and_then_by_time() {
    let Some((harness, pool)) = ready().await else { return };
    let due = ", now() - interval '1 minute' *";
    for (number, queue, more, values) in [
        (1, "scan", ", run_at", format!("{due} 1")),
        (2, "scan", ", run_at", format!("{due} 3")),
        (3, "scan", ", run_at, status, attempts", format!("{due} 2, 'Failed', 1")),
        (4, "scan", ", run_at, priority", format!("{due} 1, 5")),
        // None of these.
        (5, "publish", ", run_at", format!("{due} 9")),
        (6, "scan", ", run_at", format!("{due} -1")),
        (7, "scan", ", run_at, status, attempts", format!("{due} 9, 'Failed', 8")),
        (8, "scan", ", run_at, status", format!("{due} 9, 'Done'")),
        (9, "scan", ", run_at, status", format!("{due} 9, 'Killed'")),
        (10, "scan", ", run_at, status, lock_by", format!("{due} 9, 'Queued', 'two'")),
    ] {
        insert(&harness, number, queue, more, &values).await;
    }
    let mut fetched = Vec::new();
    for at_most in [1, 1, 2, 16] {
        fetched.push(numbers(&fetch(&pool, Queue::Scan, "one", at_most).await.unwrap()));
    }
    assert_eq!(fetched, [vec![4], vec![2], vec![1, 3], vec![]]);
    let row = harness.rows().await.remove(2);
    assert_eq!((row.status.as_str(), row.attempts), ("Queued", 1), "the attempt counts when it ends");
}

#[test]
fn the_limit_of_the_statement_is_that_of_a_fetch() {
    assert!(FETCH.contains(&format!("LIMIT {FETCHED_AT_ONCE_MAX} FOR UPDATE")), "{FETCH}");
}

#[tokio::test]
async fn jobs_that_another_worker_is_fetching_are_left_to_it() {
    let Some((harness, pool)) = ready().await else { return };
    for number in 1..=4 {
        insert(&harness, number, "scan", "", "").await;
    }
    let mut other = pool.begin().await.unwrap();
    let first = sqlx::query(FETCH).bind("two").bind("scan").bind(2_i64);
    assert_eq!(first.execute(&mut *other).await.unwrap().rows_affected(), 2);
    let rest = fetch(&pool, Queue::Scan, "one", 16).await.unwrap();
    assert_eq!(rest.len(), 2, "only the two that the other one requested are locked");
    other.rollback().await.unwrap();
    assert_eq!(fetch(&pool, Queue::Scan, "one", 16).await.unwrap().len(), 2);
}

#[tokio::test]
async fn a_fetch_reads_only_the_jobs_that_it_takes() {
    let Some((harness, pool)) = ready().await else { return };
    // The plan is made and cached while the table is empty.
    let mut connection = pool.acquire().await.unwrap();
    for _ in 0..8 {
        let fetch = sqlx::query(FETCH).bind("one").bind("scan").bind(16_i64);
        fetch.execute(&mut *connection).await.unwrap();
    }
    harness
        .sql(&format!(
            "INSERT INTO {{jobs}} (id, job_type, job, status, max_attempts)
             SELECT '01AA' || lpad(n::text, 22, '0'), 'scan', '{{}}', CASE WHEN n % 5 = 0 THEN 'Pending' ELSE 'Done' END, 8
             FROM generate_series(1, {WAITING}) AS numbers (n)"
        ))
        .await;
    for is_analyzed in [false, true] {
        if is_analyzed {
            harness.sql("ANALYZE").await;
        }
        let prepare = format!(
            "PREPARE taking (text, text, bigint) AS {FETCH}; SET plan_cache_mode = force_generic_plan"
        );
        sqlx::raw_sql(sqlx::AssertSqlSafe(prepare)).execute(&mut *connection).await.unwrap();
        let explain = "EXPLAIN EXECUTE taking ('one', 'scan', 16)";
        let plan: Vec<String> =
            sqlx::query_scalar(explain).persistent(false).fetch_all(&mut *connection).await.unwrap();
        let plan = plan.join("\n");
        assert!(plan.contains("Index Scan using idx_apalis_jobs_fetch_partial"), "{plan}");
        assert!(plan.contains("Scan using jobs_pkey") || plan.contains("Scan on jobs_pkey"), "{plan}");
        assert!(plan.contains("(id = ANY ("), "{plan}");
        assert!(!plan.contains("Seq Scan") && !plan.contains("Sort"), "{plan}");
        sqlx::raw_sql("DEALLOCATE taking").execute(&mut *connection).await.unwrap();
    }
}

#[tokio::test]
async fn workers_with_cached_plans_continue_after_a_later_release_adds_columns() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    let queue = harness.ready().await;
    let pool = Pool::start(&harness.queues, Starts::default().then_done());
    for change in [
        "SELECT 1",
        "ALTER TABLE {jobs} ADD COLUMN later TEXT",
        "ALTER TABLE {workers} ADD COLUMN later TEXT",
    ] {
        harness.sql(change).await;
        for _ in 0..20 {
            let job = scan();
            queue.push(job.clone()).await.unwrap();
            harness.status_becomes(job.id, "Done").await;
            assert_eq!(harness.row(job.id).await.attempts, 1);
        }
    }
    pool.stop().await;
}
