//! A table of jobs in SQLite, as durable as ours. A worker marks its job when it takes it and when it is
//! done.

use std::path::Path;

use anyhow::Context;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use super::workers::{Crew, TakenJob};
use super::{CONCURRENCY, PAYLOAD};

const JOBS: &str = "
    CREATE TABLE plain_jobs (
        id INTEGER PRIMARY KEY,
        payload TEXT NOT NULL,
        taken_at INTEGER,
        done_at INTEGER
    );
    CREATE INDEX plain_jobs_waiting ON plain_jobs (id) WHERE taken_at IS NULL;";

pub struct SqliteTable {
    pool: SqlitePool,
    pub workers: Crew,
}

impl SqliteTable {
    pub async fn start(file: &Path) -> anyhow::Result<Self> {
        let options = SqliteConnectOptions::new()
            .filename(file)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full);
        // SQLite has one writer at a time. Here writers wait for the connection and not for SQLite's lock.
        let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
        sqlx::raw_sql(JOBS).execute(&pool).await.context("make the table of jobs")?;
        let takes = (0..CONCURRENCY).map(|_| pool.clone()).map(|pool| move || take(pool.clone()));
        Ok(Self { workers: Crew::start(takes), pool })
    }

    pub async fn push(&self) -> anyhow::Result<()> {
        sqlx::query("INSERT INTO plain_jobs (payload) VALUES (?1)").bind(PAYLOAD).execute(&self.pool).await?;
        Ok(())
    }
}

async fn take(pool: SqlitePool) -> anyhow::Result<TakenJob> {
    let next: Option<(i64, String)> = sqlx::query_as(
        "UPDATE plain_jobs SET taken_at = unixepoch() WHERE id =
            (SELECT id FROM plain_jobs WHERE taken_at IS NULL ORDER BY id LIMIT 1) RETURNING id, payload",
    )
    .fetch_optional(&pool)
    .await?;
    let Some((id, _)) = next else { return Ok(TakenJob::Nothing) };
    sqlx::query("UPDATE plain_jobs SET done_at = unixepoch() WHERE id = ?1").bind(id).execute(&pool).await?;
    Ok(TakenJob::Done)
}
