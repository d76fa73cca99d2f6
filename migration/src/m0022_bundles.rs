//! Objects with several small contents, and which contents are in them.
//!
//! Processes of the previous release cannot read such a content. See "Upgrading" in `docs/OPERATIONS.md`.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
ALTER TABLE blobs ADD COLUMN bundle TEXT;
ALTER TABLE blobs ADD COLUMN bundle_offset BIGINT;
CREATE TABLE bundles (
    id TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    state TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    check_at BIGINT,
    CONSTRAINT bundles_pk PRIMARY KEY (id),
    CONSTRAINT bundles_state_known CHECK (state IN ('present', 'deleting')),
    CONSTRAINT bundles_size_not_negative CHECK (size_bytes >= 0)
);
CREATE INDEX bundles_to_check ON bundles (check_at);
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
