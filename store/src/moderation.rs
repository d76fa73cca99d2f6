//! What was decided of a version. A scan must never lower what people have set.

use anyhow::Context;
use domain::{AccountId, Host, Manifest, ModerationStatus, ScanJob, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::artifacts::lock_account;
use crate::{Store, rows};

/// A scan's word on a version.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub account: AccountId,
    pub version: VersionId,
    pub decision_id: String,
    pub status: ModerationStatus,
    pub evidence: String,
    pub scanner_version: String,
    pub now: Time,
}

/// What came of a judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The version is gone: deleted with its account.
    Gone,
    /// Noted. The host whose pages changed with it, if the version is live.
    Noted { host: Option<Host> },
}

impl Store {
    /// What a version holds; none when it is gone.
    pub async fn manifest(&self, version: VersionId) -> anyhow::Result<Option<Manifest>> {
        let found =
            entity::version::Entity::find_by_id(version.to_string()).one(&self.database.reader).await?;
        found.map(|row| rows::manifest(&row.manifest)).transpose()
    }

    /// Writes a scan's verdict to its version, and to the route when the version is live.
    pub async fn judge(&self, judgement: &Judgement) -> anyhow::Result<Judged> {
        let id = judgement.version.to_string();
        let transaction = self.database.begin().await?;
        if lock_account(&transaction, judgement.account).await?.is_none() {
            return Ok(Judged::Gone);
        }
        let Some(version) = entity::version::Entity::find_by_id(id.as_str()).one(&transaction).await? else {
            return Ok(Judged::Gone);
        };
        entity::moderation_decision::Entity::insert(decision_row(judgement, &version))
            .exec_without_returning(&transaction)
            .await?;
        let before = rows::moderation(&version.moderation_status)?;
        let after = after_scan(before, &version.moderated_by, judgement.status);
        let change = entity::version::ActiveModel {
            id: Set(id.clone()),
            moderation_status: Set(after.as_str().to_owned()),
            moderated_by: Set(if after == before && version.moderated_by != "nobody" {
                version.moderated_by
            } else {
                "scan".to_owned()
            }),
            ..Default::default()
        };
        entity::version::Entity::update(change).exec_without_returning(&transaction).await?;
        let routes = if after == before {
            Vec::new()
        } else {
            mark_route(&transaction, &id, after, judgement.now).await?
        };
        transaction.commit().await.context("commit a verdict")?;
        let host = routes.first().map(|route| rows::parse(&route.host, "a host")).transpose()?;
        Ok(Judged::Noted { host })
    }

    /// Versions that were committed before `created_before` and have had no scan: their job was lost on the way.
    pub async fn unscanned_versions(
        &self,
        created_before: Time,
        at_most: u64,
    ) -> anyhow::Result<Vec<ScanJob>> {
        let found: Vec<(String, String)> = entity::version::Entity::find()
            .select_only()
            .column(entity::version::Column::AccountId)
            .column(entity::version::Column::Id)
            // Word for word the condition of the index `versions_unscanned`: SQLite does not use it for bound values.
            .filter(Expr::cust("moderated_by IN ('nobody', 'report')"))
            .filter(entity::version::Column::CreatedAt.lt(created_before.millis()))
            .filter(Expr::cust(
                "NOT EXISTS (SELECT 1 FROM moderation_decisions AS decision \
                 WHERE decision.version_id = versions.id AND decision.source = 'scan')",
            ))
            .order_by_asc(entity::version::Column::CreatedAt)
            .limit(at_most)
            .into_tuple()
            .all(&self.database.reader)
            .await?;
        found
            .iter()
            .map(|(account, version)| {
                let account = rows::parse(account, "an account id")?;
                Ok(ScanJob { account, version: rows::parse(version, "a version id")? })
            })
            .collect()
    }
}

/// Writes a status to the route of a version; none when the version is not live.
async fn mark_route(
    transaction: &DatabaseTransaction,
    version: &str,
    status: ModerationStatus,
    now: Time,
) -> anyhow::Result<Vec<entity::route::Model>> {
    Ok(entity::route::Entity::update_many()
        .col_expr(entity::route::Column::ModerationStatus, Expr::value(status.as_str()))
        .col_expr(entity::route::Column::UpdatedAt, Expr::value(now.millis()))
        .filter(entity::route::Column::VersionId.eq(version))
        .exec_with_returning(transaction)
        .await?)
}

/// A scan never lowers what a moderator or a report has set; `review` may still become `blocked`.
fn after_scan(before: ModerationStatus, moderated_by: &str, verdict: ModerationStatus) -> ModerationStatus {
    match moderated_by {
        "moderator" => before,
        "report" if verdict != ModerationStatus::Blocked => before,
        _ => verdict,
    }
}

fn decision_row(
    judgement: &Judgement,
    version: &entity::version::Model,
) -> entity::moderation_decision::ActiveModel {
    entity::moderation_decision::ActiveModel {
        id: Set(judgement.decision_id.clone()),
        version_id: Set(version.id.clone()),
        artifact_id: Set(version.artifact_id.clone()),
        status: Set(judgement.status.as_str().to_owned()),
        source: Set("scan".to_owned()),
        evidence: Set(judgement.evidence.clone()),
        scanner_version: Set(Some(judgement.scanner_version.clone())),
        decided_by: Set(None),
        created_at: Set(judgement.now.millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModerationStatus::{Blocked, Pass, Pending, Review};

    #[test]
    fn a_late_scan_never_lowers_what_people_have_set() {
        assert_eq!(after_scan(Pending, "nobody", Pass), Pass);
        assert_eq!(after_scan(Review, "scan", Pass), Pass);
        assert_eq!(after_scan(Review, "report", Pass), Review);
        assert_eq!(after_scan(Review, "report", Blocked), Blocked);
        assert_eq!(after_scan(Pass, "moderator", Blocked), Pass);
        assert_eq!(after_scan(Blocked, "moderator", Pass), Blocked);
    }
}
