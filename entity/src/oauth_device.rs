//! A device that waits for a person to sign it in.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_devices")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub device_hash: String,
    pub user_code_hash: String,
    pub client_hash: String,
    pub client_name: String,
    pub scopes: String,
    pub resource: Option<String>,
    pub expires_at: i64,
    pub polled_at: Option<i64>,
    pub decision: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
