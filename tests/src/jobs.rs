//! Reads the queue's rows directly from the database, because no route shows them yet.

use sqlx::{Connection, PgConnection, SqliteConnection};

use crate::{Mode, World};

/// One job of the queue, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    pub id: String,
    pub queue: String,
    pub status: String,
    pub attempts: i64,
}

/// Id, queue, status, attempts.
type Columns = (String, String, String, i64);

impl World {
    /// Every job of a kind that was ever queued in this world.
    pub async fn jobs(&self, kind: &str) -> Vec<JobRow> {
        self.jobs_like(&format!("%\"kind\":\"{kind}\"%")).await
    }

    /// Every job that is not done: waiting, running, failed or dead.
    pub async fn unfinished_jobs(&self) -> Vec<JobRow> {
        self.jobs_like("%").await.into_iter().filter(|job| job.status != "Done").collect()
    }

    async fn jobs_like(&self, text: &str) -> Vec<JobRow> {
        let rows: Vec<Columns> = match self.mode() {
            Mode::Embedded => {
                let path = self.folder().join("data/queue.db");
                let mut connection =
                    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
                sqlx::query_as(
                    "SELECT id, job_type, status, attempts FROM Jobs WHERE CAST(job AS TEXT) LIKE ?1 ORDER BY id",
                )
                .bind(text)
                .fetch_all(&mut connection)
                .await
            }
            Mode::Production => {
                let mut connection =
                    PgConnection::connect(self.setting("HANDBILL_DATABASE__URL")).await.unwrap();
                sqlx::query_as(
                    "SELECT id, job_type, status, attempts::bigint FROM apalis.jobs
                     WHERE convert_from(job, 'UTF8') LIKE $1 ORDER BY id",
                )
                .bind(text)
                .fetch_all(&mut connection)
                .await
            }
        }
        .unwrap();
        rows.into_iter().map(|(id, queue, status, attempts)| JobRow { id, queue, status, attempts }).collect()
    }
}
