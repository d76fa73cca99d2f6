//! An object in the blob store from which purged contents must be erased.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "erasures")]
pub struct Model {
    /// `content` or `bundle`.
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: String,
    /// The hash of the content, or the id of the bundle.
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    /// Counts the purges since the row was inserted. An erasure that began before the last one is repeated.
    pub revision: i64,
    /// Until when a process is erasing it.
    pub claimed_until: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
