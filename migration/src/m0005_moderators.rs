//! Who made a moderation decision, and their note. `m0006_indexes_in_use` adds the indexes of the review
//! queue.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Processes of the previous release neither read nor write the new columns.
const SQL: &str = "
ALTER TABLE moderation_decisions ADD COLUMN operator TEXT;
ALTER TABLE moderation_decisions ADD COLUMN note TEXT;
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
