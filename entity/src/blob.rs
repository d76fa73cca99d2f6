//! A file content in the blob store, identified by its SHA-256.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "blobs")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    pub size_bytes: i64,
    pub variants: String,
    pub state: String,
    pub touched_at: i64,
    pub created_at: i64,
    /// When a scrub found it missing. NULL as long as no scrub did.
    pub lost_at: Option<i64>,
    /// The bundle that holds it. NULL: it has its own object.
    pub bundle: Option<String>,
    pub bundle_offset: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
