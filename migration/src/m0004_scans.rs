//! By which rules a version was judged, and when it is to be scanned again, on the version itself; and how far the walk
//! through what is live has come. The indexes follow in `m0006_indexes_in_use`.
//!
//! It rewrites no row, however many there are: what is there reads the default. Processes of the release before know
//! none of these columns and write none. What they publish reads the default as well; what they judge looks as it did
//! before, and is scanned once more.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// `scanned_by` is the number of the rules that judged the version last. None: this program or a later one published it,
/// and it has no verdict yet. 0: a process that knew no numbers wrote it, so it was judged by rules older than all that
/// have one, or `moderated_by` is still `nobody`.
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
