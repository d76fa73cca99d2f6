//! Drops the index `daily_views_of_pages`, which contained the views of each day. Each counted view had to
//! change it too, and on PostgreSQL no update of the table could be HOT. Since `monthly_views` exists, only the
//! chart of an account's views by day reads many rows of `daily_views`. `daily_views_by_account` finds them.

use sea_orm_migration::prelude::*;

use crate::{IN_ONE_GO, wait_briefly};

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "DROP INDEX IF EXISTS daily_views_of_pages;";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        wait_briefly(manager).await?;
        manager.get_connection().execute_unprepared(SQL).await?;
        Ok(())
    }
}
