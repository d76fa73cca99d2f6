//! A signed-in browser, identified by the hash of its cookie.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub secret_hash: String,
    pub user_id: String,
    pub created_at: i64,
    pub last_used_at: i64,
    pub expires_at: i64,
    /// The address that opened it.
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
