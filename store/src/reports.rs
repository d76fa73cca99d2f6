//! Visitors' reports. A report is open until a moderator decides on the page. A report may send a page
//! without a verdict to review. It must never clear a page.

use anyhow::Context;
use domain::{
    ArtifactId, Chance, Host, ModeratedBy, ModerationStatus, ReportCategory, ReportId, ReportReason, Time,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::decisions::{Decision, note, set_status};
use crate::handles::ReportStore;
use crate::rows;
use crate::rows::account::lock_account;
use crate::rows::version::{reviewed_version, version_of};

/// How many reports a page lists at most, newest first.
pub const REPORTS_SHOWN_MAX: u64 = 100;

#[derive(Clone, Debug)]
pub struct NewReport {
    pub id: ReportId,
    pub host: Host,
    /// The version whose own address was reported, if it was one.
    pub seq: Option<u32>,
    pub reason: Option<ReportReason>,
    pub category: Option<ReportCategory>,
    pub now: Time,
}

/// A stored report.
#[derive(Clone, Debug)]
pub struct StoredReport {
    pub id: ReportId,
    /// The version that was reported, if it still exists.
    pub seq: Option<u32>,
    pub reason: Option<String>,
    /// The kind of abuse, if the reporter chose one.
    pub category: Option<ReportCategory>,
    pub at: Time,
    /// When a moderator's decision answered it.
    pub answered_at: Option<Time>,
}

/// The result of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportResult {
    NoSuchHost,
    /// The report is stored; the page's status is unchanged.
    Noted(ModerationStatus),
    /// The report is stored; the page's status changed from `pending` to `review`.
    SentToReview,
}

impl ReportStore<'_> {
    /// Stores a report. A page without a verdict goes to review.
    pub async fn create(self, report: &NewReport, chance: &Chance) -> anyhow::Result<ReportResult> {
        let named = rows::artifact::find_at(&self.0.database.reader, &report.host).await?;
        let Some(named) = named else { return Ok(ReportResult::NoSuchHost) };
        let account = rows::parse(&named.account_id, "an account id")?;
        let transaction = self.0.database.begin().await?;
        if lock_account(&transaction, account).await?.is_none() {
            return Ok(ReportResult::NoSuchHost);
        }
        // Read again under the lock.
        let found =
            rows::artifact::find_by_id(&transaction, account, rows::parse(&named.id, "an artifact id")?)
                .await?;
        let Some(artifact) = found else { return Ok(ReportResult::NoSuchHost) };
        let page = reviewed_version(&transaction, &artifact).await?;
        let other = match report.seq {
            Some(seq) => version_of(&transaction, &artifact.id, seq).await?,
            None => None,
        };
        let other = other.filter(|other| page.as_ref().is_none_or(|page| page.id != other.id));
        insert(&transaction, report, &artifact, other.as_ref().or(page.as_ref())).await?;
        let reported = match (&page, &other) {
            // The response does not contain the status of another version, because its address may be secret.
            (Some(page), Some(other)) => {
                send_to_review(&transaction, other, chance, report.now).await?;
                ReportResult::Noted(rows::moderation(&page.moderation_status)?)
            }
            (Some(page), None) => send_to_review(&transaction, page, chance, report.now).await?,
            (None, _) => ReportResult::Noted(ModerationStatus::Pending),
        };
        transaction.commit().await.context("commit a report")?;
        Ok(reported)
    }

    /// The reports on a page, newest first.
    pub(crate) async fn list_on(self, artifact: ArtifactId) -> anyhow::Result<Vec<StoredReport>> {
        let found = entity::report::Entity::find()
            .filter(entity::report::Column::ArtifactId.eq(artifact.to_string()))
            .order_by_desc(entity::report::Column::Id)
            .limit(REPORTS_SHOWN_MAX)
            .all(&self.0.database.reader)
            .await?;
        let versions = found.iter().filter_map(|row| row.version_id.as_deref());
        let seqs = rows::version::seqs(&self.0.database.reader, versions).await?;
        let report = |row: entity::report::Model| {
            let seq = row.version_id.as_ref().and_then(|id| seqs.get(id));
            Ok(StoredReport {
                id: rows::parse(&row.id, "a report id")?,
                seq: seq.and_then(|seq| u32::try_from(*seq).ok()),
                reason: row.reason,
                category: row.category.as_deref().and_then(ReportCategory::parse),
                at: Time::from_millis(row.created_at),
                answered_at: row.handled_at.map(Time::from_millis),
            })
        };
        found.into_iter().map(report).collect()
    }
}

/// Which open reports a decision closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    All,
    /// Reports up to this one. `None` closes no report.
    UpTo(Option<ReportId>),
}

/// Marks open reports on an artifact as answered.
pub(crate) async fn answer(
    transaction: &DatabaseTransaction,
    artifact: ArtifactId,
    answered: Answered,
    now: Time,
) -> anyhow::Result<()> {
    let mut reports = entity::report::Entity::update_many();
    match answered {
        Answered::All => {}
        Answered::UpTo(Some(last)) => {
            reports = reports.filter(entity::report::Column::Id.lte(last.to_string()));
        }
        Answered::UpTo(None) => return Ok(()),
    }
    reports
        .col_expr(entity::report::Column::HandledAt, Expr::value(now.millis()))
        .filter(entity::report::Column::ArtifactId.eq(artifact.to_string()))
        .filter(entity::report::Column::HandledAt.is_null())
        .exec(transaction)
        .await
        .context("answer the reports on an artifact")?;
    Ok(())
}

async fn insert(
    transaction: &DatabaseTransaction,
    report: &NewReport,
    artifact: &entity::artifact::Model,
    version: Option<&entity::version::Model>,
) -> anyhow::Result<()> {
    let row = entity::report::ActiveModel {
        id: Set(report.id.to_string()),
        host: Set(report.host.to_string()),
        artifact_id: Set(artifact.id.clone()),
        version_id: Set(version.map(|version| version.id.clone())),
        reason: Set(report.reason.as_ref().map(|reason| reason.as_str().to_owned())),
        created_at: Set(report.now.millis()),
        handled_at: Set(None),
        category: Set(report.category.map(|category| category.as_str().to_owned())),
    };
    entity::report::Entity::insert(row)
        .exec_without_returning(transaction)
        .await
        .context("insert a report")?;
    Ok(())
}

// Spec 3.3: a report never clears a page and never changes the status of a page with a verdict.
async fn send_to_review(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
    chance: &Chance,
    now: Time,
) -> anyhow::Result<ReportResult> {
    let before = rows::moderation(&version.moderation_status)?;
    if before != ModerationStatus::Pending {
        return Ok(ReportResult::Noted(before));
    }
    let (status, by) = (ModerationStatus::Review, ModeratedBy::Report);
    note(transaction, &Decision::of_people(version, status, by, chance, now)).await?;
    set_status(transaction, version, status, by, now).await?;
    Ok(ReportResult::SentToReview)
}
