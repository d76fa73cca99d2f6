//! A moderator's word, kept beyond the page and the account that it was on.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "rulings")]
pub struct Model {
    /// That of the decision.
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub host: String,
    pub seq: i32,
    pub status: String,
    /// The person, by their id.
    pub decided_by: Option<String>,
    /// One of the operator's people, by name.
    pub operator: Option<String>,
    pub note: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
