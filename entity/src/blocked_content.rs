//! A content that no new version may contain, because a moderator blocked a page with it.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "blocked_contents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub hash: String,
    /// The path of the file on the blocked page.
    pub path: String,
    pub size_bytes: i64,
    /// The blocked page.
    pub host: String,
    /// The moderator, in the form of an actor of the audit log.
    pub blocked_by: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
