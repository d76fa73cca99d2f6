//! What the scanner concluded of a content, by the rules of one number.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "content_verdicts")]
pub struct Model {
    /// The hash of what was judged, with all that the verdict depends on beside the rules.
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
