//! What was decided of a version, by whom, and on what evidence.

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
    /// The person, by their id.
    pub decided_by: Option<String>,
    /// One of the operator's people, by name.
    pub operator: Option<String>,
    pub note: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
