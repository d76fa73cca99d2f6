//! The queue's own connection pool, apart from the main database's, so that neither waits for the other.

use std::str::FromStr;
use std::time::Duration;

use anyhow::{Context, bail};
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{Connection, Executor};

/// A connection that was idle for this long is tested before use.
const TESTED_AFTER: Duration = Duration::from_millis(500);
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
const SQLITE_BUSY_TIMEOUT: Duration = Duration::from_secs(5);

// The statements of every job are planned once for each connection, because planning takes longer than
// executing them. Such a plan may be made while the table is empty. A sequential scan, which is best then,
// would be slow for the minutes in which the table grows. The statements of every job have an index. For
// those without one, a disabled sequential scan has so high an estimated cost that compiling them would seem
// to pay, so `jit` is off.
//
// Commits do not wait for the disk, for the reason given at SQLite's `synchronous`: a crash of the server may
// lose the last half second of a queue, and each job is written three times. The main database has sessions
// of its own.
const POSTGRES_SESSION: &str = "
    SET plan_cache_mode = auto; SET enable_seqscan = off; SET jit = off; SET synchronous_commit = off";

#[derive(Clone)]
pub(crate) enum Database {
    Sqlite(SqlitePool),
    Postgres(PgPool),
}

impl Database {
    /// SQLite always has one connection.
    pub(crate) async fn open(url: &str, postgres_connections_max: u32) -> anyhow::Result<Self> {
        match url.split_once("://").map(|(scheme, _)| scheme) {
            Some("sqlite") => Ok(Self::Sqlite(open_sqlite(url).await?)),
            Some("postgres" | "postgresql") => {
                Ok(Self::Postgres(open_postgres(url, postgres_connections_max).await?))
            }
            _ => bail!("the queue's URL must begin with sqlite:// or postgres://"),
        }
    }
}

async fn open_sqlite(url: &str) -> anyhow::Result<SqlitePool> {
    // NORMAL may lose the last commits when the machine (not the process) crashes, but nothing important: the
    // data in this file was either never acknowledged, or can be found again from the main database.
    let options = SqliteConnectOptions::from_str(url)
        .context("the queue's URL is not a valid SQLite URL")?
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Normal)
        .busy_timeout(SQLITE_BUSY_TIMEOUT);
    // One connection: SQLite has one writer, and all operations of a queue write.
    SqlitePoolOptions::new()
        .max_connections(1)
        .min_connections(1)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
        // On a full disk SQLite ends a transaction by itself. Its driver counts it as open, and would treat
        // all later ones as parts of it, which are never committed. So a connection with an open transaction
        // is dropped.
        .before_acquire(|connection, _| {
            let is_between = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_between) })
        })
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options)
        .await
        .context("the queue's SQLite file could not be opened")
}

async fn open_postgres(url: &str, connections_max: u32) -> anyhow::Result<PgPool> {
    let options = PgConnectOptions::from_str(url)
        .context("the queue's URL is not a valid Postgres URL")?
        .application_name("handbill-queue");
    PgPoolOptions::new()
        .max_connections(connections_max)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        // Only an idle connection may be one to a server that has gone away.
        .test_before_acquire(false)
        .before_acquire(|connection, meta| {
            Box::pin(async move {
                if meta.idle_for >= TESTED_AFTER {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_connect(|connection, _| {
            Box::pin(async move {
                connection.execute(POSTGRES_SESSION).await?;
                Ok(())
            })
        })
        .connect_with(options)
        .await
        .context("the queue's Postgres does not respond")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn job_pushed_after_a_full_disk_is_committed() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("full.db").display());
        let pool = open_sqlite(&url).await.unwrap();
        pool.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)").await.unwrap();
        // The next page does not fit: SQLite ends the whole transaction by itself, and its driver does not
        // notice.
        pool.execute("PRAGMA max_page_count = 1").await.unwrap();
        let mut too_much = pool.begin().await.unwrap();
        assert!(too_much.execute("INSERT INTO notes VALUES (1, hex(zeroblob(100000)))").await.is_err());
        drop(too_much);
        pool.execute("PRAGMA max_page_count = 1000000").await.unwrap();
        // This rollback must not undo later writes.
        let mut given_up = pool.begin().await.unwrap();
        given_up.execute("INSERT INTO notes VALUES (2, 'given up')").await.unwrap();
        given_up.rollback().await.unwrap();
        pool.execute("INSERT INTO notes VALUES (3, 'kept')").await.unwrap();
        let others = open_sqlite(&url).await.unwrap();
        let ids: Vec<i64> = sqlx::query_scalar("SELECT id FROM notes").fetch_all(&others).await.unwrap();
        assert_eq!(ids, [3]);
    }
}
