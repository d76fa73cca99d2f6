//! How busy the queue's own connections are, for whoever watches this process, and whether its database is there.

use anyhow::Context;
use telemetry::levels::PoolLevel;

use crate::Queues;
use crate::database::Database;

impl Queues {
    pub fn pool(&self) -> PoolLevel {
        match &self.database {
            Database::Sqlite(pool) => level_of(pool),
            Database::Postgres(pool) => level_of(pool),
        }
    }

    /// Returns once the queue's database has answered.
    pub async fn ping(&self) -> anyhow::Result<()> {
        match &self.database {
            Database::Sqlite(pool) => sqlx::query("SELECT 1").execute(pool).await.map(drop),
            Database::Postgres(pool) => sqlx::query("SELECT 1").execute(pool).await.map(drop),
        }
        .context("ask the queue's database")
    }
}

fn level_of<DB: sqlx::Database>(connections: &sqlx::Pool<DB>) -> PoolLevel {
    PoolLevel {
        pool: "queue",
        open: connections.size(),
        idle: u32::try_from(connections.num_idle()).unwrap_or(u32::MAX),
        max: connections.options().get_max_connections(),
    }
}
