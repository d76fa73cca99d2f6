//! The time that the machine itself needs for the minimum of a durable publish.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};

use crate::latencies::Latencies;
use crate::page::PAGE_BYTES;

const RUNS: u32 = 300;

/// One file of a page's size with fsync, then one SQLite commit with `synchronous=FULL`.
pub async fn measure(folder: &Path) -> anyhow::Result<Latencies> {
    std::fs::create_dir_all(folder)?;
    let pool = open(folder).await.context("open the floor's database")?;
    let page = vec![b'x'; PAGE_BYTES];
    let mut taken = Vec::new();
    for run in 0..RUNS {
        let started = Instant::now();
        let mut file = File::create(folder.join(run.to_string()))?;
        file.write_all(&page)?;
        file.sync_all()?;
        sqlx::query("INSERT INTO pages (id, page) VALUES (?1, ?2)")
            .bind(run)
            .bind(page.as_slice())
            .execute(&pool)
            .await?;
        taken.push(started.elapsed());
    }
    pool.close().await;
    Ok(Latencies::of(taken))
}

async fn open(folder: &Path) -> sqlx::Result<SqlitePool> {
    let options = SqliteConnectOptions::new()
        .filename(folder.join("floor.db"))
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full);
    let pool = SqlitePoolOptions::new().max_connections(1).connect_with(options).await?;
    sqlx::query("CREATE TABLE pages (id INTEGER PRIMARY KEY, page BLOB)").execute(&pool).await?;
    Ok(pool)
}
