//! The queue's tables are apalis'. What experience adds to them, and takes away, is arranged anew each time that
//! we migrate.

use std::collections::HashSet;

use anyhow::Context;
use apalis_postgres::PostgresStorage;
use apalis_sqlite::SqliteStorage;
use sqlx::migrate::Migrator;
use sqlx::{PgPool, SqlitePool};

use crate::Queues;
use crate::database::Database;

// A row whose id is no ULID (the board can push one) makes every fetch fail and so stalls its queue for good.
//
// With its index on `lock_by`, SQLite acknowledges a job by walking through all that the worker has ever done;
// without, it goes by the id.
const SQLITE_ARRANGEMENT: &str = "
    DROP INDEX IF EXISTS LIdx;
    CREATE TRIGGER IF NOT EXISTS job_id_is_ulid BEFORE INSERT ON Jobs
    WHEN length(NEW.id) <> 26 OR NEW.id GLOB '*[^0-9A-HJKMNP-TV-Z]*' OR NEW.id > '8'
    BEGIN SELECT RAISE(ABORT, 'job_id_is_ulid: a job''s id must be a ULID'); END";

// The same fence; NOT VALID, because an old row that breaks the rule must not keep the service from starting.
//
// The trigger notifies once a row and so halves the speed of pushes; we wake the workers ourselves, once a batch.
//
// Only jobs in somebody's hands are looked for by `lock_by`, at every heartbeat; the two indexes that apalis has
// for it hold every finished job as well.
const POSTGRES_ARRANGEMENT: &str = "
    SELECT pg_advisory_xact_lock(hashtext('handbill queue arrangement'));
    DROP TRIGGER IF EXISTS notify_workers ON apalis.jobs;
    CREATE INDEX IF NOT EXISTS jobs_in_hand ON apalis.jobs (lock_by)
        WHERE status = 'Running' OR status = 'Queued';
    DROP INDEX IF EXISTS apalis.lidx, apalis.idx_apalis_jobs_lock_by;
    DO $$ BEGIN
        IF NOT EXISTS (SELECT FROM pg_constraint WHERE conname = 'job_id_is_ulid') THEN
            ALTER TABLE apalis.jobs ADD CONSTRAINT job_id_is_ulid
                CHECK (id ~ '^[0-7][0-9A-HJKMNP-TV-Z]{25}$') NOT VALID;
        END IF;
    END $$";

impl Queues {
    /// Brings the queue's tables to the newest schema. May be called at any time; on Postgres by many at once.
    pub async fn migrate(&self) -> anyhow::Result<()> {
        match &self.database {
            Database::Sqlite(pool) => {
                // Not `SqliteStorage::setup`: it switches `synchronous` off.
                SqliteStorage::migrations().run(pool).await.context("migrating the queue")?;
                sqlx::raw_sql(SQLITE_ARRANGEMENT).execute(pool).await.context("arranging the queue")?;
            }
            Database::Postgres(pool) => {
                PostgresStorage::migrations().run(pool).await.context("migrating the queue")?;
                sqlx::raw_sql(POSTGRES_ARRANGEMENT).execute(pool).await.context("arranging the queue")?;
            }
        }
        Ok(())
    }

    /// Whether [`Queues::migrate`] would change nothing.
    pub async fn is_current(&self) -> anyhow::Result<bool> {
        match &self.database {
            Database::Sqlite(pool) => is_sqlite_current(pool).await,
            Database::Postgres(pool) => is_postgres_current(pool).await,
        }
        .context("reading the queue's schema")
    }
}

async fn is_sqlite_current(pool: &SqlitePool) -> sqlx::Result<bool> {
    // The fence comes last: where it stands, the table of migrations does too.
    let is_arranged: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'job_id_is_ulid')
            AND NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'LIdx')",
    )
    .fetch_one(pool)
    .await?;
    if !is_arranged {
        return Ok(false);
    }
    let applied =
        sqlx::query_scalar("SELECT version FROM _sqlx_migrations WHERE success").fetch_all(pool).await?;
    Ok(has_all(&SqliteStorage::migrations(), applied))
}

async fn is_postgres_current(pool: &PgPool) -> sqlx::Result<bool> {
    let is_arranged: bool = sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM pg_constraint WHERE conname = 'job_id_is_ulid')
            AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgname = 'notify_workers')
            AND to_regclass('apalis.jobs_in_hand') IS NOT NULL
            AND to_regclass('apalis.lidx') IS NULL
            AND to_regclass('apalis.idx_apalis_jobs_lock_by') IS NULL",
    )
    .fetch_one(pool)
    .await?;
    if !is_arranged {
        return Ok(false);
    }
    let applied = sqlx::query_scalar("SELECT version FROM apalis._sqlx_migrations WHERE success")
        .fetch_all(pool)
        .await?;
    Ok(has_all(&PostgresStorage::migrations(), applied))
}

fn has_all(migrations: &Migrator, applied: Vec<i64>) -> bool {
    let applied: HashSet<i64> = applied.into_iter().collect();
    migrations.iter().all(|migration| applied.contains(&migration.version))
}
