//! When an artifact was purged, and the objects in the blob store that a purge must erase.
//!
//! Processes of the previous release neither read nor write either. They neither purge nor restore.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// An erasure outlives the rows of the object, so it has no foreign key.
const SQL: &str = "
ALTER TABLE artifacts ADD COLUMN purged_at BIGINT;
CREATE TABLE erasures (
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    revision BIGINT NOT NULL,
    claimed_until BIGINT NOT NULL,
    CONSTRAINT erasures_pk PRIMARY KEY (kind, name),
    CONSTRAINT erasures_kind_known CHECK (kind IN ('content', 'bundle'))
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
