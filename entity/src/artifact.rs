//! A page or site, with a slug that is unique in its account and a globally unique host.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "artifacts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub account_id: String,
    pub slug: String,
    pub host: String,
    pub visibility: String,
    pub live_version_id: Option<String>,
    pub last_seq: i32,
    pub created_at: i64,
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
    pub versions_kept: Option<i32>,
    pub versions_days: Option<i32>,
    /// When it was purged. The row stays if a version is kept as evidence.
    pub purged_at: Option<i64>,
    /// How often the link of the private page was replaced.
    pub link_generation: i32,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
