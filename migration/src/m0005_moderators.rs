//! Who decided what of a page, and with which words; and what the moderators' queue is found by.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A table of many rows takes its time, whatever the pool allows a statement.
const POSTGRES_PATIENCE: &str = "SET LOCAL statement_timeout = 0";

/// Processes of the last release neither write nor read the new columns. Whatever is looked for by the queue is few
/// among many, so the indexes hold those few.
const SQL: &str = "
ALTER TABLE moderation_decisions ADD COLUMN operator TEXT;
ALTER TABLE moderation_decisions ADD COLUMN note TEXT;
CREATE INDEX moderation_decisions_by_artifact ON moderation_decisions (artifact_id, id);
CREATE INDEX moderation_decisions_by_people ON moderation_decisions (id) WHERE source = 'moderator';
CREATE INDEX routes_objected_to ON routes (moderation_status) WHERE moderation_status IN ('review', 'blocked');
CREATE INDEX routes_by_version ON routes (version_id);
CREATE INDEX reports_by_artifact ON reports (artifact_id, created_at);
CREATE INDEX reports_open_by_artifact ON reports (artifact_id, created_at) WHERE handled_at IS NULL;
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(POSTGRES_PATIENCE).await?;
        }
        connection.execute_unprepared(SQL).await?;
        Ok(())
    }
}
