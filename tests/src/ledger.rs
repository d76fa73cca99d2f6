//! A look behind the program's back, for what no endpoint shows: every movement of money, and that it happened once.
//! It reads and must never write.

use sqlx::{Connection, PgConnection, Row, SqliteConnection};

use crate::{Mode, World};

/// One row of an account's ledger, as the database has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub reason: String,
    pub delta_micro: i64,
}

const SQL: &str = "SELECT reason, delta_micro FROM ledger_entries ORDER BY seq";

impl World {
    /// The ledger of a world with one account, looked up behind the program's back.
    pub async fn ledger(&self) -> Vec<LedgerEntry> {
        match self.mode() {
            Mode::Embedded => {
                let path = self.folder().join("data/handbill.db");
                let mut connection =
                    SqliteConnection::connect(&format!("sqlite://{}", path.display())).await.unwrap();
                let rows = sqlx::query(SQL).fetch_all(&mut connection).await.unwrap();
                rows.iter().map(|row| LedgerEntry { reason: row.get(0), delta_micro: row.get(1) }).collect()
            }
            Mode::Production => {
                let mut connection = PgConnection::connect(self.database_url()).await.unwrap();
                let rows = sqlx::query(SQL).fetch_all(&mut connection).await.unwrap();
                rows.iter().map(|row| LedgerEntry { reason: row.get(0), delta_micro: row.get(1) }).collect()
            }
        }
    }

    fn database_url(&self) -> &str {
        self.setting("HANDBILL_DATABASE__URL")
    }
}
