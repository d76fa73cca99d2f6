//! The position of the walk through the live versions. One row per rules version.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "rescan_walks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub rules: i32,
    /// The last examined host. NULL when the walk is complete.
    pub after_host: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
