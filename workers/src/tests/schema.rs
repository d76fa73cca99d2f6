use super::bed::{Bed, on_both, scan};
use crate::database::Database;

on_both! {
    async fn migrating_again_changes_nothing_and_only_then_is_the_schema_current(bed: Bed) {
        assert!(!bed.queues.is_current().await.unwrap());
        bed.queues.migrate().await.unwrap();
        assert!(bed.queues.is_current().await.unwrap());
        let queue = bed.pushing();
        queue.push(scan()).await.unwrap();
        bed.another("two").await.migrate().await.unwrap();
        assert_eq!(bed.rows().await.len(), 1);
        assert!(bed.queues.is_current().await.unwrap());
    }

    async fn a_row_whose_id_is_no_ulid_does_not_get_in(bed: Bed) {
        bed.ready().await;
        for id in ["7", "01JZZZZZZZZZZZZZZZZZZZZZZ!", "81JZZZZZZZZZZZZZZZZZZZZZZZ", "01jzzzzzzzzzzzzzzzzzzzzzzz"] {
            let text = format!("INSERT INTO {{jobs}} (id, job_type, job) VALUES ('{id}', 'scan', '{{}}')");
            let refused = match &bed.queues.database {
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
    let bed = Bed::postgres().await;
    let others = [bed.another("two").await, bed.another("three").await, bed.another("four").await];
    let migrations = others.iter().chain([&bed.queues]).map(crate::Queues::migrate);
    futures::future::try_join_all(migrations).await.unwrap();
    assert!(bed.queues.is_current().await.unwrap());
}

#[tokio::test]
async fn no_index_makes_sqlite_acknowledge_a_job_by_way_of_all_that_its_worker_did() {
    let bed = Bed::sqlite().await;
    bed.queues.migrate().await.unwrap();
    let Database::Sqlite(pool) = &bed.queues.database else { panic!("not SQLite") };
    // The core of apalis' statement.
    let plan: Vec<(i64, i64, i64, String)> = sqlx::query_as(
        "EXPLAIN QUERY PLAN WITH j AS (SELECT value ->> 'task_id' AS task_id FROM json_each(?1))
         UPDATE Jobs SET status = 'Done' FROM j WHERE Jobs.id = j.task_id AND Jobs.lock_by = ?2",
    )
    .fetch_all(pool)
    .await
    .unwrap();
    assert!(
        plan.iter().any(|step| step.3.contains("SEARCH Jobs USING INDEX sqlite_autoindex_Jobs_1 (id=?)")),
        "{plan:?}"
    );
}

#[tokio::test]
async fn a_committed_job_survives_the_process_on_sqlite() {
    let bed = Bed::sqlite().await;
    bed.queues.migrate().await.unwrap();
    let Database::Sqlite(pool) = &bed.queues.database else { panic!("not SQLite") };
    let journal: String = sqlx::query_scalar("PRAGMA journal_mode").fetch_one(pool).await.unwrap();
    let synchronous: i64 = sqlx::query_scalar("PRAGMA synchronous").fetch_one(pool).await.unwrap();
    assert_eq!((journal.as_str(), synchronous), ("wal", 1), "1 is NORMAL");
}

#[tokio::test]
async fn an_unknown_kind_of_url_is_refused_without_repeating_it() {
    let opening = crate::Opening {
        url: "mysql://user:password@host/db",
        instance: "one",
        clock: domain::Clock::system(),
        chance: domain::Chance::from_system(),
        on_pushed: std::sync::Arc::new(|_| {}),
    };
    let error = crate::Queues::open(opening).await.err().unwrap();
    assert_eq!(format!("{error:#}"), "the queue's URL must begin with sqlite:// or postgres://");
}
