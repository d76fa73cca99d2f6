//! How the ends of attempts are written.

use anyhow::anyhow;
use domain::{Content, Queue};
use futures::FutureExt;
use futures::future::join_all;
use service::PushResult;

use super::harness::{Pool, Starts, WorkerHarness, cleanup, on_both, publish, scan, until};
use crate::GiveUp;
use crate::acknowledgements::Acknowledgement;
use crate::database::Database;
use crate::sql::on_either;
use crate::sql::postgres::{ACKNOWLEDGE, NOTE_BEGUN, POSTPONE, RELEASE};

async fn acknowledge(harness: &WorkerHarness, acknowledgements: &[Acknowledgement]) -> u64 {
    let ended = serde_json::to_string(acknowledgements).unwrap();
    on_either!(&harness.queues.database, sql, pool => {
        sqlx::query(sql::ACKNOWLEDGE).bind(&ended).execute(pool).await.unwrap().rows_affected()
    })
}

fn failed(id: &str, worker: &str, attempt: u32) -> Acknowledgement {
    let (id, worker) = (id.to_owned(), worker.to_owned());
    Acknowledgement { id, worker, attempt, status: "Failed", result: Err("no".into()), new_payload: None }
}

on_both! {
    async fn pool_that_stops_has_acknowledged_every_job_that_is_done(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let starts = Starts::default();
        let pool = Pool::start(&harness.queues, starts.then_done());
        let jobs = (0..300).map(|number| queue.push(if number % 2 == 0 { scan() } else { cleanup() }));
        join_all(jobs).await.into_iter().for_each(|pushed| pushed.unwrap());
        until("all are started", || async { starts.all().len() == 300 }).await;
        pool.stop().await;
        let rows = harness.rows().await;
        assert!(rows.iter().all(|row| row.status == "Done" && row.attempts == 1), "{rows:?}");
        assert_eq!(rows.len(), 300);
    }

    async fn content_is_removed_from_a_publish_when_it_is_done_and_not_before(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let content = "aGVsbG8g".repeat(40_000);
        let [done, failed, dead] = [(); 3].map(|()| publish(Content::Inline(content.clone())));
        let [failing, dying] = [failed.id, dead.id];
        let handler = Starts::default().then(move |envelope, _| {
            async move {
                match envelope.id {
                    id if id == failing => Err(anyhow!("not yet")),
                    id if id == dying => Err(GiveUp(anyhow!("hopeless")).into()),
                    _ => Ok(()),
                }
            }
            .boxed()
        });
        let pool = Pool::start(&harness.queues, handler);
        for job in [&done, &failed, &dead] {
            queue.push(job.clone()).await.unwrap();
        }
        for (job, status) in [(&done, "Done"), (&failed, "Failed"), (&dead, "Killed")] {
            harness.status_becomes(job.id, status).await;
        }
        pool.stop().await;
        for job in [&failed, &dead] {
            assert_eq!(harness.payload(job).await, serde_json::to_string(job).unwrap());
        }
        let kept = harness.payload(&done).await;
        assert_eq!(kept, serde_json::to_string(&done.without_content().unwrap()).unwrap());
        assert_eq!(harness.detail(&done).await.payload["content"], "removed");
        // It can be pushed again, with its content.
        assert_eq!(queue.push_again(done.clone()).await.unwrap(), PushResult::Queued);
        assert_eq!(harness.payload(&done).await, serde_json::to_string(&done).unwrap());
    }

    async fn acknowledgement_ends_only_its_own_attempt(harness: WorkerHarness) {
        let queue = harness.ready().await;
        let job = scan();
        queue.push(job.clone()).await.unwrap();
        harness.sql("INSERT INTO {workers} (id, worker_type, storage_name) VALUES ('one', 'scan', '')").await;
        let begin = "UPDATE {jobs} SET status = 'Queued', lock_by = 'one'";
        harness.sql(begin).await;
        let id = job.id.to_string();
        assert_eq!(acknowledge(&harness, &[failed(&id, "two", 1)]).await, 0, "of a worker that lost the job");
        assert_eq!(acknowledge(&harness, &[failed(&id, "one", 1), failed(&scan().id.to_string(), "one", 1)]).await, 1);
        assert_eq!(acknowledge(&harness, &[failed(&id, "one", 1)]).await, 0, "repeated");
        let row = harness.row(job.id).await;
        assert_eq!((row.status.as_str(), row.attempts), ("Failed", 1));
        harness.sql(begin).await;
        assert_eq!(acknowledge(&harness, &[failed(&id, "one", 1)]).await, 0, "repeated during the next attempt");
        assert_eq!(harness.row(job.id).await.status, "Queued");
        assert_eq!(acknowledge(&harness, &[failed(&id, "one", 2)]).await, 1);
        assert_eq!(harness.queues.job_counts().await.unwrap()[&Queue::Scan].failed, 1);
    }
}

/// The cached plan of a statement, made while the table is empty.
async fn cached_plan(harness: &WorkerHarness, statement: &str, types: &str, values: &str) -> String {
    let Database::Postgres(pool) = &harness.queues.database else { panic!("not Postgres") };
    let mut connection = pool.acquire().await.unwrap().detach();
    let prepare =
        format!("PREPARE planned ({types}) AS {statement}; SET plan_cache_mode = force_generic_plan");
    sqlx::raw_sql(sqlx::AssertSqlSafe(prepare)).execute(&mut connection).await.unwrap();
    let explain = sqlx::AssertSqlSafe(format!("EXPLAIN EXECUTE planned ({values})"));
    let plan: Vec<String> =
        sqlx::query_scalar(explain).persistent(false).fetch_all(&mut connection).await.unwrap();
    plan.join("\n")
}

#[tokio::test]
async fn postgres_acknowledges_jobs_by_primary_key() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    harness.queues.migrate().await.unwrap();
    let plan = cached_plan(&harness, ACKNOWLEDGE, "text", "'[]'").await;
    // Twice, and no plan that reads the whole index.
    assert_eq!(plan.matches("Index Cond: (id = ").count(), 2, "{plan}");
    assert_eq!(plan.matches("jobs_pkey").count(), 2, "{plan}");
    assert!(!plan.contains("Seq Scan"), "{plan}");
}

/// The index of running jobs has a dead entry for every job that has run lately.
#[tokio::test]
async fn postgres_finds_a_single_job_by_primary_key() {
    let Some(harness) = WorkerHarness::postgres().await else { return };
    harness.queues.migrate().await.unwrap();
    for (statement, types, values) in [
        (RELEASE, "bigint, text, text", "1, 'a', 'b'"),
        (POSTPONE, "bigint, text, text", "1, 'a', 'b'"),
        (NOTE_BEGUN, "text, text, bigint", "'a', 'b', 1"),
    ] {
        let plan = cached_plan(&harness, statement, types, values).await;
        assert!(plan.contains("jobs_pkey") && !plan.contains("jobs_in_hand"), "{plan}");
    }
}
