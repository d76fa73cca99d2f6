//! Indexes for the few accounts and artifacts that have a rule of retention.

use sea_orm_migration::prelude::*;

use crate::m0006_indexes_in_use::build_in_use;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: [(&str, &str); 2] = [
    ("accounts_with_retention", "accounts (id) WHERE versions_kept IS NOT NULL OR versions_days IS NOT NULL"),
    (
        "artifacts_with_retention",
        "artifacts (account_id) WHERE versions_kept IS NOT NULL OR versions_days IS NOT NULL",
    ),
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
