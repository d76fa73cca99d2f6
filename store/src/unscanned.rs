//! Versions without a verdict whose first scan is late, has failed or was given up.

use anyhow::Context;
use domain::{Host, ModeratedBy, ModerationStatus, ScanJob, Time, VersionId};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use crate::decisions::{Decision, find_hosts, note, set_status};
use crate::handles::ScanStore;
use crate::rows::account::lock_account;
use crate::{routes, rows};

/// A first scan that is not retried now.
#[derive(Clone, Debug)]
pub struct GivenUpScan {
    pub job: ScanJob,
    pub decision_id: String,
    /// The reason that moderators see.
    pub evidence: String,
    pub now: Time,
}

impl ScanStore<'_> {
    /// Begins to hold back the documents of a provisional account's pending version. Returns the host whose
    /// edges must be notified. `None` if the version is not live, has a verdict, or is held back already.
    pub async fn hold_back(self, version: VersionId, now: Time) -> anyhow::Result<Option<Host>> {
        use entity::route::{Column, Entity};
        let held = Entity::update_many()
            .col_expr(Column::HeldFrom, Expr::value(now.millis()))
            .col_expr(Column::UpdatedAt, routes::changed_at(now))
            .filter(Column::VersionId.eq(version.to_string()))
            .filter(Column::ModerationStatus.eq(ModerationStatus::Pending.as_str()))
            .filter(Column::ExpiresAt.is_not_null())
            .filter(Column::HeldFrom.is_null())
            .exec_with_returning(&self.0.database.writer)
            .await
            .context("hold back a version whose scan failed")?;
        held.first().map(|route| rows::parse(&route.host, "a host")).transpose()
    }

    /// Sends a version whose first scan was given up to review. A later scan may still produce a verdict.
    /// Returns the host whose edges must be notified. `None` if the version is no longer pending.
    pub async fn give_up(self, given_up: &GivenUpScan) -> anyhow::Result<Option<Host>> {
        let transaction = self.0.database.begin().await?;
        lock_account(&transaction, given_up.job.account).await?;
        let id = given_up.job.version.to_string();
        let found = entity::version::Entity::find_by_id(id.as_str()).one(&transaction).await?;
        let is_pending = |version: &entity::version::Model| {
            version.moderation_status == ModerationStatus::Pending.as_str()
        };
        let Some(version) = found.filter(is_pending) else { return Ok(None) };
        let (status, source) = (ModerationStatus::Review, ModeratedBy::Scan);
        let decision = Decision {
            id: given_up.decision_id.clone(),
            version: &version,
            status,
            source,
            evidence: &given_up.evidence,
            scanner_version: None,
            decided_by: None,
            now: given_up.now,
        };
        note(&transaction, &decision).await?;
        set_status(&transaction, &version, status, source, given_up.now).await?;
        let host = find_hosts(&transaction, &[&version]).await?.into_values().next();
        transaction.commit().await.context("commit that a scan was given up")?;
        Ok(host)
    }
}
