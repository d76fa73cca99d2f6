//! A table of jobs in PostgreSQL: a worker locks the row of its job, and others skip it.

use anyhow::Context;
use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use super::workers::{Crew, TakenJob};
use super::{CONCURRENCY, PAYLOAD};

/// A common default for programs without measurements.
const CONNECTIONS: u32 = 10;

const JOBS: &str = "
    CREATE TABLE plain_jobs (
        id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        payload TEXT NOT NULL,
        created_at TIMESTAMPTZ NOT NULL DEFAULT now(),
        done_at TIMESTAMPTZ
    );
    CREATE INDEX plain_jobs_waiting ON plain_jobs (id) WHERE done_at IS NULL;";

pub struct PostgresTable {
    pool: PgPool,
    pub workers: Crew,
}

impl PostgresTable {
    pub async fn start(database: &str) -> anyhow::Result<Self> {
        // Pushes must not wait for the workers' connections.
        let [pool, of_workers] = [connect(database).await?, connect(database).await?];
        sqlx::raw_sql(JOBS).execute(&pool).await.context("make the table of jobs")?;
        let takes = (0..CONCURRENCY).map(|_| of_workers.clone()).map(|pool| move || take(pool.clone()));
        Ok(Self { pool, workers: Crew::start(takes) })
    }

    pub async fn push(&self) -> anyhow::Result<()> {
        sqlx::query("INSERT INTO plain_jobs (payload) VALUES ($1)").bind(PAYLOAD).execute(&self.pool).await?;
        Ok(())
    }
}

async fn connect(database: &str) -> sqlx::Result<PgPool> {
    PgPoolOptions::new().max_connections(CONNECTIONS).connect(database).await
}

/// The row stays locked while the job runs, and is released if the worker dies.
async fn take(pool: PgPool) -> anyhow::Result<TakenJob> {
    let mut transaction = pool.begin().await?;
    let next: Option<(i64, String)> = sqlx::query_as(
        "SELECT id, payload FROM plain_jobs WHERE done_at IS NULL ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED",
    )
    .fetch_optional(&mut *transaction)
    .await?;
    let Some((id, _)) = next else { return Ok(TakenJob::Nothing) };
    let finish = sqlx::query("UPDATE plain_jobs SET done_at = now() WHERE id = $1");
    finish.bind(id).execute(&mut *transaction).await?;
    transaction.commit().await?;
    Ok(TakenJob::Done)
}
