//! An index for the contents of a bundle.

use sea_orm_migration::prelude::*;

use crate::m0006_indexes_in_use::build_in_use;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Partial, because most contents have their own object.
const INDEXES: [(&str, &str); 1] = [("blobs_by_bundle", "blobs (bundle, hash) WHERE bundle IS NOT NULL")];

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        Some(false)
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        build_in_use(manager, &INDEXES).await
    }
}
