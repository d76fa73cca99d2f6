//! The usage and the reachability of the queue's own connections.

use anyhow::Context;
use telemetry::levels::PoolLevel;

use crate::Queues;
use crate::sql::on_either;

impl Queues {
    pub fn pool(&self) -> PoolLevel {
        on_either!(&self.database, pool => level_of(pool))
    }

    /// Returns once the queue's database has responded.
    pub async fn ping(&self) -> anyhow::Result<()> {
        on_either!(&self.database, pool => sqlx::query("SELECT 1").execute(pool).await.map(drop))
            .context("ping the queue's database")
    }
}

fn level_of<DB: sqlx::Database>(connections: &sqlx::Pool<DB>) -> PoolLevel {
    let max = connections.options().get_max_connections();
    PoolLevel::new("queue", connections.size(), connections.num_idle(), max)
}
