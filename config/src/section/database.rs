//! Where the truth is kept. Unset, it is a file in the data directory, so that one program and a folder are enough.

use std::path::Path;

use crate::reader::Reader;
use crate::secret::DatabaseUrl;
use crate::value::PoolSize;

/// Where accounts, artifacts and the ledger are kept.
#[derive(Clone, Debug)]
pub struct Database {
    pub url: DatabaseUrl,
    /// Of one process, to PostgreSQL.
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
