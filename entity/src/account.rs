//! An account. The ledger locks this row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "accounts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub handle: String,
    pub status: String,
    pub expires_at: Option<i64>,
    pub claim_code: String,
    pub balance_micro: i64,
    pub ledger_entries: i64,
    pub allow_agent_join: bool,
    pub provisional_publishes: i64,
    pub storage_bytes: i64,
    pub artifact_count: i64,
    pub has_real_payment: bool,
    pub created_at: i64,
    pub claimed_at: Option<i64>,
    pub suspended_at: Option<i64>,
    pub suspension_reason: Option<String>,
    pub versions_kept: Option<i32>,
    pub versions_days: Option<i32>,
    /// The name that an owner has given it.
    pub name: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
