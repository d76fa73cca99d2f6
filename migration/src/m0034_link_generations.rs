//! How often the link of a private page was replaced. Routes have a copy, because edges read only routes.
//!
//! Processes of the previous release accept and return the first link. While one runs, no link is replaced.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE artifacts ADD COLUMN link_generation INTEGER NOT NULL DEFAULT 0;
ALTER TABLE routes ADD COLUMN link_generation INTEGER NOT NULL DEFAULT 0;";

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
