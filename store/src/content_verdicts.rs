//! Verdicts by content. A content that was scanned once, for any account, is not scanned again with the same
//! rules.

use std::collections::HashMap;
use std::sync::Arc;

use anyhow::Context;
use domain::{AccountStatus, Manifest, ModerationStatus, ScannedContent, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query};
use sea_orm::{ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, QueryFilter};

use crate::handles::{ScanStore, Upkeep};
use crate::many::{among, insert_rows};
use crate::read_batch::ReadBatch;
use crate::{Store, rows};
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
    id: String,
    manifest: String,
    account_status: String,
}

/// Reads for concurrent scans, which share statements. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ScanReader {
    subjects: ReadBatch<VersionId, anyhow::Result<Option<ScanSubject>>>,
    verdicts: ReadBatch<(ScannedContent, u32), anyhow::Result<Option<StoredVerdict>>>,
}

impl ScanReader {
    pub fn start(store: Store) -> Self {
        let verdict_store = store.clone();
        Self {
            subjects: ReadBatch::start(move |versions: Arc<[VersionId]>| {
                let store = store.clone();
                async move { store.scans().find_subjects(&versions).await }
            }),
            verdicts: ReadBatch::start(move |contents: Arc<[(ScannedContent, u32)]>| {
                let store = verdict_store.clone();
                async move { store.scans().find_content_verdicts(&contents).await }
            }),
        }
    }

    /// What a scan needs to know about a version. `None` if the version does not exist.
    pub async fn find_subject(&self, version: VersionId) -> anyhow::Result<Option<ScanSubject>> {
        self.subjects.read(version).await?
    }

    /// The stored verdict of these rules on a content, if there is one.
    pub async fn find_content_verdict(
        &self,
        content: ScannedContent,
        rules: u32,
    ) -> anyhow::Result<Option<StoredVerdict>> {
        self.verdicts.read((content, rules)).await?
    }
}

impl SubjectRow {
    fn subject(&self) -> anyhow::Result<ScanSubject> {
        let manifest = rows::manifest(&self.manifest)?;
        let is_provisional = self.account_status == AccountStatus::Provisional.as_str();
        Ok(ScanSubject { manifest, is_provisional })
    }
}

impl ScanStore<'_> {
    /// The subject of each of these versions. A manifest that cannot be parsed affects only its own
    /// version.
    async fn find_subjects(
        self,
        versions: &[VersionId],
    ) -> anyhow::Result<Vec<anyhow::Result<Option<ScanSubject>>>> {
        use entity::{account, version};
        let reader = &self.0.database.reader;
        let is_owner = Expr::col((account::Entity, account::Column::Id))
            .equals((version::Entity, version::Column::AccountId));
        let select = Query::select()
            .column((version::Entity, version::Column::Id))
            .column((version::Entity, version::Column::Manifest))
            .expr_as(Expr::col((account::Entity, account::Column::Status)), "account_status")
            .from(version::Entity)
            .inner_join(account::Entity, is_owner)
            .and_where(among(reader, version::Column::Id, versions.iter().map(VersionId::to_string)))
            .to_owned();
        let found = reader.query_all(&select).await.context("read versions to scan")?;
        let found = found.iter().map(|row| SubjectRow::from_query_result(row, ""));
        let found = found.map(|row| row.map(|row| (row.id.clone(), row)));
        let by_id: HashMap<String, SubjectRow> = found.collect::<Result<_, _>>()?;
        let subject_of = |version: &VersionId| by_id.get(&version.to_string()).map(SubjectRow::subject);
        Ok(versions.iter().map(|version| subject_of(version).transpose()).collect())
    }

    /// The stored verdict on each of these contents. A row that cannot be read affects only its own content.
    async fn find_content_verdicts(
        self,
        contents: &[(ScannedContent, u32)],
    ) -> anyhow::Result<Vec<anyhow::Result<Option<StoredVerdict>>>> {
        let reader = &self.0.database.reader;
        let wanted = contents.iter().map(|(content, _)| content.to_string());
        let found = Entity::find().filter(among(reader, Column::Content, wanted)).all(reader).await;
        let found = found.context("read stored verdicts")?;
        let by_key: HashMap<(&str, i32), &entity::content_verdict::Model> =
            found.iter().map(|row| ((row.content.as_str(), row.rules), row)).collect();
        let verdict_of = |(content, rules): &(ScannedContent, u32)| {
            let content = content.to_string();
            let Some(row) = by_key.get(&(content.as_str(), i32::try_from(*rules)?)) else {
                return Ok(None);
            };
            let (status, evidence) = (rows::moderation(&row.status)?, row.evidence.clone());
            Ok(Some(StoredVerdict { status, evidence }))
        };
        Ok(contents.iter().map(verdict_of).collect())
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
