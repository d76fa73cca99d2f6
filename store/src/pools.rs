//! The usage of the connection pools, for metrics.

use sea_orm::{DatabaseConnection, DbBackend, sqlx};
use telemetry::levels::PoolLevel;

use crate::Store;

impl Store {
    /// SQLite has a pool for its writer and one for readers. PostgreSQL has one for both.
    pub fn pools(&self) -> Vec<PoolLevel> {
        let (writer, reader) = (&self.database.writer, &self.database.reader);
        match writer.get_database_backend() {
            DbBackend::Postgres => vec![level_of("database", writer.get_postgres_connection_pool())],
            DbBackend::Sqlite => [("writer", writer), ("reader", reader)].map(sqlite_level).to_vec(),
            _ => Vec::new(),
        }
    }
}

fn sqlite_level((name, pool): (&'static str, &DatabaseConnection)) -> PoolLevel {
    level_of(name, pool.get_sqlite_connection_pool())
}

fn level_of<DB: sqlx::Database>(pool: &'static str, connections: &sqlx::Pool<DB>) -> PoolLevel {
    let max = connections.options().get_max_connections();
    PoolLevel::new(pool, connections.size(), connections.num_idle(), max)
}
