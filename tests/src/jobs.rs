//! The queue's rows, looked up behind the program's back: what no route shows yet.

use sqlx::{Connection, PgConnection, SqliteConnection};

use crate::{Mode, World};

/// One job of the queue, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobRow {
    pub status: String,
    pub attempts: i64,
}

impl World {
    /// Every job of a kind that was ever queued in this world.
    pub async fn jobs(&self, kind: &str) -> Vec<JobRow> {
        let kind = format!("%\"kind\":\"{kind}\"%");
        let rows: Vec<(String, i64)> = match self.mode() {
            Mode::Embedded => {
                let path = self.folder().join("data/queue.db");
                let mut connection =
                    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
                sqlx::query_as(
                    "SELECT status, attempts FROM Jobs WHERE CAST(job AS TEXT) LIKE ?1 ORDER BY id",
                )
                .bind(kind)
                .fetch_all(&mut connection)
                .await
            }
            Mode::Production => {
                let mut connection =
                    PgConnection::connect(self.setting("HANDBILL_DATABASE__URL")).await.unwrap();
                sqlx::query_as(
                    "SELECT status, attempts::bigint FROM apalis.jobs
                     WHERE convert_from(job, 'UTF8') LIKE $1 ORDER BY id",
                )
                .bind(kind)
                .fetch_all(&mut connection)
                .await
            }
        }
        .unwrap();
        rows.into_iter().map(|(status, attempts)| JobRow { status, attempts }).collect()
    }
}
