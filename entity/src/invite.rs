//! A code with which people and agents join an account.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "invites")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub code: String,
    pub account_id: String,
    pub role: String,
    pub max_uses: i32,
    pub uses: i32,
    pub expires_at: i64,
    pub revoked_at: Option<i64>,
    pub created_by_user: Option<String>,
    pub created_by_token: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
