//! Copies of a queue: into a file while it is in use, and into another queue while neither is in use. Done
//! jobs are not copied; waiting, failed and dead ones are, with their attempts.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use domain::{Content, Job, JobEnvelope, VersionId};

use crate::Queues;
use crate::database::Database;
use crate::sql::{EventRow, StoredJob, on_either};

/// Jobs that are read, and written in one transaction, at a time. One may hold 256 KiB of content.
const PAGE_JOBS: u32 = 50;

/// The number of copied jobs by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CopiedJobs {
    /// Not started, or held by a worker that is gone.
    pub waiting: u64,
    /// Waiting for another attempt.
    pub failed: u64,
    pub dead: u64,
}

/// A page of publishes whose content is in the spool.
#[derive(Clone, Debug)]
pub struct SpooledPage {
    pub versions: Vec<VersionId>,
    /// Where the next page begins, if there may be one.
    pub next: Option<String>,
}

impl Queues {
    /// Writes the committed state to a file that must not exist yet. SQLite only.
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

    /// Removes the processes of the original from a copy, so that the jobs that they ran are started again at
    /// once.
    pub async fn forget_processes(&self) -> anyhow::Result<()> {
        let Database::Sqlite(pool) = &self.database else {
            bail!("only a copy of a SQLite queue can forget its processes")
        };
        sqlx::raw_sql(
            "UPDATE Jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
             WHERE status IN ('Queued', 'Running');
             UPDATE Jobs SET lock_by = NULL WHERE lock_by IS NOT NULL;
             DELETE FROM Workers; DELETE FROM handbill_processes",
        )
        .execute(pool)
        .await
        .context("forget the processes of a copied queue")?;
        Ok(())
    }

    /// Closes the connections, so that SQLite moves its write-ahead log into the database file.
    pub async fn close(&self) {
        on_either!(&self.database, pool => pool.close().await);
    }

    /// Publishes that may still run and have their content in the spool, including dead ones.
    pub async fn spooled(&self, after: Option<&str>) -> anyhow::Result<SpooledPage> {
        let page = self.unfinished(after.unwrap_or_default(), Some("publish")).await?;
        let next =
            (page.len() == PAGE_JOBS as usize).then(|| page.last().map(|job| job.id.clone())).flatten();
        Ok(SpooledPage { versions: page.iter().filter_map(spooled_version).collect(), next })
    }

    /// Fails if there is any job, even a finished one.
    pub async fn demand_no_jobs(&self) -> anyhow::Result<()> {
        let jobs: i64 = on_either!(&self.database, sql, pool => {
            sqlx::query_scalar(sql::COUNT_ALL).fetch_one(pool).await
        })
        .context("count jobs")?;
        ensure!(jobs == 0, "its queue has {jobs} jobs already");
        Ok(())
    }

    /// Copies every unfinished job, with its history, and the pauses to queues that have no jobs.
    pub async fn copy_unfinished(&self, to: &Queues) -> anyhow::Result<CopiedJobs> {
        to.demand_no_jobs().await?;
        self.copy_pauses(to).await?;
        let (mut copied, mut after) = (CopiedJobs::default(), String::new());
        loop {
            let page = self.unfinished(&after, None).await?;
            let Some(last) = page.last() else { return Ok(copied) };
            after.clone_from(&last.id);
            on_either!(&to.database, sql, pool => sql::insert_copied(pool, &page).await)
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

    async fn copy_events(&self, to: &Queues, page: &[StoredJob]) -> anyhow::Result<()> {
        let read = "SELECT job_id, at_ms, kind, attempt, worker, told_by, error, retry_at_ms
                    FROM handbill_job_events WHERE job_id >= $1 AND job_id <= $2 ORDER BY id";
        let write = "INSERT INTO handbill_job_events (job_id, at_ms, kind, attempt, worker, told_by, error, retry_at_ms)
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)";
        let (Some(first), Some(last)) = (page.first(), page.last()) else { return Ok(()) };
        let events: Vec<EventRow> = on_either!(&self.database, pool => {
            sqlx::query_as(read).bind(&first.id).bind(&last.id).fetch_all(pool).await
        })
        .context("read what happened to jobs")?;
        // Events of done jobs are not copied.
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

    async fn unfinished(&self, after: &str, queue: Option<&str>) -> anyhow::Result<Vec<StoredJob>> {
        on_either!(&self.database, sql, pool => {
            let read = sqlx::query_as(sql::UNFINISHED).bind(after).bind(queue).bind(i64::from(PAGE_JOBS));
            read.fetch_all(pool).await
        })
        .context("read the jobs that are not done")
    }
}

impl CopiedJobs {
    fn count(&mut self, job: &StoredJob) {
        match job.copied_status() {
            "Failed" => self.failed += 1,
            "Killed" => self.dead += 1,
            _ => self.waiting += 1,
        }
    }
}

fn spooled_version(row: &StoredJob) -> Option<VersionId> {
    // A row that does not decode is not a publish that somebody waits for.
    let envelope: JobEnvelope = serde_json::from_slice(&row.job).ok()?;
    match envelope.job {
        Job::Publish(publish) if publish.content == Content::Spooled => Some(publish.order.version),
        _ => None,
    }
}
