//! What was decided of a version, by the scan or by a moderator. A scan must never lower what people have set.

use anyhow::Context;
use domain::{
    AccountId, ArtifactId, Chance, Host, Manifest, ModeratedBy, ModerationStatus, Ruling, ScanJob, Time,
    UserId, VersionId,
};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::accounts::lock_account;
use crate::audit::{self, Entry};
use crate::{Store, artifacts, reports, routes, rows};

/// What a decision says that rests on no scan.
const NO_FINDINGS: &str = "[]";

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

/// A moderator's word on what an artifact shows now.
#[derive(Clone, Debug)]
pub struct ModeratorsWord {
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub ruling: Ruling,
    pub moderator: UserId,
    pub now: Time,
}

/// What came of a moderator's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ruled {
    /// The artifact was deleted in the meantime.
    Gone,
    NothingIsLive,
    Done,
}

/// One decision on a version, as it is kept.
pub(crate) struct Decision<'a> {
    pub id: String,
    pub version: &'a entity::version::Model,
    pub status: ModerationStatus,
    pub source: ModeratedBy,
    pub evidence: &'a str,
    pub scanner_version: Option<&'a str>,
    pub decided_by: Option<UserId>,
    pub now: Time,
}

impl<'a> Decision<'a> {
    /// A decision that people made.
    pub(crate) fn of_people(
        version: &'a entity::version::Model,
        status: ModerationStatus,
        source: ModeratedBy,
        chance: &Chance,
        now: Time,
    ) -> Self {
        Self {
            id: chance.ulid(now).to_string(),
            version,
            status,
            source,
            evidence: NO_FINDINGS,
            scanner_version: None,
            decided_by: None,
            now,
        }
    }
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
        let transaction = self.database.begin().await?;
        if lock_account(&transaction, judgement.account).await?.is_none() {
            return Ok(Judged::Gone);
        }
        let id = judgement.version.to_string();
        let Some(version) = entity::version::Entity::find_by_id(id).one(&transaction).await? else {
            return Ok(Judged::Gone);
        };
        let decision = Decision {
            id: judgement.decision_id.clone(),
            version: &version,
            status: judgement.status,
            source: ModeratedBy::Scan,
            evidence: &judgement.evidence,
            scanner_version: Some(&judgement.scanner_version),
            decided_by: None,
            now: judgement.now,
        };
        note(&transaction, &decision).await?;
        let (before, by) = (rows::moderation(&version.moderation_status)?, rows::moderated_by(&version)?);
        let after = after_scan(before, by, judgement.status);
        let is_the_scan_s = after != before || by == ModeratedBy::Nobody;
        let by = if is_the_scan_s { ModeratedBy::Scan } else { by };
        let host = mark(&transaction, &version, after, by, judgement.now).await?;
        transaction.commit().await.context("commit a verdict")?;
        Ok(Judged::Noted { host: host.filter(|_| after != before) })
    }

    /// Writes a moderator's word to the live version. It answers every open report on the artifact.
    pub async fn rule(&self, word: &ModeratorsWord, chance: &Chance) -> anyhow::Result<Ruled> {
        let transaction = self.database.begin().await?;
        if lock_account(&transaction, word.account).await?.is_none() {
            return Ok(Ruled::Gone);
        }
        let found = artifacts::find_by_id(&transaction, word.account, word.artifact).await?;
        let Some(artifact) = found else { return Ok(Ruled::Gone) };
        let Some(version) = live_version(&transaction, &artifact).await? else {
            return Ok(Ruled::NothingIsLive);
        };
        let (status, by) = (word.ruling.status(), ModeratedBy::Moderator);
        let decision = Decision::of_people(&version, status, by, chance, word.now);
        note(&transaction, &Decision { decided_by: Some(word.moderator), ..decision }).await?;
        mark(&transaction, &version, status, by, word.now).await?;
        reports::answer_all(&transaction, word.artifact, word.now).await?;
        let entry = Entry {
            account: Some(word.account),
            actor: word.moderator.to_string(),
            action: "version.moderated",
            subject: &version.id,
            detail: format!("{} is now {}", artifact.host, status.as_str()),
        };
        audit::note(&transaction, chance, word.now, entry).await?;
        transaction.commit().await.context("commit a moderator's word")?;
        Ok(Ruled::Done)
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

/// The version that an artifact shows, if one is live.
pub(crate) async fn live_version(
    transaction: &DatabaseTransaction,
    artifact: &entity::artifact::Model,
) -> anyhow::Result<Option<entity::version::Model>> {
    let Some(id) = &artifact.live_version_id else { return Ok(None) };
    Ok(entity::version::Entity::find_by_id(id.as_str()).one(transaction).await?)
}

/// Keeps a decision.
pub(crate) async fn note(transaction: &DatabaseTransaction, decision: &Decision<'_>) -> anyhow::Result<()> {
    let row = entity::moderation_decision::ActiveModel {
        id: Set(decision.id.clone()),
        version_id: Set(decision.version.id.clone()),
        artifact_id: Set(decision.version.artifact_id.clone()),
        status: Set(decision.status.as_str().to_owned()),
        source: Set(decision.source.as_str().to_owned()),
        evidence: Set(decision.evidence.to_owned()),
        scanner_version: Set(decision.scanner_version.map(str::to_owned)),
        decided_by: Set(decision.decided_by.map(|user| user.to_string())),
        created_at: Set(decision.now.millis()),
    };
    entity::moderation_decision::Entity::insert(row).exec_without_returning(transaction).await?;
    Ok(())
}

/// Writes a status to a version and to its route. The host that shows the version, if it is live.
pub(crate) async fn mark(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
    status: ModerationStatus,
    by: ModeratedBy,
    now: Time,
) -> anyhow::Result<Option<Host>> {
    let change = entity::version::ActiveModel {
        id: Set(version.id.clone()),
        moderation_status: Set(status.as_str().to_owned()),
        moderated_by: Set(by.as_str().to_owned()),
        ..Default::default()
    };
    entity::version::Entity::update(change).exec_without_returning(transaction).await?;
    if version.moderation_status == status.as_str() {
        return Ok(None);
    }
    let routes = entity::route::Entity::update_many()
        .col_expr(entity::route::Column::ModerationStatus, Expr::value(status.as_str()))
        .col_expr(entity::route::Column::UpdatedAt, routes::changed_at(now))
        .filter(entity::route::Column::VersionId.eq(version.id.as_str()))
        .exec_with_returning(transaction)
        .await?;
    routes.first().map(|route| rows::parse(&route.host, "a host")).transpose()
}

/// A scan never lowers what a moderator or a report has set; `review` may still become `blocked`.
fn after_scan(
    before: ModerationStatus,
    moderated_by: ModeratedBy,
    verdict: ModerationStatus,
) -> ModerationStatus {
    match moderated_by {
        ModeratedBy::Moderator => before,
        ModeratedBy::Report if verdict != ModerationStatus::Blocked => before,
        _ => verdict,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModeratedBy::{Moderator, Nobody, Report, Scan};
    use ModerationStatus::{Blocked, Pass, Pending, Review};

    #[test]
    fn a_late_scan_never_lowers_what_people_have_set() {
        assert_eq!(after_scan(Pending, Nobody, Pass), Pass);
        assert_eq!(after_scan(Review, Scan, Pass), Pass);
        assert_eq!(after_scan(Review, Report, Pass), Review);
        assert_eq!(after_scan(Review, Report, Blocked), Blocked);
        assert_eq!(after_scan(Pass, Moderator, Blocked), Pass);
        assert_eq!(after_scan(Blocked, Moderator, Pass), Blocked);
    }
}
