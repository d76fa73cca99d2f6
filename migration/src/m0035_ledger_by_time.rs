//! The index for an account's charges of a month, which the usage page sums.

use sea_orm_migration::prelude::*;

use crate::m0006_indexes_in_use::build_in_use;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: [(&str, &str); 1] = [("ledger_entries_by_time", "ledger_entries (account_id, created_at)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        build_in_use(manager, &INDEXES).await
    }
}
