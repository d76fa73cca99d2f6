//! A paid checkout session, the account that it credited, and how much was refunded or disputed since.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "card_payments")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub session: String,
    pub account_id: String,
    pub payment_intent: Option<String>,
    pub credited_micro: i64,
    pub refunded_micro: i64,
    pub disputed_micro: i64,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
