//! SQLite reads the rows of versions, which are long, instead of the index `versions_shown`, unless it knows
//! that the index has one row for each id. This is written as a statistic, because those that `ANALYZE`
//! gathers in a small database mislead the query planner when the database has grown.
//!
//! PostgreSQL gathers statistics by itself.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// The first statement creates the table of statistics, and the last one loads them. A million rows is what
/// SQLite assumes of any table without statistics.
const SQLITE: &str = "
ANALYZE sqlite_schema;
DELETE FROM sqlite_stat1 WHERE idx = 'versions_shown';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES ('versions', 'versions_shown', '1000000 1 1 1');
ANALYZE sqlite_schema;";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        if manager.get_database_backend() == DbBackend::Sqlite {
            manager.get_connection().execute_unprepared(SQLITE).await?;
        }
        Ok(())
    }
}
