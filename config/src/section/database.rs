//! The database. Unset, it is a file in the data directory, so that one program and a directory are enough.

use std::path::Path;

use crate::reader::Reader;
use crate::secret::DatabaseUrl;
use crate::value::PoolSize;

/// The database of accounts, artifacts and the ledger.
#[derive(Clone, Debug)]
pub struct Database {
    pub url: DatabaseUrl,
    /// The limit of one process' connections to PostgreSQL.
    pub connections_max: u32,
}

impl Database {
    pub(crate) fn read(reader: &mut Reader, data_dir: &Path) -> Option<Self> {
        let url =
            reader.derived("database.url", "data_dir", || DatabaseUrl::sqlite(&data_dir.join("handbill.db")));
        let connections_max = reader.required::<PoolSize>("database.connections_max");
        Some(Self { url, connections_max: connections_max?.0 })
    }
}
