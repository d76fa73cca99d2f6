//! Indexes on large tables in use. On PostgreSQL they are built concurrently, outside a transaction. After an
//! interruption the next start continues: complete indexes stay, and invalid ones are built again.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::sqlx::{
    self, AssertSqlSafe, Connection, PgConnection, query_scalar, raw_sql,
};
use sea_orm_migration::sea_orm::{DatabaseConnection, DbBackend};

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Names and definitions. Queries look for few rows among many, so most of the indexes are partial.
const INDEXES: [(&str, &str); 10] = [
    // The conditions must match those of the queries in `store` literally, because SQLite does not use the
    // indexes otherwise.
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

/// One process builds at a time, because an index that another process is building looks invalid.
const BUILDERS_LOCK: &str = "SELECT pg_try_advisory_lock(hashtext('handbill indexes'))";
/// Building an index on a large table takes longer than the pool's statement timeout. A long wait for a lock
/// is harmless here, because a concurrent build takes no lock that blocks readers or writers.
const PATIENCE: &str = "SET statement_timeout = 0";
/// The end of the session would release the lock too, but slightly later, and the next migration may build
/// indexes as well.
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

/// Builds missing indexes, given as name and definition. Later migrations call it too.
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
    // The connection never returns to the pool, because it has a lock and a changed statement timeout.
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
