//! Somebody asks again for a job that the queue already has. One that somebody waits for is hurried: if it waits out a
//! backoff it is due now, and if it died it gets another life. One that a sweep asks for again begins anew if it is
//! over, and keeps its pace if it is not.

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
                    "UPDATE apalis.jobs SET status = 'Pending', run_at = now(), lock_by = NULL, lock_at = NULL,
                        done_at = NULL, attempts = CASE status WHEN 'Killed' THEN 0 ELSE attempts END
                     WHERE id = ANY($1)
                        AND (status = 'Killed' OR (status IN ('Pending', 'Failed') AND run_at > now()))",
                )
                .bind(ids)
                .execute(pool)
                .await?;
            }
        }
        Ok(())
    }

    /// Has these jobs done once more, if they are done or dead. Those that wait or run stay as they are.
    pub(crate) async fn begin_anew(&self, ids: &[&str]) -> anyhow::Result<()> {
        match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query(
                    "UPDATE Jobs SET status = 'Pending', attempts = 0, run_at = unixepoch(),
                        lock_by = NULL, lock_at = NULL, done_at = NULL
                     WHERE id IN (SELECT value FROM json_each(?1)) AND status IN ('Done', 'Killed')",
                )
                .bind(serde_json::to_string(ids)?)
                .execute(pool)
                .await?;
            }
            Database::Postgres(pool) => {
                sqlx::query(
                    "UPDATE apalis.jobs SET status = 'Pending', attempts = 0, run_at = now(),
                        lock_by = NULL, lock_at = NULL, done_at = NULL
                     WHERE id = ANY($1) AND status IN ('Done', 'Killed')",
                )
                .bind(ids)
                .execute(pool)
                .await?;
            }
        }
        Ok(())
    }
}
