//! Where the truth is kept. Unset, it is a file in the data directory, so that one program and a folder are enough.

use std::path::Path;

use crate::reader::Reader;
use crate::secret::DatabaseUrl;

/// Where accounts, artifacts and the ledger are kept.
#[derive(Clone, Debug)]
pub struct Database {
    pub url: DatabaseUrl,
}

impl Database {
    pub(crate) fn read(reader: &mut Reader, data_dir: &Path) -> Self {
        let url =
            reader.derived("database.url", "data_dir", || DatabaseUrl::sqlite(&data_dir.join("handbill.db")));
        Self { url }
    }
}
