//! Indexes on tables that are full and in use: on PostgreSQL they are built beside the processes that read and write
//! there, in no transaction. Whatever cuts it off, the next start goes on: what is complete stays, what is half built
//! is built anew.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::sqlx::{
    self, AssertSqlSafe, Connection, PgConnection, query_scalar, raw_sql,
};
use sea_orm_migration::sea_orm::{DatabaseConnection, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Each with its name, and what it is on. Whatever is looked for is few among many, so most hold those few.
const INDEXES: [(&str, &str); 10] = [
    // Word for word the conditions that `store` asks with: SQLite does not use them otherwise.
    (
        "versions_without_verdict",
        "versions (scan_again_at) WHERE scanned_by IS NULL OR moderated_by = 'nobody'",
    ),
    ("versions_by_rules", "versions (scanned_by, scan_again_at)"),
    ("versions_asked_again", "versions (scan_again_at) WHERE rescan_asked_at IS NOT NULL"),
    ("versions_tried", "versions (id) WHERE scan_tries > 0"),
    ("moderation_decisions_by_artifact", "moderation_decisions (artifact_id, id)"),
    ("moderation_decisions_by_people", "moderation_decisions (id) WHERE source = 'moderator'"),
    ("routes_objected_to", "routes (moderation_status) WHERE moderation_status IN ('review', 'blocked')"),
    ("routes_by_version", "routes (version_id)"),
    ("reports_by_artifact", "reports (artifact_id, created_at)"),
    ("reports_open_by_artifact", "reports (artifact_id, created_at) WHERE handled_at IS NULL"),
];

/// One builds at a time: what another is building looks half built to everybody else.
const BUILDERS_LOCK: &str = "SELECT pg_try_advisory_lock(hashtext('handbill indexes'))";
/// A large table takes its time, whatever the pool allows a statement. Waiting for a lock would make others wait, but
/// this takes none that they mind.
const PATIENCE: &str = "SET statement_timeout = 0";
/// The end of the session would do, but a moment later, and the next change may have indexes to build as well.
const BUILDERS_UNLOCK: &str = "SELECT pg_advisory_unlock(hashtext('handbill indexes'))";
const IS_HALF_BUILT: &str = "SELECT EXISTS (
    SELECT FROM pg_index WHERE indexrelid = to_regclass($1::text) AND NOT indisvalid
)";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        build_in_use(manager, &INDEXES).await
    }
}

/// Builds those of the indexes that are not there, each given as its name and what it is on. Later changes build theirs
/// by it as well.
pub(crate) async fn build_in_use(
    manager: &SchemaManager<'_>,
    indexes: &[(&'static str, &'static str)],
) -> Result<(), DbErr> {
    let connection = manager.get_connection();
    if let SchemaManagerConnection::Connection(database) = connection
        && manager.get_database_backend() == DbBackend::Postgres
    {
        return build_beside_others(database, indexes).await;
    }
    for &(name, on) in indexes {
        connection.execute_unprepared(&format!("CREATE INDEX IF NOT EXISTS {name} ON {on}")).await?;
    }
    Ok(())
}

async fn build_beside_others(
    database: &DatabaseConnection,
    indexes: &[(&'static str, &'static str)],
) -> Result<(), DbErr> {
    let session = database.get_postgres_connection_pool().acquire().await.map_err(told)?;
    // It never goes back to the pool: it has a lock and a patience of its own.
    let mut session = session.detach();
    build(&mut session, indexes).await?;
    session.close().await.map_err(told)
}

async fn build(session: &mut PgConnection, indexes: &[(&'static str, &'static str)]) -> Result<(), DbErr> {
    raw_sql(PATIENCE).execute(&mut *session).await.map_err(told)?;
    let is_ours: bool = query_scalar(BUILDERS_LOCK).fetch_one(&mut *session).await.map_err(told)?;
    if !is_ours {
        let busy = "another process is building the database's indexes; start again when it is done";
        return Err(DbErr::Custom(busy.to_owned()));
    }
    for &(name, on) in indexes {
        let is_half_built: bool =
            query_scalar(IS_HALF_BUILT).bind(name).fetch_one(&mut *session).await.map_err(told)?;
        if is_half_built {
            let drop = AssertSqlSafe(format!("DROP INDEX CONCURRENTLY {name}"));
            raw_sql(drop).execute(&mut *session).await.map_err(told)?;
        }
        let create = AssertSqlSafe(format!("CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON {on}"));
        raw_sql(create).execute(&mut *session).await.map_err(told)?;
    }
    raw_sql(BUILDERS_UNLOCK).execute(&mut *session).await.map_err(told)?;
    Ok(())
}

fn told(error: sqlx::Error) -> DbErr {
    DbErr::Custom(format!("build an index: {error}"))
}
