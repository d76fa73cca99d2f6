//! The tables of the queue.

use super::harness::{Pool, Starts, WorkerHarness, new_id, on_both, scan};
use crate::database::Database;

on_both! {
    async fn migrating_again_changes_nothing_and_only_then_is_the_schema_current(harness: WorkerHarness) {
        assert!(!harness.queues.is_current().await.unwrap());
        harness.queues.migrate().await.unwrap();
        assert!(harness.queues.is_current().await.unwrap());
        let queue = harness.pushing();
        queue.push(scan()).await.unwrap();
        harness.another("two").await.migrate().await.unwrap();
        assert_eq!(harness.rows().await.len(), 1);
        assert!(harness.queues.is_current().await.unwrap());
    }

    async fn schema_extended_by_a_later_release_is_accepted(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        for change in [
            "INSERT INTO {migrations} (version, description, success, checksum, execution_time)
             VALUES (99990101000000, 'later', true, 'x', 0)",
            "ALTER TABLE {jobs} ADD COLUMN later TEXT",
            "ALTER TABLE handbill_processes ADD COLUMN later TEXT",
        ] {
            let migrations = match harness.queues.database {
                Database::Sqlite(_) => "_sqlx_migrations",
                Database::Postgres(_) => "apalis._sqlx_migrations",
            };
            harness.sql(&change.replace("{migrations}", migrations)).await;
        }
        let older = harness.another("older").await;
        assert!(older.is_current().await.unwrap());
        older.migrate().await.unwrap();
        let queue = harness.pushing();
        let pool = Pool::start(&older, Starts::default().then_done());
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.status_becomes(job.id, "Done").await;
        pool.stop().await;
    }

    async fn job_with_unknown_fields_of_a_later_release_is_executed(harness: WorkerHarness) {
        harness.ready().await;
        let pool = Pool::start(&harness.queues, Starts::default().then_done());
        let id = new_id();
        let payload = format!(r#"{{"id":"{id}","later":{{"more":1}},"kind":"cleanup"}}"#);
        harness.insert_raw(&id.to_string(), "upkeep", &payload).await;
        harness.status_becomes(id, "Done").await;
        pool.stop().await;
    }

    async fn board_tables_and_index_are_added_to_a_queue_of_the_previous_release(harness: WorkerHarness) {
        harness.queues.migrate().await.unwrap();
        for gone in ["handbill_processes", "handbill_pauses", "handbill_job_events", "handbill_schedules_done", "handbill_queue_figures"] {
            harness.sql(&format!("DROP TABLE {gone}")).await;
        }
        let queue = harness.pushing();
        queue.push(scan()).await.unwrap();
        harness.sql(match harness.queues.database {
            Database::Sqlite(_) => "DROP INDEX handbill_jobs_done",
            Database::Postgres(_) => "DROP INDEX apalis.handbill_jobs_over",
        })
        .await;
        assert!(!harness.queues.is_current().await.unwrap());
        harness.queues.migrate().await.unwrap();
        assert!(harness.queues.is_current().await.unwrap());
        assert_eq!((harness.rows().await.len(), harness.count("handbill_pauses").await), (1, 0));
    }

    async fn row_with_a_malformed_id_is_rejected(harness: WorkerHarness) {
        harness.ready().await;
        for id in ["7", "01JZZZZZZZZZZZZZZZZZZZZZZ!", "81JZZZZZZZZZZZZZZZZZZZZZZZ", "01jzzzzzzzzzzzzzzzzzzzzzzz"] {
            let text = format!("INSERT INTO {{jobs}} (id, job_type, job) VALUES ('{id}', 'scan', '{{}}')");
            let refused = match &harness.queues.database {
                Database::Sqlite(pool) => {
                    let text = sqlx::AssertSqlSafe(text.replace("{jobs}", "Jobs"));
                    sqlx::raw_sql(text).execute(pool).await.unwrap_err()
                }
                Database::Postgres(pool) => {
                    let text = sqlx::AssertSqlSafe(text.replace("{jobs}", "apalis.jobs"));
                    sqlx::raw_sql(text).execute(pool).await.unwrap_err()
                }
            };
            assert!(refused.to_string().contains("job_id_is_ulid"), "{id}: {refused}");
        }
    }
}

#[tokio::test]
async fn many_may_migrate_at_once_on_postgres() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    let others =
        [harness.another("two").await, harness.another("three").await, harness.another("four").await];
    let migrations = others.iter().chain([&harness.queues]).map(crate::Queues::migrate);
    futures::future::try_join_all(migrations).await.unwrap();
    assert!(harness.queues.is_current().await.unwrap());
}

#[tokio::test]
async fn invalid_postgres_index_is_rebuilt() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    harness.queues.migrate().await.unwrap();
    harness
        .sql(
            "UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'apalis.handbill_jobs_over'::regclass",
        )
        .await;
    assert!(!harness.queues.is_current().await.unwrap());
    harness.queues.migrate().await.unwrap();
    assert!(harness.queues.is_current().await.unwrap());
}

#[tokio::test]
async fn sqlite_acknowledges_jobs_by_primary_key() {
    let harness = WorkerHarness::sqlite().await;
    harness.queues.migrate().await.unwrap();
    let Database::Sqlite(pool) = &harness.queues.database else { panic!("not SQLite") };
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN QUERY PLAN {}", crate::sql::sqlite::ACKNOWLEDGE));
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(explain).fetch_all(pool).await.unwrap();
    assert!(
        plan.iter().any(|step| step.3.contains("SEARCH Jobs USING INDEX sqlite_autoindex_Jobs_1 (id=?)")),
        "{plan:?}"
    );
}

#[tokio::test]
async fn a_committed_job_survives_the_process_on_sqlite() {
    let harness = WorkerHarness::sqlite().await;
    harness.queues.migrate().await.unwrap();
    let Database::Sqlite(pool) = &harness.queues.database else { panic!("not SQLite") };
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await.unwrap();
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await.unwrap();
    assert_eq!((journal.as_str(), synchronous), ("wal", 1), "1 is NORMAL");
}

#[tokio::test]
async fn an_unknown_kind_of_url_is_refused_without_repeating_it() {
    let opening = crate::Opening {
        url: "mysql://user:password@host/db",
        connections_max: 8,
        instance: "one",
        clock: domain::Clock::system(),
        chance: domain::Chance::from_system(),
        on_pushed: std::sync::Arc::new(|_| {}),
    };
    let error = crate::Queues::open(opening).await.err().unwrap();
    assert_eq!(format!("{error:#}"), "the queue's URL must begin with sqlite:// or postgres://");
}

#[tokio::test]
async fn indexes_that_no_statement_needs_are_dropped_from_a_queue_of_the_previous_release() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    harness.queues.migrate().await.unwrap();
    harness
        .sql(
            "CREATE UNIQUE INDEX unique_job_id ON {jobs} (id);
             CREATE UNIQUE INDEX idx_jobs_idempotency_key ON {jobs} (job_type, idempotency_key)",
        )
        .await;
    assert!(!harness.queues.is_current().await.unwrap());
    harness.queues.migrate().await.unwrap();
    assert!(harness.queues.is_current().await.unwrap());
    let queue = harness.pushing();
    let job = scan();
    for _ in 0..2 {
        queue.push(job.clone()).await.unwrap();
    }
    assert_eq!(harness.rows().await.len(), 1, "ids are unique");
}
