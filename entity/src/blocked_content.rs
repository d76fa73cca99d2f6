//! A content that no new version may bring, since a moderator blocked a page with it.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "blocked_contents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The path that it had on the page that was blocked.
    pub path: String,
    pub size_bytes: i64,
    /// The page that was blocked.
    pub host: String,
    /// The moderator, as the audit trail names an actor.
    pub blocked_by: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
