//! A grant to an OAuth client, which extends a token.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oauth_grants")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub token_id: String,
    pub client_hash: String,
    pub resource: Option<String>,
    pub code_hash: String,
    pub code_expires_at: i64,
    pub redirect_uri: Option<String>,
    pub challenge: Option<String>,
    pub exchanged_at: Option<i64>,
    pub family_hash: Option<String>,
    pub refresh_hash: Option<String>,
    pub ends_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
