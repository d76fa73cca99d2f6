//! Reads the ledger directly from the database, because no endpoint shows every movement of money. It must
//! never write.

use std::collections::BTreeMap;

use sqlx::{Connection, PgConnection, Row, SqliteConnection};

use crate::{Mode, World};

/// One row of an account's ledger, as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerEntry {
    pub reason: String,
    pub delta_micro: i64,
}

/// The balance of an account, and every movement that led to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AccountLedger {
    pub balance_micro: i64,
    pub entries: Vec<LedgerEntry>,
}

const SQL: &str = "SELECT reason, delta_micro FROM ledger_entries ORDER BY seq";
const SQL_OF_ALL: &str = "SELECT handle, balance_micro, reason, delta_micro FROM accounts
    LEFT JOIN ledger_entries ON ledger_entries.account_id = accounts.id ORDER BY handle, seq";

impl World {
    /// The ledger of a world with one account.
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

    /// The ledgers of all accounts of a production world, by handle.
    pub async fn ledgers(&self) -> BTreeMap<String, AccountLedger> {
        let mut connection = PgConnection::connect(self.database_url()).await.unwrap();
        let rows = sqlx::query(SQL_OF_ALL).fetch_all(&mut connection).await.unwrap();
        let mut ledgers: BTreeMap<String, AccountLedger> = BTreeMap::new();
        for row in rows {
            let ledger = ledgers.entry(row.get(0)).or_default();
            ledger.balance_micro = row.get(1);
            if let Some(reason) = row.get(2) {
                ledger.entries.push(LedgerEntry { reason, delta_micro: row.get(3) });
            }
        }
        ledgers
    }

    fn database_url(&self) -> &str {
        self.setting("HANDBILL_DATABASE__URL")
    }
}
