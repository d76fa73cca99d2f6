//! The log of route changes, which edges follow to keep their cached routes.
//!
//! Triggers write it, so that no writer can omit a change, not even a process of the previous release.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// One row: the random id of this log, how often it was trimmed, and the highest position that was deleted.
const LOG: &str = "
CREATE TABLE route_log (
    id TEXT NOT NULL,
    trims BIGINT NOT NULL,
    trimmed_to BIGINT NOT NULL,
    CONSTRAINT route_log_pk PRIMARY KEY (id)
);";

/// Writers commit in any order, so a serial number would not say which changes a reader has seen. The
/// position is the id of the writing transaction, which a reader compares with its snapshot. The host of a
/// route never changes.
const POSTGRES: &str = "
INSERT INTO route_log (id, trims, trimmed_to) VALUES (CAST(gen_random_uuid() AS TEXT), 0, 0);
CREATE TABLE route_changes (
    position BIGINT NOT NULL,
    host TEXT NOT NULL,
    written_at BIGINT NOT NULL,
    CONSTRAINT route_changes_pk PRIMARY KEY (position, host)
);
CREATE FUNCTION record_route_change() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO route_changes (position, host, written_at) VALUES (
        CAST(CAST(pg_current_xact_id() AS TEXT) AS BIGINT),
        COALESCE(NEW.host, OLD.host),
        CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT)
    ) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;
CREATE TRIGGER routes_changed AFTER INSERT OR UPDATE OR DELETE ON routes
    FOR EACH ROW EXECUTE FUNCTION record_route_change();";

/// SQLite has one writer, so a serial number has the order of the commits.
const SQLITE: &str = "
INSERT INTO route_log (id, trims, trimmed_to) VALUES (lower(hex(randomblob(16))), 0, 0);
CREATE TABLE route_changes (
    position INTEGER CONSTRAINT route_changes_pk PRIMARY KEY AUTOINCREMENT,
    host TEXT NOT NULL,
    written_at BIGINT NOT NULL
);
CREATE TRIGGER routes_inserted AFTER INSERT ON routes BEGIN
    INSERT INTO route_changes (host, written_at)
    VALUES (NEW.host, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER routes_updated AFTER UPDATE ON routes BEGIN
    INSERT INTO route_changes (host, written_at)
    VALUES (NEW.host, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;
CREATE TRIGGER routes_deleted AFTER DELETE ON routes BEGIN
    INSERT INTO route_changes (host, written_at)
    VALUES (OLD.host, CAST(unixepoch('subsec') * 1000 AS INTEGER));
END;";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        wait_briefly(manager).await?;
        let log = match manager.get_database_backend() {
            DbBackend::Postgres => POSTGRES,
            _ => SQLITE,
        };
        for sql in [LOG, log] {
            manager.get_connection().execute_unprepared(sql).await?;
        }
        Ok(())
    }
}
