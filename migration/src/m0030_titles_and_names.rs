//! The title of a version's front page, and the name that an owner gives an account. NULL: none, or the
//! version was published before this migration.
//!
//! Processes of the previous release store versions without a title, and show no names.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE versions ADD COLUMN title TEXT;
ALTER TABLE accounts ADD COLUMN name TEXT;";

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
