//! By which rules a version was judged, and when it is to be scanned again, on the version itself.
//!
//! Processes of the release before know none of these columns and write none: what they judge looks unscanned here,
//! and is scanned once more. Their own index (`versions_unscanned`) stays for them.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A table of many versions takes its time, whatever the pool allows a statement.
const POSTGRES_PATIENCE: &str = "SET LOCAL statement_timeout = 0";

/// `scanned_by` is the number of the rules that judged the version last: none before its first scan, 0 while an operator
/// asks for another. Until now only the first rules have judged.
const SQL: &str = "
ALTER TABLE versions ADD COLUMN scanned_by INTEGER;
ALTER TABLE versions ADD COLUMN scan_tries INTEGER NOT NULL DEFAULT 0
    CONSTRAINT versions_scan_tries_not_negative CHECK (scan_tries >= 0);
ALTER TABLE versions ADD COLUMN scan_again_at BIGINT NOT NULL DEFAULT 0;
UPDATE versions SET scanned_by = 1 WHERE EXISTS (
    SELECT 1 FROM moderation_decisions AS decision
    WHERE decision.version_id = versions.id AND decision.source = 'scan'
);
CREATE INDEX versions_by_rules ON versions (scanned_by, scan_again_at);
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
