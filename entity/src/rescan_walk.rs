//! How far the walk through the live versions has come, one row for the number of the rules it is made for.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "rescan_walks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub rules: i32,
    /// The last host that was looked at; none when all were.
    pub after_host: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
