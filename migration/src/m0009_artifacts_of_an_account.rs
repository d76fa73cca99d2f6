//! An index for all artifacts of an account. A purge deletes them through their foreign key and would read
//! the whole table without it. `artifacts_slug_unique` does not help, because it leaves out deleted
//! artifacts.

use sea_orm_migration::prelude::*;

use crate::m0006_indexes_in_use::build_in_use;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: [(&str, &str); 1] = [("artifacts_by_account", "artifacts (account_id)")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        build_in_use(manager, &INDEXES).await
    }
}
