//! When a scrub found a content missing from the blob store, on the content's row, so that the next publish of it stores it
//! again.
//!
//! Processes of the release before know nothing of the column: they count on such a content, as they did.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "ALTER TABLE blobs ADD COLUMN lost_at BIGINT;";

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
