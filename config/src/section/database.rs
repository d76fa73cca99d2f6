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
