//! Copies of a queue: into a file while it is worked on, and into another queue while nobody works on either. What is
//! done stays behind; what waits, failed or is dead comes along, with its attempts.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use domain::{Content, Job, JobEnvelope, VersionId};
use sqlx::sqlite::SqlitePool;
use sqlx::{PgPool, Postgres, QueryBuilder, Sqlite};

use crate::Queues;
use crate::database::{Database, on_either};

/// Jobs that are read, and written in one transaction, at a time. One may hold 64 KiB of content.
const PAGE_JOBS: u32 = 200;

/// A job as the table has it. Moments are in seconds, as apalis counts.
#[derive(sqlx::FromRow)]
struct JobRow {
    id: String,
    job_type: String,
    job: Vec<u8>,
    status: String,
    attempts: i64,
    max_attempts: i64,
    run_at: i64,
    last_result: Option<String>,
    done_at: Option<i64>,
    priority: i64,
}

/// As in the table's columns.
#[derive(sqlx::FromRow)]
struct EventRow {
    job_id: String,
    at_ms: i64,
    kind: String,
    attempt: i64,
    worker: Option<String>,
    told_by: Option<String>,
    error: Option<String>,
    retry_at_ms: Option<i64>,
}

/// How many jobs there are of each kind that comes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopiedJobs {
    /// Not begun, or in the hands of a worker that is gone.
    pub waiting: u64,
    /// Waiting for another attempt.
    pub failed: u64,
    pub dead: u64,
}

/// A page of the publishes whose content lies in the spool.
#[derive(Clone, Debug)]
pub struct SpooledPage {
    pub versions: Vec<VersionId>,
    /// Where the next page begins, if there may be one.
    pub next: Option<String>,
}

impl Queues {
    /// Writes what is committed by now to a file that must not be there yet. SQLite alone.
    pub async fn snapshot_into(&self, file: &Path) -> anyhow::Result<()> {
        let Database::Sqlite(pool) = &self.database else {
            bail!("only a SQLite queue is copied into a file")
        };
        let path = file.to_str().context("the path of a snapshot must be text")?;
        sqlx::query("VACUUM INTO ?1")
            .bind(path)
            .execute(pool)
            .await
            .context("take a snapshot of the queue")?;
        Ok(())
    }

    /// Makes a copy forget the processes of the original, so that what they had in hand is begun anew at once.
    pub async fn forget_processes(&self) -> anyhow::Result<()> {
        let Database::Sqlite(pool) = &self.database else {
            bail!("only a SQLite queue is copied into a file")
        };
        sqlx::raw_sql(
            "UPDATE Jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
             WHERE status IN ('Queued', 'Running');
             UPDATE Jobs SET lock_by = NULL WHERE lock_by IS NOT NULL;
             DELETE FROM Workers; DELETE FROM handbill_processes",
        )
        .execute(pool)
        .await
        .context("forget the processes of a queue")?;
        Ok(())
    }

    /// Closes the connections, so that everything written is where it should be.
    pub async fn close(&self) {
        match &self.database {
            Database::Sqlite(pool) => pool.close().await,
            Database::Postgres(pool) => pool.close().await,
        }
    }

    /// Publishes that may yet be begun and whose content lies in the spool, the dead ones too.
    pub async fn spooled(&self, after: Option<&str>) -> anyhow::Result<SpooledPage> {
        let page = self.unfinished(after.unwrap_or_default(), Some("publish")).await?;
        let next =
            (page.len() == PAGE_JOBS as usize).then(|| page.last().map(|job| job.id.clone())).flatten();
        Ok(SpooledPage { versions: page.iter().filter_map(spooled_version).collect(), next })
    }

    /// Fails unless there is no job, not even a finished one.
    pub async fn demand_no_jobs(&self) -> anyhow::Result<()> {
        let jobs: i64 = match &self.database {
            Database::Sqlite(pool) => sqlx::query_scalar("SELECT count(*) FROM Jobs").fetch_one(pool).await,
            Database::Postgres(pool) => {
                sqlx::query_scalar("SELECT count(*) FROM apalis.jobs").fetch_one(pool).await
            }
        }
        .context("count jobs")?;
        ensure!(jobs == 0, "its queue has {jobs} jobs already");
        Ok(())
    }

    /// Copies every job that is not done to queues that have none, with what happened to it, and which queues are
    /// paused.
    pub async fn copy_unfinished(&self, to: &Queues) -> anyhow::Result<CopiedJobs> {
        to.demand_no_jobs().await?;
        self.copy_pauses(to).await?;
        let (mut copied, mut after) = (CopiedJobs::default(), String::new());
        loop {
            let page = self.unfinished(&after, None).await?;
            let Some(last) = page.last() else { return Ok(copied) };
            after.clone_from(&last.id);
            match &to.database {
                Database::Sqlite(pool) => insert_sqlite(pool, &page).await,
                Database::Postgres(pool) => insert_postgres(pool, &page).await,
            }
            .context("copy jobs")?;
            self.copy_events(to, &page).await?;
            page.iter().for_each(|job| copied.count(job));
        }
    }

    async fn copy_pauses(&self, to: &Queues) -> anyhow::Result<()> {
        let read = "SELECT queue, paused_by, paused_at_ms FROM handbill_pauses";
        let write = "INSERT INTO handbill_pauses (queue, paused_by, paused_at_ms) VALUES ($1, $2, $3)";
        let pauses: Vec<(String, String, i64)> =
            on_either!(&self.database, pool => sqlx::query_as(read).fetch_all(pool).await)
                .context("read which queues are paused")?;
        for (queue, by, since_ms) in pauses {
            on_either!(&to.database, pool => {
                let pause = sqlx::query(write).bind(&queue).bind(&by).bind(since_ms);
                pause.execute(pool).await.map(drop)
            })
            .context("pause a queue")?;
        }
        Ok(())
    }

    async fn copy_events(&self, to: &Queues, page: &[JobRow]) -> anyhow::Result<()> {
        let read = "SELECT job_id, at_ms, kind, attempt, worker, told_by, error, retry_at_ms
                    FROM handbill_job_events WHERE job_id >= $1 AND job_id <= $2 ORDER BY id";
        let write = "INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker, told_by, error, retry_at_ms)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(()) };
        let events: Vec<EventRow> = on_either!(&self.database, pool => {
            sqlx::query_as(read).bind(&first.id).bind(&last.id).fetch_all(pool).await
        })
        .context("read what happened to jobs")?;
        // Those of jobs that are done stay behind with them.
        for event in events.iter().filter(|event| page.iter().any(|job| job.id == event.job_id)) {
            on_either!(&to.database, pool => {
                let insert = sqlx::query(write).bind(&event.job_id).bind(event.at_ms).bind(&event.kind);
                let insert = insert.bind(event.attempt).bind(&event.worker).bind(&event.told_by);
                insert.bind(&event.error).bind(event.retry_at_ms).execute(pool).await.map(drop)
            })
            .context("copy what happened to a job")?;
        }
        Ok(())
    }

    async fn unfinished(&self, after: &str, queue: Option<&str>) -> anyhow::Result<Vec<JobRow>> {
        match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_as(
                    "SELECT id, job_type, job, status, attempts, max_attempts, run_at, last_result, done_at, priority
                     FROM Jobs WHERE id > ?1 AND status <> 'Done' AND (?2 IS NULL OR job_type = ?2)
                     ORDER BY id LIMIT ?3",
                )
                .bind(after)
                .bind(queue)
                .bind(i64::from(PAGE_JOBS))
                .fetch_all(pool)
                .await
            }
            Database::Postgres(pool) => {
                sqlx::query_as(
                    "SELECT id, job_type, job, status, attempts::bigint AS attempts,
                        max_attempts::bigint AS max_attempts,
                        extract(epoch FROM run_at)::bigint AS run_at, last_result::text AS last_result,
                        extract(epoch FROM done_at)::bigint AS done_at,
                        coalesce(priority, 0)::bigint AS priority
                     FROM apalis.jobs WHERE id > $1 AND status <> 'Done' AND ($2::text IS NULL OR job_type = $2)
                     ORDER BY id LIMIT $3",
                )
                .bind(after)
                .bind(queue)
                .bind(i64::from(PAGE_JOBS))
                .fetch_all(pool)
                .await
            }
        }
        .context("read the jobs that are not done")
    }
}

impl JobRow {
    /// What the job came to, as JSON whatever it is.
    fn last_result(&self) -> Option<String> {
        let told = self.last_result.as_ref()?;
        let is_json = serde_json::from_str::<serde_json::Value>(told).is_ok();
        Some(if is_json { told.clone() } else { serde_json::Value::from(told.as_str()).to_string() })
    }

    /// Whoever had it in hand is gone.
    fn status(&self) -> &str {
        match self.status.as_str() {
            "Queued" | "Running" => "Pending",
            status => status,
        }
    }
}

impl CopiedJobs {
    fn count(&mut self, job: &JobRow) {
        match job.status() {
            "Failed" => self.failed += 1,
            "Killed" => self.dead += 1,
            _ => self.waiting += 1,
        }
    }
}

fn spooled_version(row: &JobRow) -> Option<VersionId> {
    // A row that holds no job was never a publish that somebody waits for.
    let envelope: JobEnvelope = serde_json::from_slice(&row.job).ok()?;
    match envelope.job {
        Job::Publish(publish) if publish.content == Content::Spooled => Some(publish.order.version),
        _ => None,
    }
}

async fn insert_sqlite(pool: &SqlitePool, page: &[JobRow]) -> sqlx::Result<()> {
    let mut insert: QueryBuilder<Sqlite> = QueryBuilder::new(
        "INSERT INTO Jobs (id, job_type, job, status, attempts, max_attempts, run_at, last_result, done_at, priority) ",
    );
    insert.push_values(page, |mut values, row| {
        values
            .push_bind(&row.id)
            .push_bind(&row.job_type)
            .push_bind(&row.job)
            .push_bind(row.status())
            .push_bind(row.attempts)
            .push_bind(row.max_attempts)
            .push_bind(row.run_at)
            .push_bind(&row.last_result)
            .push_bind(row.done_at)
            .push_bind(row.priority);
    });
    insert.build().execute(pool).await.map(drop)
}

async fn insert_postgres(pool: &PgPool, page: &[JobRow]) -> sqlx::Result<()> {
    let mut insert: QueryBuilder<Postgres> = QueryBuilder::new(
        "INSERT INTO apalis.jobs (id, job_type, job, status, attempts, max_attempts, run_at, last_result, done_at, \
         priority) ",
    );
    insert.push_values(page, |mut values, row| {
        values.push_bind(&row.id).push_bind(&row.job_type).push_bind(&row.job).push_bind(row.status());
        values.push_bind(row.attempts).push_unseparated("::integer");
        values.push_bind(row.max_attempts).push_unseparated("::integer");
        values.push("to_timestamp(").push_bind_unseparated(row.run_at).push_unseparated("::bigint)");
        values.push_bind(row.last_result()).push_unseparated("::jsonb");
        values.push("to_timestamp(").push_bind_unseparated(row.done_at).push_unseparated("::bigint)");
        values.push_bind(row.priority).push_unseparated("::integer");
    });
    insert.build().execute(pool).await.map(drop)
}
