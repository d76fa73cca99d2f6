//! By what a person recognizes a token: the beginning of its secret, and from where it was last used. NULL: not
//! known, because it was stored or used before this migration.
//!
//! Processes of the previous release store and change neither.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE tokens ADD COLUMN secret_start TEXT;
ALTER TABLE tokens ADD COLUMN last_used_from TEXT;";

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
