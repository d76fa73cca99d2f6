//! Copies a live database into a file, from one snapshot. This is for SQLite only; PostgreSQL has its own
//! tools.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sea_orm::DbBackend;
use sqlx::sqlite::SqliteConnectOptions;

use crate::Store;

impl Store {
    /// Writes the committed state to a new file. Writers are not blocked.
    pub async fn snapshot_into(&self, file: &Path) -> anyhow::Result<()> {
        if self.database.reader.get_database_backend() != DbBackend::Sqlite {
            bail!("only a SQLite database can be copied into a file");
        }
        let path = file.to_str().context("the path of a snapshot must be text")?;
        // A copy of the live file would lack the write-ahead log or catch half of a commit.
        sqlx::query("VACUUM INTO ?1")
            .bind(path)
            .execute(self.database.reader.get_sqlite_connection_pool())
            .await
            .context("take a snapshot of the database")?;
        Ok(())
    }

    /// The newest migration that was applied to the database, such as `m0001_the_house`.
    pub async fn schema(&self) -> anyhow::Result<String> {
        migration::newest_applied(&self.database.reader)
            .await
            .context("read the schema's history")?
            .context("the database has no schema yet")
    }

    /// The newest migration that this program contains.
    pub fn known_schema() -> String {
        migration::newest_known()
    }
}

/// The file of a SQLite URL. `None` for other URLs.
pub fn sqlite_file(url: &str) -> anyhow::Result<Option<PathBuf>> {
    if !url.starts_with("sqlite:") {
        return Ok(None);
    }
    let options: SqliteConnectOptions = url.parse().context("the address of a SQLite database")?;
    Ok(Some(options.get_filename().to_owned()))
}
