//! The job queue: in the main database if that is PostgreSQL, else in a file of its own, because SQLite has
//! one writer per file and a push must never wait for the ledger.

use std::path::Path;

use crate::reader::Reader;
use crate::secret::DatabaseUrl;
use crate::section::database::Database;
use crate::value::PoolSize;

/// The job queue.
#[derive(Clone, Debug)]
pub struct Queue {
    pub url: DatabaseUrl,
    /// The limit of one process' connections to PostgreSQL.
    pub connections_max: u32,
}

impl Queue {
    pub(crate) fn read(reader: &mut Reader, data_dir: &Path, database: Option<&Database>) -> Option<Self> {
        let postgres = database.map(|database| &database.url).filter(|url| url.is_postgres());
        let url = if let Some(url) = postgres {
            reader.derived("queue.url", "database.url", || url.clone())
        } else {
            reader.derived("queue.url", "data_dir", || DatabaseUrl::sqlite(&data_dir.join("queue.db")))
        };
        let connections_max = reader.required::<PoolSize>("queue.connections_max");
        Some(Self { url, connections_max: connections_max?.0 })
    }
}
