//! Where jobs wait: in the main database when that is PostgreSQL, else in a file of their own, because SQLite has one
//! writer per file and a push must never wait for the ledger.

use std::path::Path;

use crate::reader::Reader;
use crate::secret::DatabaseUrl;
use crate::section::database::Database;

/// Where jobs wait.
#[derive(Clone, Debug)]
pub struct Queue {
    pub url: DatabaseUrl,
}

impl Queue {
    pub(crate) fn read(reader: &mut Reader, data_dir: &Path, database: &Database) -> Self {
        let url = if database.url.is_postgres() {
            reader.derived("queue.url", "database.url", || database.url.clone())
        } else {
            reader.derived("queue.url", "data_dir", || DatabaseUrl::sqlite(&data_dir.join("queue.db")))
        };
        Self { url }
    }
}
