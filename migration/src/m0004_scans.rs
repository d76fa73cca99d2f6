//! Columns of a version for the rules of its last scan and the time of its next one, and the position of the
//! walk through live versions. `m0006_indexes_in_use` adds the indexes.
//!
//! No row is rewritten: existing rows read the default. Processes of the previous release do not know these
//! columns and do not write them. Versions that they publish read the default. A verdict that they write
//! looks like an old one, so the version is scanned once more.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `scanned_by` is the rules version of the last verdict. NULL: this release or a later one published the
/// version, and it has no verdict yet. 0: a process without rules versions wrote the row, so either older
/// rules have scanned it or `moderated_by` is still `nobody`.
const SQL: &str = "
ALTER TABLE versions ADD COLUMN scanned_by INTEGER DEFAULT 0;
ALTER TABLE versions ADD COLUMN scanned_at BIGINT;
ALTER TABLE versions ADD COLUMN rescan_asked_at BIGINT;
ALTER TABLE versions ADD COLUMN scan_tries INTEGER NOT NULL DEFAULT 0;
ALTER TABLE versions ADD COLUMN scan_again_at BIGINT NOT NULL DEFAULT 0;
CREATE TABLE rescan_walks (
    rules INTEGER NOT NULL,
    after_host TEXT,
    CONSTRAINT rescan_walks_pk PRIMARY KEY (rules)
);
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        wait_briefly(manager).await?;
        manager.get_connection().execute_unprepared(SQL).await?;
        Ok(())
    }
}
