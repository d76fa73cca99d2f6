//! The verdict of one rules version on a content.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "content_verdicts")]
pub struct Model {
    /// A hash of the scanned content and everything else that the verdict depends on besides the rules.
    #[sea_orm(primary_key, auto_increment = false)]
    pub content: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub rules: i32,
    pub status: String,
    pub evidence: String,
    pub judged_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
