//! The indexes of the dashboard's list: by the last change, and what else it reads of each row. The versions'
//! own rows are long, so the list reads their titles and states from an index.

use sea_orm_migration::prelude::*;

use crate::m0006_indexes_in_use::build_in_use;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: [(&str, &str); 3] = [
    ("artifacts_by_change", "artifacts (account_id, updated_at, id) WHERE deleted_at IS NULL"),
    ("versions_shown", "versions (id, moderation_status, title)"),
    ("daily_views_of_pages", "daily_views (account_id, day, host, views)"),
];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        build_in_use(manager, &INDEXES).await
    }
}
