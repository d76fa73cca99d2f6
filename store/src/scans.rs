//! A scan's word on a version. It must never lower what people have set, nor replace what newer rules have said.

use anyhow::Context;
use domain::{AccountId, Host, ModeratedBy, ModerationStatus, Time, VersionId};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::accounts::lock_account;
use crate::moderation::{Decision, note, show};
use crate::{Store, rows};

/// Decisions on one version that a verdict looks back at; it is judged some few times in its life.
const DECISIONS_READ_MAX: u64 = 100;

/// A scan's word on a version.
#[derive(Clone, Debug)]
pub struct Judgement {
    pub account: AccountId,
    pub version: VersionId,
    pub decision_id: String,
    pub status: ModerationStatus,
    pub evidence: String,
    /// The number of the rules by which it was judged.
    pub rules: u32,
    pub now: Time,
}

/// What came of a judgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// The version is gone: deleted with its account.
    Gone,
    /// Newer rules have judged it meanwhile, and their word stands.
    Outdated,
    /// Noted. The host of which the edges must hear: its pages changed with it, or are blocked.
    Noted { host: Option<Host> },
}

impl Store {
    /// Writes a scan's verdict to its version, and to the route when the version is live. The decision is kept with its
    /// evidence, unless the scan before has said the very same.
    pub async fn judge(&self, judgement: &Judgement) -> anyhow::Result<Judged> {
        let transaction = self.database.begin().await?;
        if lock_account(&transaction, judgement.account).await?.is_none() {
            return Ok(Judged::Gone);
        }
        let id = judgement.version.to_string();
        let Some(version) = entity::version::Entity::find_by_id(id).one(&transaction).await? else {
            return Ok(Judged::Gone);
        };
        let rules = i32::try_from(judgement.rules)?;
        if version.scanned_by.is_some_and(|by| by > rules) {
            return Ok(Judged::Outdated);
        }
        let earlier = earlier_decisions(&transaction, &version).await?;
        if !has_said_the_same(&earlier, judgement) {
            let scanner_version = judgement.rules.to_string();
            note(&transaction, &decision(judgement, &version, &scanner_version)).await?;
        }
        let standing = Standing::of(&version, &earlier)?;
        let (after, by) = after_scan(&standing, judgement.status);
        let change = entity::version::ActiveModel {
            id: Set(version.id.clone()),
            moderation_status: Set(after.as_str().to_owned()),
            moderated_by: Set(by.as_str().to_owned()),
            scanned_by: Set(Some(rules)),
            scanned_at: Set(Some(judgement.now.millis())),
            rescan_asked_at: Set(None),
            scan_tries: Set(0),
            scan_again_at: Set(0),
            ..Default::default()
        };
        entity::version::Entity::update(change).exec_without_returning(&transaction).await?;
        let host = if after != standing.status {
            show(&transaction, &version, after, judgement.now).await?
        } else if after == ModerationStatus::Blocked {
            // Whoever wrote this before us may have died before the edges heard of it.
            shown_at(&transaction, &version).await?
        } else {
            None
        };
        transaction.commit().await.context("commit a verdict")?;
        Ok(Judged::Noted { host })
    }
}

fn decision<'a>(
    judgement: &'a Judgement,
    version: &'a entity::version::Model,
    scanner_version: &'a str,
) -> Decision<'a> {
    Decision {
        id: judgement.decision_id.clone(),
        version,
        status: judgement.status,
        source: ModeratedBy::Scan,
        evidence: &judgement.evidence,
        scanner_version: Some(scanner_version),
        decided_by: None,
        now: judgement.now,
    }
}

/// What scans and reports have said of a version, the latest first.
async fn earlier_decisions(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
) -> anyhow::Result<Vec<entity::moderation_decision::Model>> {
    use entity::moderation_decision::Column;
    entity::moderation_decision::Entity::find()
        .filter(Column::VersionId.eq(version.id.as_str()))
        .filter(Column::Source.is_in([ModeratedBy::Scan.as_str(), ModeratedBy::Report.as_str()]))
        .order_by_desc(Column::Id)
        .limit(DECISIONS_READ_MAX)
        .all(transaction)
        .await
        .context("read what was said of a version")
}

fn has_said_the_same(earlier: &[entity::moderation_decision::Model], judgement: &Judgement) -> bool {
    let last_scan = earlier.iter().find(|decision| decision.source == ModeratedBy::Scan.as_str());
    last_scan
        .is_some_and(|scan| scan.status == judgement.status.as_str() && scan.evidence == judgement.evidence)
}

async fn shown_at(
    transaction: &DatabaseTransaction,
    version: &entity::version::Model,
) -> anyhow::Result<Option<Host>> {
    let route = entity::route::Entity::find()
        .filter(entity::route::Column::VersionId.eq(version.id.as_str()))
        .one(transaction)
        .await?;
    route.map(|route| rows::parse(&route.host, "a host")).transpose()
}

/// What is known of a version when a scan's verdict comes.
#[derive(Clone, Copy)]
struct Standing {
    status: ModerationStatus,
    by: ModeratedBy,
    /// A report has sent it to review, though a scan may have blocked it since.
    is_reported: bool,
}

impl Standing {
    fn of(
        version: &entity::version::Model,
        earlier: &[entity::moderation_decision::Model],
    ) -> anyhow::Result<Self> {
        let by = rows::moderated_by(version)?;
        let is_report =
            |decision: &entity::moderation_decision::Model| decision.source == ModeratedBy::Report.as_str();
        Ok(Self {
            status: rows::moderation(&version.moderation_status)?,
            by,
            is_reported: by == ModeratedBy::Report || earlier.iter().any(is_report),
        })
    }
}

/// A scan may raise and lower what scans have said. It never changes a moderator's word, and takes nothing from
/// `review` that a report has sent there but to `blocked`.
fn after_scan(standing: &Standing, verdict: ModerationStatus) -> (ModerationStatus, ModeratedBy) {
    match standing.by {
        ModeratedBy::Moderator => (standing.status, ModeratedBy::Moderator),
        _ if standing.is_reported && verdict != ModerationStatus::Blocked => {
            (ModerationStatus::Review, ModeratedBy::Report)
        }
        _ => (verdict, ModeratedBy::Scan),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ModeratedBy::{Moderator, Nobody, Report, Scan};
    use ModerationStatus::{Blocked, Pass, Pending, Review};

    #[test]
    fn a_late_scan_never_lowers_what_people_have_set() {
        let after =
            |status, by, verdict| after_scan(&Standing { status, by, is_reported: by == Report }, verdict);
        assert_eq!(after(Pending, Nobody, Pass), (Pass, Scan));
        assert_eq!(after(Review, Scan, Pass), (Pass, Scan));
        assert_eq!(after(Blocked, Scan, Pass), (Pass, Scan));
        assert_eq!(after(Pass, Scan, Blocked), (Blocked, Scan));
        assert_eq!(after(Review, Report, Pass), (Review, Report));
        assert_eq!(after(Review, Report, Review), (Review, Report));
        assert_eq!(after(Review, Report, Blocked), (Blocked, Scan));
        assert_eq!(after(Pass, Moderator, Blocked), (Pass, Moderator));
        assert_eq!(after(Blocked, Moderator, Pass), (Blocked, Moderator));
    }

    #[test]
    fn a_rescan_that_clears_what_a_scan_has_blocked_leaves_a_report_to_people() {
        let standing = Standing { status: Blocked, by: Scan, is_reported: true };
        assert_eq!(after_scan(&standing, Pass), (Review, Report));
        assert_eq!(after_scan(&standing, Blocked), (Blocked, Scan));
        let answered = Standing { by: Moderator, ..standing };
        assert_eq!(after_scan(&answered, Pass), (Blocked, Moderator));
    }
}
