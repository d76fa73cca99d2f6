//! A version that was live at a host. A trigger writes the row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "former_versions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub host: String,
    #[sea_orm(primary_key, auto_increment = false)]
    pub version_id: String,
    pub live_until: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
