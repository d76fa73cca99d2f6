//! Somebody asks again for a job that the queue already has. One that somebody waits for is hurried: if it waits out a
//! backoff it is due now, and if it died it gets another life. One that a sweep asks for again begins anew if it is
//! over, and keeps its pace if it is not.
//!
//! On Postgres rows are taken in the order of their ids, as by whoever raises the dead (`board::steer`): two who want the
//! same rows at once then wait for each other in turn.

use anyhow::Context;
use sqlx::{PgPool, QueryBuilder, Sqlite, SqlitePool};

use crate::Queues;
use crate::database::Database;

impl Queues {
    /// Makes these jobs due, if they wait or are dead. Those that run, and those that are done, stay as they are.
    pub(crate) async fn hurry(&self, ids: &[&str]) -> anyhow::Result<()> {
        match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query(
                    "UPDATE Jobs SET status = 'Pending', run_at = unixepoch(), lock_by = NULL, lock_at = NULL,
                        done_at = NULL, attempts = CASE status WHEN 'Killed' THEN 0 ELSE attempts END
                     WHERE id IN (SELECT value FROM json_each(?1))
                        AND (status = 'Killed' OR (status IN ('Pending', 'Failed') AND run_at > unixepoch()))",
                )
                .bind(serde_json::to_string(ids)?)
                .execute(pool)
                .await?;
            }
            Database::Postgres(pool) => {
                sqlx::query(
                    "WITH asked AS MATERIALIZED (
                         SELECT id FROM apalis.jobs WHERE id = ANY($1) ORDER BY id FOR UPDATE
                     )
                     UPDATE apalis.jobs SET status = 'Pending', run_at = now(), lock_by = NULL, lock_at = NULL,
                        done_at = NULL, attempts = CASE status WHEN 'Killed' THEN 0 ELSE attempts END
                     FROM asked WHERE jobs.id = asked.id
                        AND (status = 'Killed' OR (status IN ('Pending', 'Failed') AND run_at > now()))",
                )
                .bind(ids)
                .execute(pool)
                .await?;
            }
        }
        Ok(())
    }

    /// Has these jobs done once more, as they are asked for now, if they are done or dead. Those that wait or run stay as
    /// they are. The ids of those that begin anew; what happened to them in their former lives is forgotten.
    pub(crate) async fn begin_anew(&self, jobs: &[(&str, &[u8])]) -> anyhow::Result<Vec<String>> {
        let begun = match &self.database {
            Database::Sqlite(pool) => begin_anew_in_sqlite(pool, jobs).await,
            Database::Postgres(pool) => begin_anew_in_postgres(pool, jobs).await,
        }
        .context("having jobs done once more")?;
        self.forget_events(&begun).await?;
        Ok(begun)
    }
}

async fn begin_anew_in_sqlite(pool: &SqlitePool, jobs: &[(&str, &[u8])]) -> sqlx::Result<Vec<String>> {
    let mut update: QueryBuilder<Sqlite> = QueryBuilder::new("WITH pushed (id, job) AS (");
    update.push_values(jobs, |mut values, (id, payload)| {
        values.push_bind(*id).push_bind(*payload);
    });
    update.push(
        ") UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(), job = pushed.job,
            lock_by = NULL, lock_at = NULL, done_at = NULL
         FROM pushed WHERE Jobs.id = pushed.id AND Jobs.status IN ('Done', 'Killed') RETURNING Jobs.id",
    );
    update.build_query_scalar().fetch_all(pool).await
}

async fn begin_anew_in_postgres(pool: &PgPool, jobs: &[(&str, &[u8])]) -> sqlx::Result<Vec<String>> {
    let (ids, payloads): (Vec<&str>, Vec<&[u8]>) = jobs.iter().copied().unzip();
    sqlx::query_scalar(
        "WITH finished AS MATERIALIZED (
             SELECT id FROM apalis.jobs WHERE id = ANY($1) AND status IN ('Done', 'Killed') ORDER BY id FOR UPDATE
         )
         UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(), job = pushed.job,
            lock_by = NULL, lock_at = NULL, done_at = NULL
         FROM finished, unnest($1::text[], $2::bytea[]) AS pushed (id, job)
         WHERE jobs.id = finished.id AND finished.id = pushed.id AND jobs.status IN ('Done', 'Killed') RETURNING jobs.id",
    )
    .bind(ids)
    .bind(payloads)
    .fetch_all(pool)
    .await
}
