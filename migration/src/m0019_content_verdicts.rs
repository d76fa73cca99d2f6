//! Verdicts by content, so that the same files are scanned once for all accounts; and the time from which a
//! route's documents are held back although its version is still pending.
//!
//! Processes of the previous release write neither. A content without a row is scanned, and a route without
//! the time is held back only by the age of the oldest pending version.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
CREATE TABLE content_verdicts (
    content TEXT NOT NULL,
    rules INTEGER NOT NULL,
    status TEXT NOT NULL,
    evidence TEXT NOT NULL,
    judged_at BIGINT NOT NULL,
    CONSTRAINT content_verdicts_pk PRIMARY KEY (content, rules)
);
CREATE INDEX content_verdicts_by_age ON content_verdicts (judged_at);
ALTER TABLE routes ADD COLUMN held_from BIGINT;
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
