//! The views of a host on a day. Days count from 1970.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "daily_views")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub host: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: i64,
    pub account_id: String,
    pub views: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
