//! The versions that were live at a host, and until when. For a day, edges serve their fingerprinted files to
//! pages that a browser loaded before a publish.
//!
//! A trigger writes the rows, so that processes of the previous release write them too.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Without a foreign key, because a publish would have to check it. Readers join the versions.
const TABLE: &str = "
CREATE TABLE former_versions (
    host TEXT NOT NULL,
    version_id TEXT NOT NULL,
    live_until BIGINT NOT NULL,
    CONSTRAINT former_versions_pk PRIMARY KEY (host, version_id)
);
CREATE INDEX former_versions_by_age ON former_versions (live_until);";

const POSTGRES: &str = "
CREATE FUNCTION record_former_version() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO former_versions (host, version_id, live_until)
    VALUES (OLD.host, OLD.version_id, NEW.updated_at)
    ON CONFLICT (host, version_id) DO UPDATE SET live_until = excluded.live_until;
    RETURN NULL;
END $$;
CREATE TRIGGER routes_repointed AFTER UPDATE ON routes
    FOR EACH ROW WHEN (OLD.version_id <> NEW.version_id) EXECUTE FUNCTION record_former_version();";

/// Within a trigger, SQLite replaces the conflict clause of a statement with that of the outer statement.
const SQLITE: &str = "
CREATE TRIGGER routes_repointed AFTER UPDATE ON routes WHEN OLD.version_id <> NEW.version_id BEGIN
    DELETE FROM former_versions WHERE host = OLD.host AND version_id = OLD.version_id;
    INSERT INTO former_versions (host, version_id, live_until)
    VALUES (OLD.host, OLD.version_id, NEW.updated_at);
END;";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        wait_briefly(manager).await?;
        let trigger = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        for sql in [TABLE, trigger] {
            manager.get_connection().execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
