//! The highest free limits that were in force in a month.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "monthly_limits")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub month: String,
    pub provisional_free_publishes: i64,
    pub claimed_free_publishes: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
