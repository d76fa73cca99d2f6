//! From where an entry of the audit trail came, and of whom it is; and from where a session was opened.
//!
//! Processes of the release before write none of these, so they are null in their rows.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE audit ADD COLUMN user_id TEXT;
ALTER TABLE audit ADD COLUMN via TEXT;
ALTER TABLE audit ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN address TEXT;
ALTER TABLE sessions ADD COLUMN user_agent TEXT;";

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
