//! A page that a moderator has blocked. Its new versions wait for a moderator.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "held_pages")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub artifact_id: String,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
