//! Contents that no new version may contain, held pages, appeals, and the category of a report.
//!
//! Processes of the previous release neither read nor write these tables. While one of them is running:
//! - A version that it publishes is served until its scan. If a process of this release scans it, that
//!   process compares it with the list, and holds back a version that is newer than the hold of its page.
//! - A scan by an older process passes a version that only the list blocks, until a later scan.
//! - A version that waits for a moderator is served if an older process makes it live again.
//! - A page that an older process blocks is not held, and its files are not listed.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A blocked content outlives the page that contained it, so it has no foreign key. The first held pages are
/// those whose live version a moderator has blocked. The query repeats the condition of the index
/// `routes_objected_to` literally, so that SQLite uses it, and then adds which of the two statuses it wants.
const SQL: &str = "
ALTER TABLE reports ADD COLUMN category TEXT;
CREATE TABLE blocked_contents (
    hash TEXT NOT NULL,
    path TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    host TEXT NOT NULL,
    blocked_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT blocked_contents_pk PRIMARY KEY (hash)
);
CREATE INDEX blocked_contents_by_age ON blocked_contents (created_at, hash);
CREATE TABLE held_pages (
    artifact_id TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT held_pages_pk PRIMARY KEY (artifact_id),
    CONSTRAINT held_pages_artifact_fk FOREIGN KEY (artifact_id) REFERENCES artifacts (id) ON DELETE CASCADE
);
INSERT INTO held_pages (artifact_id, created_at)
SELECT route.artifact_id, route.updated_at
FROM routes AS route
JOIN versions AS version ON version.id = route.version_id
WHERE route.moderation_status IN ('review', 'blocked') AND route.moderation_status = 'blocked'
    AND version.moderated_by = 'moderator';
CREATE TABLE appeals (
    id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    version_id TEXT NOT NULL,
    message TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    handled_at BIGINT,
    CONSTRAINT appeals_pk PRIMARY KEY (id),
    CONSTRAINT appeals_version_unique UNIQUE (version_id),
    CONSTRAINT appeals_version_fk FOREIGN KEY (version_id) REFERENCES versions (id) ON DELETE CASCADE
);
CREATE INDEX appeals_by_artifact ON appeals (artifact_id, id);
CREATE INDEX appeals_open ON appeals (artifact_id) WHERE handled_at IS NULL;
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
