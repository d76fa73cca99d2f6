//! The files of one publish. The manifest never changes.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "versions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: String,
    pub artifact_id: String,
    pub account_id: String,
    pub seq: i32,
    pub manifest: String,
    pub total_bytes: i64,
    pub file_count: i32,
    pub created_via: String,
    pub created_by: Option<String>,
    pub message: Option<String>,
    pub moderation_status: String,
    pub moderated_by: String,
    pub created_at: i64,
    /// The rules version of the last verdict. 0 if a process without rules versions wrote this row.
    pub scanned_by: Option<i32>,
    /// When the last verdict was recorded.
    pub scanned_at: Option<i64>,
    /// When an operator requested a rescan.
    pub rescan_asked_at: Option<i64>,
    /// How many scans were started since the last verdict.
    pub scan_tries: i32,
    /// The scan is not queued again before this time.
    pub scan_again_at: i64,
    /// The title of its front page. NULL if it has none, or was published before titles were stored.
    pub title: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
