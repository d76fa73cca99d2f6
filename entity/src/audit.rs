//! Who did what to an account.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub account_id: Option<String>,
    /// Whose own trail it is in, for what concerns a person and no account.
    pub user_id: Option<String>,
    pub actor: String,
    pub action: String,
    pub subject: String,
    pub detail: String,
    /// The way in, and the client's address.
    pub via: Option<String>,
    pub address: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
