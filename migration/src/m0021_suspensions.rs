//! Suspended accounts and the reasons. Their routes have a copy, because edges read only routes.
//!
//! Processes of the previous release ignore both until they are stopped. A page that they publish for a
//! suspended account is suspended when an operator suspends the account again.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE accounts ADD COLUMN suspended_at BIGINT;
ALTER TABLE accounts ADD COLUMN suspension_reason TEXT;
ALTER TABLE routes ADD COLUMN suspended_at BIGINT;";

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
