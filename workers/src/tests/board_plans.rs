//! The board stays fast with many finished jobs: its queries use an index, on both databases.

use domain::Queue;

use super::harness::WorkerHarness;
use crate::database::Database;
use crate::sql::{on_either, postgres, sqlite};

/// Enough that reading all of them is expensive.
const FINISHED: u32 = 20_000;

/// Finished publishes that failed once, and a few jobs in every other state.
async fn fill(harness: &WorkerHarness) {
    harness.queues.migrate().await.unwrap();
    let id = |prefix: &str| format!("'{prefix}' || substr('0000000000000000000000' || n, -22)");
    let row = |status: &str, name: &str, prefix: &str, count: u32| {
        let id = match harness.queues.database {
            Database::Sqlite(_) => id(prefix),
            Database::Postgres(_) => format!("'{prefix}' || lpad(n::text, 22, '0')"),
        };
        let numbers = match harness.queues.database {
            Database::Sqlite(_) => format!(
                "(WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < {count})
                  SELECT n FROM numbers)"
            ),
            Database::Postgres(_) => format!("generate_series(1, {count}) AS numbers (n)"),
        };
        format!(
            "INSERT INTO {{jobs}} (id, job_type, job, status, max_attempts)
             SELECT {id}, '{name}', '{{}}', '{status}', 8 FROM {numbers}"
        )
    };
    harness.sql(&row("Done", "publish", "01AA", FINISHED)).await;
    for (prefix, status) in
        [("01AB", "Pending"), ("01AC", "Queued"), ("01AD", "Failed"), ("01AE", "Killed"), ("01AF", "Done")]
    {
        harness.sql(&row(status, "scan", prefix, 9)).await;
    }
    let events = |kind: &str, queue: &str| {
        format!(
            "INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt)
             SELECT id, 0, '{kind}', 1 FROM {{jobs}} WHERE job_type = '{queue}'"
        )
    };
    harness.sql(&events("failed", "publish")).await;
    harness.sql(&format!("{} AND status = 'Killed' AND id LIKE '%5'", events("cancelled", "scan"))).await;
    harness.sql("ANALYZE").await;
}

/// A list query of the board, with its values inserted.
fn list(harness: &WorkerHarness, queue: Queue, status: &str) -> String {
    let values =
        [format!("'{}'", queue.name()), format!("'{status}'"), "'8'".into(), "51".into(), "512".into()];
    let text = on_either!(&harness.queues.database, sql, _pool => sql::list_of(status)).to_owned();
    values.iter().enumerate().fold(text, |text, (index, value)| {
        text.replace(&format!("?{}", index + 1), value).replace(&format!("${}", index + 1), value)
    })
}

fn lists(harness: &WorkerHarness) -> Vec<String> {
    let of_scans = ["Done", "Pending", "Queued", "Running", "Failed", "Killed", "Cancelled"];
    let of_scans = of_scans.map(|status| list(harness, Queue::Scan, status));
    of_scans
        .into_iter()
        .chain([list(harness, Queue::Publish, "Done"), list(harness, Queue::Publish, "Pending")])
        .collect()
}

#[tokio::test]
async fn lists_and_counts_walk_an_index_on_sqlite() {
    let harness = WorkerHarness::sqlite().await;
    fill(&harness).await;
    let Database::Sqlite(pool) = &harness.queues.database else { panic!("not SQLite") };
    let names = serde_json::to_string(&Queue::ALL.map(Queue::name)).unwrap();
    let count = sqlite::COUNT.replace("?1", &format!("'{names}'"));
    let running =
        sqlite::RUNNING.replace("?1", "512").replace("?2", &format!("'{names}'")).replace("?3", "9");
    for query in lists(&harness).into_iter().chain([count, running]) {
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {query}"));
        let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).fetch_all(pool).await.unwrap();
        let steps: Vec<_> = plan.into_iter().map(|step| step.3).collect();
        let is_sought = |step: &String| {
            step.starts_with("SEARCH Jobs USING") && (step.contains("(job_type=?") || step.contains("(id=?"))
        };
        assert!(steps.iter().any(is_sought), "{query}\n{steps:#?}");
        assert!(!steps.iter().any(|step| step.starts_with("SCAN Jobs")), "{query}\n{steps:#?}");
        // Of the events, only cancellations are scanned.
        let walks = |step: &&String| {
            step.starts_with("SCAN") && !step.contains("USING COVERING INDEX handbill_job_events_cancelled")
        };
        let walked: Vec<_> = steps.iter().filter(walks).filter(|step| step.contains("called")).collect();
        assert!(walked.is_empty(), "{query}\n{steps:#?}");
        let is_sorted = steps.iter().any(|step| step.contains("TEMP B-TREE FOR ORDER BY"));
        assert!(!(query.contains("'Done'") && is_sorted), "{query}\n{steps:#?}");
    }
}

#[tokio::test]
async fn lists_and_counts_walk_an_index_on_postgres() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    fill(&harness).await;
    let Database::Postgres(pool) = &harness.queues.database else { panic!("not Postgres") };
    let names = Queue::ALL.map(|queue| format!("'{}'", queue.name())).join(", ");
    let count = postgres::COUNT.replace("$1", &format!("ARRAY[{names}]"));
    let most_of_all = list(&harness, Queue::Publish, "Done");
    let running = postgres::RUNNING.replace("$1", "512").replace("$2", "9");
    for query in lists(&harness).into_iter().chain([count, running]) {
        let explain = sqlx::AssertSqlSafe(format!("EXPLAIN {query}"));
        let plan: Vec<String> = sqlx::query_scalar(explain).fetch_all(pool).await.unwrap();
        let plan = plan.join("\n");
        assert!(!plan.contains("Seq Scan"), "{query}\n{plan}");
        // If nearly all rows match, the newest can also be found by scanning the ids backwards.
        if query == most_of_all {
            continue;
        }
        // Through one of the indexes that lead to few jobs or are in the order of the list.
        let by = [
            "handbill_jobs_over",
            "jobs_in_hand",
            "idx_apalis_jobs_fetch_partial",
            "handbill_job_events_cancelled",
        ];
        assert!(by.iter().any(|index| plan.contains(index)), "{query}\n{plan}");
        assert!(!plan.contains("Backward using jobs_pkey"), "{query}\n{plan}");
    }
}
