//! An entry of the audit log.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "audit")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub account_id: Option<String>,
    /// The person whose own log has the entry, if it does not concern an account.
    pub user_id: Option<String>,
    pub actor: String,
    pub action: String,
    pub subject: String,
    pub detail: String,
    /// The interface that the actor used. `address` is the client's.
    pub via: Option<String>,
    pub address: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
