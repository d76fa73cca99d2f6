//! Moderators' decisions on pages. Verdicts of scans are written in `scans`.

use anyhow::Context;
use domain::{
    AccountId, AppealId, ArtifactId, BlobHash, Chance, DecisionId, Host, ModeratedBy, ModerationDecision,
    ModerationStatus, Moderator, Origin, ReportId, RulingNote, SitePath, Time, VersionId, Via,
};
use sea_orm::sea_query::{Condition, Query};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::appeals::{self, Closing};
use crate::audit::{self, Entry};
use crate::blocked_contents::{self, Blocked, Objection, find_pages_with};
use crate::decisions::{DecidedBy, Decision, newest_decision, note, set_status};
use crate::handles::ModerationStore;
use crate::reports::{self, Answered};
use crate::rows::account::lock_account;
use crate::rows::version::reviewed_version;
use crate::{decision_rows, held_pages, rows};

/// How many versions a block includes besides the one that was reviewed. Repeating the block continues with
/// the rest.
const VERSIONS_INCLUDED_MAX: u64 = 50;

/// How many omitted files the audit log entry of a block names.
const LEFT_OUT_NAMED_MAX: usize = 5;

/// A moderator's decision on the live version of an artifact, or on the newest one while none is live.
#[derive(Clone, Debug)]
pub struct ModeratorDecision {
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub ruling: ModerationDecision,
    pub moderator: Moderator,
    pub note: Option<RulingNote>,
    /// The version that the moderator saw. `None` decides on whichever is to be reviewed now.
    pub looked_at: Option<VersionId>,
    /// What else the moderator saw. `None` skips the comparison.
    pub seen: Option<Seen>,
    /// The contents that the moderator objects to. A block applies to every version of the artifact with one
    /// of them, so that no earlier version can be activated instead.
    pub contents: Vec<BlobHash>,
    /// Whether a block applies to the versions with open reports, too. The moderator has seen these reports.
    pub with_reported: bool,
    pub now: Time,
}

/// The newest records of a page that the moderator saw. `None` if there were none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// On the version that the moderator saw.
    pub decision: Option<DecisionId>,
    pub report: Option<ReportId>,
    pub appeal: Option<AppealId>,
}

/// The result of a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DecisionResult {
    /// The artifact was deleted in the meantime.
    Gone,
    /// The artifact has no version.
    NoVersion,
    /// The moderator saw a version that is no longer the one to review.
    OtherVersion { seq: u32 },
    /// A decision was made on the version that the moderator has not seen.
    DecidedMeanwhile { status: ModerationStatus },
    Done {
        /// Whether more versions contain the contents than one block includes.
        has_more: bool,
        /// Contents that the decision removed from the list of blocked contents.
        unblocked: Vec<BlobHash>,
        /// Other pages with a content that was blocked or unblocked. Their versions open or close with it.
        affected: Vec<Host>,
    },
}

impl ModerationStore<'_> {
    /// Applies a moderator's decision to the version. It closes the open reports on the artifact,
    /// except those that are newer than what the moderator saw.
    pub async fn decide(
        self,
        request: &ModeratorDecision,
        chance: &Chance,
    ) -> anyhow::Result<DecisionResult> {
        let transaction = self.0.database.begin().await?;
        blocked_contents::lock(&transaction).await?;
        if lock_account(&transaction, request.account).await?.is_none() {
            return Ok(DecisionResult::Gone);
        }
        let found = rows::artifact::find_by_id(&transaction, request.account, request.artifact).await?;
        let Some(artifact) = found else { return Ok(DecisionResult::Gone) };
        let Some(version) = reviewed_version(&transaction, &artifact).await? else {
            return Ok(DecisionResult::NoVersion);
        };
        if request.looked_at.is_some_and(|looked_at| looked_at.to_string() != version.id) {
            return Ok(DecisionResult::OtherVersion { seq: u32::try_from(version.seq).unwrap_or(0) });
        }
        if let Some(seen) = &request.seen
            && newest_decision(&transaction, &version.id).await? != seen.decision
        {
            return Ok(DecisionResult::DecidedMeanwhile {
                status: rows::moderation(&version.moderation_status)?,
            });
        }
        let mut others = match request.ruling {
            ModerationDecision::Block => find_other_holders(&transaction, request, &version).await?,
            ModerationDecision::Pass => Vec::new(),
        };
        let has_more = others.len() as u64 > VERSIONS_INCLUDED_MAX;
        others.truncate(VERSIONS_INCLUDED_MAX as usize);
        for version in std::iter::once(&version).chain(&others) {
            decide(&transaction, request, version, &artifact.host, chance).await?;
        }
        let Applied { unblocked, left_out, affected } =
            apply_to_page(&transaction, request, &version, &artifact.host).await?;
        let answered = request.seen.map_or(Answered::All, |seen| Answered::UpTo(seen.report));
        reports::answer(&transaction, request.artifact, answered, request.now).await?;
        let closing = request.seen.map_or(Closing::All, |seen| Closing::UpTo(seen.appeal));
        let appeals = appeals::close(&transaction, request.artifact, closing, request.now).await?;
        let entry = Entry {
            account: Some(request.account),
            person: None,
            actor: actor(&request.moderator),
            origin: Some(origin(&request.moderator)),
            action: "version.moderated",
            subject: version.id.as_str().into(),
            detail: detail_of(request, &artifact.host, appeals > 0, &left_out),
        };
        audit::note(&transaction, chance, request.now, entry).await?;
        transaction.commit().await.context("commit a moderation decision")?;
        Ok(DecisionResult::Done { has_more, unblocked, affected })
    }
}

/// The effect of a decision beyond the versions of the page.
struct Applied {
    /// Contents that are no longer blocked.
    unblocked: Vec<BlobHash>,
    /// Files that are not blocked because other accounts use them too.
    left_out: Vec<SitePath>,
    /// Other pages with a content that was blocked or unblocked.
    affected: Vec<Host>,
}

/// Applies a decision to the page as a whole. A block holds the page's next versions and blocks the contents
/// of this one for all pages. A pass ends both.
async fn apply_to_page(
    transaction: &DatabaseTransaction,
    request: &ModeratorDecision,
    version: &entity::version::Model,
    host: &str,
) -> anyhow::Result<Applied> {
    match request.ruling {
        ModerationDecision::Block => {
            held_pages::hold(transaction, &version.artifact_id, request.now).await?;
            let objection = Objection {
                host,
                contents: &request.contents,
                blocked_by: actor(&request.moderator),
                now: request.now,
            };
            let Blocked { added, left_out } =
                blocked_contents::block(transaction, &objection, version).await?;
            let affected = find_pages_with(transaction, added, Some(&version.artifact_id)).await?;
            Ok(Applied { unblocked: Vec::new(), left_out, affected })
        }
        ModerationDecision::Pass => {
            held_pages::release(transaction, &version.artifact_id).await?;
            let unblocked = blocked_contents::unblock(transaction, version, request.now).await?;
            let removed = unblocked.iter().copied();
            let affected = find_pages_with(transaction, removed, Some(&version.artifact_id)).await?;
            Ok(Applied { unblocked, left_out: Vec::new(), affected })
        }
    }
}

/// Writes a decision to one version, and stores it as a ruling.
async fn decide(
    transaction: &DatabaseTransaction,
    request: &ModeratorDecision,
    version: &entity::version::Model,
    host: &str,
    chance: &Chance,
) -> anyhow::Result<()> {
    let (status, by) = (request.ruling.status(), ModeratedBy::Moderator);
    let decision = Decision::of_people(version, status, by, chance, request.now);
    let decided_by = DecidedBy { moderator: &request.moderator, note: request.note.as_ref() };
    let kept = note(transaction, &Decision { decided_by: Some(decided_by), ..decision }).await?;
    decision_rows::insert(transaction, &kept, host, version.seq).await?;
    set_status(transaction, version, status, by, request.now).await
}

/// The artifact's other versions that were reported, and those with one of the contents, newest first: up to
/// one more than a block includes.
async fn find_other_holders(
    transaction: &DatabaseTransaction,
    request: &ModeratorDecision,
    reviewed: &entity::version::Model,
) -> anyhow::Result<Vec<entity::version::Model>> {
    use entity::version::Column;
    let holders = Query::select()
        .column(entity::blob_ref::Column::VersionId)
        .from(entity::blob_ref::Entity)
        .and_where(entity::blob_ref::Column::Hash.is_in(request.contents.iter().map(BlobHash::to_string)))
        .to_owned();
    let reported = reported_versions(transaction, request).await?;
    let is_reported = Column::Id.is_in(reported);
    let is_meant = Condition::any().add(Column::Id.in_subquery(holders)).add(is_reported.clone());
    // Versions that a scan has blocked are included, because another scan could clear them.
    let is_open = Condition::any()
        .add(Column::ModerationStatus.ne(ModerationStatus::Blocked.as_str()))
        .add(Column::ModeratedBy.ne(ModeratedBy::Moderator.as_str()));
    entity::version::Entity::find()
        .filter(Column::ArtifactId.eq(request.artifact.to_string()))
        .filter(Column::Id.ne(reviewed.id.as_str()))
        .filter(is_meant)
        .filter(is_open)
        // The decision closes the reports, so that no later one could include their versions.
        .order_by_desc(is_reported)
        .order_by_desc(Column::Seq)
        .limit(VERSIONS_INCLUDED_MAX + 1)
        .all(transaction)
        .await
        .context("find other versions with the same content")
}

/// The versions with open reports that the moderator has seen.
async fn reported_versions(
    transaction: &DatabaseTransaction,
    request: &ModeratorDecision,
) -> anyhow::Result<Vec<String>> {
    use entity::report::{Column, Entity};
    if !request.with_reported {
        return Ok(Vec::new());
    }
    let mut reports = Entity::find()
        .select_only()
        .column(Column::VersionId)
        .distinct()
        .filter(Column::ArtifactId.eq(request.artifact.to_string()))
        .filter(Column::HandledAt.is_null())
        .filter(Column::VersionId.is_not_null());
    if let Some(seen) = &request.seen {
        let last = seen.report.map(|id| id.to_string()).unwrap_or_default();
        reports = reports.filter(Column::Id.lte(last));
    }
    reports.into_tuple().all(transaction).await.context("find the reported versions of a page")
}

/// The actor for the audit log: a person's id, or the operator's name with its prefix.
fn actor(moderator: &Moderator) -> String {
    match moderator {
        Moderator::Person(user) => user.to_string(),
        Moderator::Operator(name) => audit::operator(name.as_str()),
    }
}

/// A person moderates through the API, in dev mode only.
fn origin(moderator: &Moderator) -> Origin {
    let via = match moderator {
        Moderator::Person(_) => Via::Api,
        Moderator::Operator(_) => Via::Operator,
    };
    Origin { via, address: None }
}

fn detail_of(request: &ModeratorDecision, host: &str, is_appealed: bool, left_out: &[SitePath]) -> String {
    let status = request.ruling.status().as_str();
    let appeal = if is_appealed { ", which closes an appeal" } else { "" };
    let named: Vec<&str> = left_out.iter().take(LEFT_OUT_NAMED_MAX).map(SitePath::as_str).collect();
    let left_out = match left_out.len() {
        0 => String::new(),
        count => {
            format!(" ({count} files are not blocked, as other accounts use them: {})", named.join(", "))
        }
    };
    match &request.note {
        Some(note) => format!("{host} is now {status}{appeal}{left_out}: {}", note.as_str()),
        None => format!("{host} is now {status}{appeal}{left_out}"),
    }
}
