//! Moderators' decisions that outlive their page and account.
//!
//! Processes of the previous release neither read nor write this table: their decisions are deleted with the
//! account, as before.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// A large table takes longer than the pool's statement timeout.
const POSTGRES_PATIENCE: &str = "SET LOCAL statement_timeout = 0";

/// `id` is the id of the decision. There is no foreign key, so that nothing deletes a ruling.
const SQL: &str = "
CREATE TABLE rulings (
    id TEXT NOT NULL,
    host TEXT NOT NULL,
    seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    decided_by TEXT,
    operator TEXT,
    note TEXT,
    created_at BIGINT NOT NULL,
    CONSTRAINT rulings_pk PRIMARY KEY (id)
);
CREATE INDEX rulings_by_host ON rulings (host, id);
INSERT INTO rulings (id, host, seq, status, decided_by, operator, note, created_at)
SELECT decision.id, artifact.host, version.seq, decision.status, decision.decided_by, decision.operator, decision.note,
    decision.created_at
FROM moderation_decisions AS decision
JOIN versions AS version ON version.id = decision.version_id
JOIN artifacts AS artifact ON artifact.id = version.artifact_id
WHERE decision.source = 'moderator';
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(POSTGRES_PATIENCE).await?;
        }
        connection.execute_unprepared(SQL).await?;
        Ok(())
    }
}
