//! Views by page and day, for dashboards. Billing uses the monthly figures in `usage`.

use sea_orm_migration::prelude::*;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
CREATE TABLE daily_views (
    host TEXT NOT NULL,
    day BIGINT NOT NULL,
    account_id TEXT NOT NULL,
    views BIGINT NOT NULL,
    CONSTRAINT daily_views_pk PRIMARY KEY (host, day),
    CONSTRAINT daily_views_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT daily_views_not_negative CHECK (views >= 0)
);
CREATE INDEX daily_views_by_account ON daily_views (account_id, day);
CREATE INDEX versions_by_account ON versions (account_id, created_at);
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(SQL).await?;
        Ok(())
    }
}
