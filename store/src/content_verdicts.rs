//! Verdicts by content. A content that was scanned once, for any account, is not scanned again with the same
//! rules.

use anyhow::Context;
use domain::{AccountStatus, Manifest, ModerationStatus, ScannedContent, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter};

use crate::handles::{ScanStore, Upkeep};
use crate::many::insert_rows;
use crate::rows;
use entity::content_verdict::{ActiveModel, Column, Entity};

/// What a scan needs to know about a version.
#[derive(Clone, Debug)]
pub struct ScanSubject {
    pub manifest: Manifest,
    /// Whether its account is provisional.
    pub is_provisional: bool,
}

/// The conclusion of a scan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredVerdict {
    pub status: ModerationStatus,
    pub evidence: String,
}

/// A verdict to store by its content.
pub(crate) struct NewVerdict<'a> {
    pub content: ScannedContent,
    pub rules: i32,
    pub status: ModerationStatus,
    pub evidence: &'a str,
    pub now: Time,
}

#[derive(FromQueryResult)]
struct SubjectRow {
    manifest: String,
    account_status: String,
}

impl ScanStore<'_> {
    /// What a scan needs to know about a version. `None` if the version does not exist.
    pub async fn find_subject(self, version: VersionId) -> anyhow::Result<Option<ScanSubject>> {
        let sql = "SELECT version.manifest, account.status AS account_status FROM versions AS version
             JOIN accounts AS account ON account.id = version.account_id WHERE version.id = $1";
        let found: Vec<SubjectRow> = self
            .0
            .database
            .find(sql.to_owned(), [version.to_string().into()])
            .await
            .context("read a version to scan")?;
        let subject = |row: SubjectRow| {
            let manifest = rows::manifest(&row.manifest)?;
            let is_provisional = row.account_status == AccountStatus::Provisional.as_str();
            Ok(ScanSubject { manifest, is_provisional })
        };
        found.into_iter().next().map(subject).transpose()
    }

    /// The stored verdict of these rules on a content, if there is one.
    pub async fn find_content_verdict(
        self,
        content: ScannedContent,
        rules: u32,
    ) -> anyhow::Result<Option<StoredVerdict>> {
        let id = (content.to_string(), i32::try_from(rules)?);
        let found =
            Entity::find_by_id(id).one(&self.0.database.reader).await.context("read a stored verdict")?;
        let verdict = |row: entity::content_verdict::Model| {
            Ok(StoredVerdict { status: rows::moderation(&row.status)?, evidence: row.evidence })
        };
        found.map(verdict).transpose()
    }
}

impl Upkeep<'_> {
    /// Deletes verdicts of older rules and old verdicts, and returns their number. It deletes at most
    /// `at_most`, because one statement for all would block every other writer.
    pub async fn sweep_content_verdicts(
        self,
        rules: u32,
        judged_before: Time,
        at_most: u64,
    ) -> anyhow::Result<u64> {
        let is_old = Column::Rules.lt(i32::try_from(rules)?).or(Column::JudgedAt.lt(judged_before.millis()));
        let old = Query::select()
            .columns([Column::Content, Column::Rules])
            .from(Entity)
            .and_where(is_old)
            .limit(at_most)
            .to_owned();
        let key = Expr::tuple([Expr::col(Column::Content), Expr::col(Column::Rules)]);
        let swept = Entity::delete_many().filter(key.in_subquery(old)).exec(&self.0.database.writer).await;
        Ok(swept.context("delete old verdicts")?.rows_affected)
    }
}

/// Stores verdicts within the transaction that writes them to their versions. An existing verdict is kept.
pub(crate) async fn insert(
    connection: &impl ConnectionTrait,
    mut verdicts: Vec<NewVerdict<'_>>,
) -> anyhow::Result<()> {
    // Two transactions with the same verdicts must take their locks in the same order.
    verdicts.sort_by_key(|verdict| (verdict.content, verdict.rules));
    verdicts.dedup_by_key(|verdict| (verdict.content, verdict.rules));
    let row = |verdict: &NewVerdict<'_>| ActiveModel {
        content: Set(verdict.content.to_string()),
        rules: Set(verdict.rules),
        status: Set(verdict.status.as_str().to_owned()),
        evidence: Set(verdict.evidence.to_owned()),
        judged_at: Set(verdict.now.millis()),
    };
    let mut once = OnConflict::columns([Column::Content, Column::Rules]);
    once.do_nothing();
    insert_rows::<Entity>(connection, verdicts.iter().map(row), Some(once)).await.context("store verdicts")
}
