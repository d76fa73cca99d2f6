//! A copy of the whole database in a file, as of one moment, made while others go on writing. SQLite alone: PostgreSQL
//! has tools of its own for that.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use sea_orm::DbBackend;
use sqlx::sqlite::SqliteConnectOptions;

use crate::Store;

impl Store {
    /// Writes what is committed by now to a file that must not be there yet. Writers are not held up.
    pub async fn snapshot_into(&self, file: &Path) -> anyhow::Result<()> {
        if self.database.reader.get_database_backend() != DbBackend::Sqlite {
            bail!("only a SQLite database is copied into a file");
        }
        let path = file.to_str().context("the path of a snapshot must be text")?;
        // A copy of the live file would miss what its write-ahead log has, or catch half of a commit.
        sqlx::query("VACUUM INTO ?1")
            .bind(path)
            .execute(self.database.reader.get_sqlite_connection_pool())
            .await
            .context("take a snapshot of the database")?;
        Ok(())
    }

    /// The newest change that the schema has had, such as `m0001_the_house`.
    pub async fn schema(&self) -> anyhow::Result<String> {
        migration::newest_applied(&self.database.reader)
            .await
            .context("read the schema's history")?
            .context("the database has no schema yet")
    }

    /// The newest change of the schema that this program knows.
    pub fn known_schema() -> String {
        migration::newest_known()
    }
}

/// The file behind the address of a SQLite database; none behind another one.
pub fn sqlite_file(url: &str) -> anyhow::Result<Option<PathBuf>> {
    if !url.starts_with("sqlite:") {
        return Ok(None);
    }
    let options: SqliteConnectOptions = url.parse().context("the address of a SQLite database")?;
    Ok(Some(options.get_filename().to_owned()))
}
