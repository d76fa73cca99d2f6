//! An index for a person's own entries of the audit log. Few entries have a person.

use sea_orm_migration::prelude::*;

use crate::m0006_indexes_in_use::build_in_use;

#[derive(DeriveMigrationName)]
pub struct Migration;

const INDEXES: [(&str, &str); 1] =
    [("audit_by_person", "audit (user_id, created_at) WHERE user_id IS NOT NULL")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        build_in_use(manager, &INDEXES).await
    }
}
