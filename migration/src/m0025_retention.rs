//! How many versions an account or an artifact keeps, and for how many days. NULL: no limit.
//!
//! Processes of the previous release refuse the settings as unknown fields, and delete no versions.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE accounts ADD COLUMN versions_kept INTEGER;
ALTER TABLE accounts ADD COLUMN versions_days INTEGER;
ALTER TABLE artifacts ADD COLUMN versions_kept INTEGER;
ALTER TABLE artifacts ADD COLUMN versions_days INTEGER;";

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
