//! Everything that the edge needs to serve a host, in one row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "routes")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub host: String,
    pub account_id: String,
    pub artifact_id: String,
    pub version_id: String,
    pub visibility: String,
    pub moderation_status: String,
    pub expires_at: Option<i64>,
    pub published_at: i64,
    pub manifest: String,
    pub updated_at: i64,
    pub suspended_at: Option<i64>,
    /// When documents begin to be held back while the version is pending, because an attempt to scan it
    /// failed.
    pub held_from: Option<i64>,
    pub link_generation: i32,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
