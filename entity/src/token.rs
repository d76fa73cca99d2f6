//! A bearer token, identified by the hash of its secret.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "tokens")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub secret_hash: String,
    pub account_id: String,
    pub name: String,
    pub scopes: String,
    pub artifact_id: Option<String>,
    pub created_by_user: Option<String>,
    pub created_by_token: Option<String>,
    pub created_at: i64,
    pub expires_at: Option<i64>,
    pub revoked_at: Option<i64>,
    pub last_used_at: Option<i64>,
    pub renewable_until: Option<i64>,
    /// The beginning of the secret.
    pub secret_start: Option<String>,
    /// The address of the last use.
    pub last_used_from: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
