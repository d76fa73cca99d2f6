//! A moderator's decision, which outlives its page and account.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "rulings")]
pub struct Model {
    /// The id of the decision.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub host: String,
    pub seq: i32,
    pub status: String,
    /// The user id, if a person decided.
    pub decided_by: Option<String>,
    /// The name of the operator's staff, if one of them decided.
    pub operator: Option<String>,
    pub note: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
