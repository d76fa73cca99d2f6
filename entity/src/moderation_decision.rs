//! A decision on a version: by whom, and with what evidence.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "moderation_decisions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub version_id: String,
    pub artifact_id: String,
    pub status: String,
    pub source: String,
    pub evidence: String,
    pub scanner_version: Option<String>,
    /// The user id, if a person decided.
    pub decided_by: Option<String>,
    /// The name of the operator's staff, if one of them decided.
    pub operator: Option<String>,
    pub note: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
