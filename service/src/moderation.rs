//! Reports of abuse by anyone, and decisions of moderators. Neither depends on who owns the page.
//!
//! A moderator is an operator at the review queue, who states which version was reviewed. In dev mode anybody
//! who is signed in can moderate.

use std::collections::HashSet;
use std::net::IpAddr;

use anyhow::Context;
use domain::{
    Artifact, ArtifactName, Host, Missing, ModerationDecision, ModerationStatus, Moderator, OperatorName,
    Refusal, ReportCategory, ReportId, ReportReason, RulingNote, SiteLabel, Slug,
};
use faults::Fault;
use store::{
    DecisionResult, ModeratorDecision, NewReport, ReportResult, ReviewCase, SamePage, Seen, SlugOwner,
    VersionCase,
};
use tokio::task::spawn_blocking;

use crate::objection::objected_to;
use crate::{Person, SameContent, Service, ServiceResult};

/// An accepted report.
#[derive(Clone, Debug)]
pub struct ReportTaken {
    pub id: ReportId,
    pub host: Host,
    pub moderation: ModerationStatus,
}

/// An artifact after a moderation decision.
#[derive(Clone, Debug)]
pub struct Moderated {
    pub slug: Slug,
    pub host: Host,
    pub moderation: ModerationStatus,
}

/// An operator's decision on a page.
#[derive(Clone, Debug)]
pub struct DecisionRequest {
    pub host: Host,
    pub ruling: ModerationDecision,
    pub note: Option<RulingNote>,
    /// The `seq` of the reviewed version. `None` decides on whichever is to be reviewed now.
    pub looked_at: Option<u32>,
    /// The decisions, reports and appeals that were shown with it. `None` accepts any.
    pub seen: Option<Seen>,
    /// Other pages to block with it, if they have the same content. Used only by a block.
    pub elsewhere: Vec<Host>,
}

/// The result of a decision.
#[derive(Clone, Debug)]
pub struct DecisionMade {
    pub host: Host,
    pub slug: Slug,
    pub moderation: ModerationStatus,
    pub seq: u32,
    /// The other pages that were blocked with it.
    pub blocked_elsewhere: Vec<Host>,
    /// Whether pages with the same content are left, because a decision covers only so many or because some
    /// failed.
    pub has_more: bool,
}

/// The result of a block on other pages.
#[derive(Default)]
struct BlockedElsewhere {
    hosts: Vec<Host>,
    has_more: bool,
}

impl Service {
    /// Files a report of abuse (spec 4.10). It may send a page to review; it never clears one.
    pub async fn report(
        &self,
        from: IpAddr,
        label: SiteLabel,
        reason: Option<ReportReason>,
        category: Option<ReportCategory>,
    ) -> ServiceResult<ReportTaken> {
        let now = self.0.clock.now();
        self.take_by_address("report", from, self.0.rules.reports_per_minute).await?;
        let (id, seq) = (ReportId::new(now, &self.0.chance), self.seq_at(&label).await?);
        let report = NewReport { id, host: label.host, seq, reason, category, now };
        let moderation = match self.0.store.reports().create(&report, &self.0.chance).await? {
            ReportResult::NoSuchHost => return Err(Refusal::NotFound(Missing::Host).into()),
            ReportResult::Noted(status) => status,
            ReportResult::SentToReview => {
                self.0.bus.notify_edges(std::slice::from_ref(&report.host)).await;
                ModerationStatus::Review
            }
        };
        tracing::info!(artifact.host = %report.host, moderation.status = moderation.as_str(), "page reported");
        Ok(ReportTaken { id: report.id, host: report.host, moderation })
    }

    /// The version whose own address this is. `None` for the address of a page, or of no version.
    async fn seq_at(&self, label: &SiteLabel) -> ServiceResult<Option<u32>> {
        let Some(tag) = label.version else { return Ok(None) };
        let Some(artifact) = self.0.store.artifacts().find_at(&label.host).await? else { return Ok(None) };
        let Some(newest) = self.0.store.routes().newest_seq(artifact.id).await? else { return Ok(None) };
        let key = self.0.rules.link_key.clone();
        Ok(spawn_blocking(move || key.seq_of(tag, artifact.id, newest)).await.context("find a version")?)
    }

    /// A moderation decision on a page (spec 4.10). Dev mode only, which the HTTP API enforces.
    pub async fn moderate(
        &self,
        moderator: &Person,
        name: &ArtifactName,
        ruling: ModerationDecision,
    ) -> ServiceResult<Moderated> {
        let artifact = self.artifact_meant(moderator, name).await?;
        let case = self.0.store.moderation().find_case(&artifact.host).await?;
        let decision = ModeratorDecision {
            account: artifact.account,
            artifact: artifact.id,
            ruling,
            moderator: Moderator::Person(moderator.user),
            note: None,
            looked_at: None,
            seen: None,
            contents: case.and_then(|case| case.version).as_ref().map(objected_to).unwrap_or_default(),
            with_reported: true,
            now: self.0.clock.now(),
        };
        self.rule(&decision, &artifact.host, [Missing::Artifact, Missing::Version]).await?;
        let moderation = ruling.status();
        tracing::info!(
            artifact.host = %artifact.host,
            user.id = %moderator.user,
            moderation.status = moderation.as_str(),
            "page moderated"
        );
        Ok(Moderated { slug: artifact.slug, host: artifact.host, moderation })
    }

    /// A decision from the review queue. Once this returns, no edge serves what was blocked.
    pub async fn decide(&self, who: &OperatorName, request: DecisionRequest) -> ServiceResult<DecisionMade> {
        let missing = || Refusal::NotFound(Missing::ReviewedHost);
        let case = self.0.store.moderation().find_case(&request.host).await?.ok_or_else(missing)?;
        let version = as_reviewed(&case, request.looked_at)?;
        let same = match request.ruling {
            ModerationDecision::Block => self.same_content_among(&case, &request.elsewhere).await?,
            ModerationDecision::Pass => SameContent::default(),
        };
        let decision = ModeratorDecision {
            account: case.artifact.account,
            artifact: case.artifact.id,
            ruling: request.ruling,
            moderator: Moderator::Operator(who.clone()),
            note: request.note,
            looked_at: Some(version.id),
            seen: request.seen,
            contents: objected_to(version),
            with_reported: true,
            now: self.0.clock.now(),
        };
        pause_at("moderation.before_rule").await;
        let missing = [Missing::ReviewedHost, Missing::ReviewedVersion];
        let has_more_versions = self.rule(&decision, &request.host, missing).await?;
        let moderation = request.ruling.status();
        tracing::info!(
            artifact.host = %request.host,
            operator.name = %who,
            moderation.status = moderation.as_str(),
            "page moderated"
        );
        let elsewhere = self.block_elsewhere(&decision, &same.pages).await;
        Ok(DecisionMade {
            seq: version.seq,
            slug: case.artifact.slug,
            host: request.host,
            moderation,
            blocked_elsewhere: elsewhere.hosts,
            has_more: has_more_versions || elsewhere.has_more || same.has_more,
        })
    }

    /// Blocks other pages, each in a transaction of its own. The decision is committed by then, so a failure
    /// is logged and reported as remaining work. Repeating the decision continues with it.
    async fn block_elsewhere(&self, decision: &ModeratorDecision, pages: &[SamePage]) -> BlockedElsewhere {
        let (mut blocked, mut notified) = (BlockedElsewhere::default(), HashSet::new());
        for (position, page) in pages.iter().enumerate() {
            match self.block_too(decision, page, position).await {
                Ok(DecisionResult::Done { has_more, affected, .. }) => {
                    notified.extend(affected);
                    notified.insert(page.host.clone());
                    blocked.hosts.push(page.host.clone());
                    blocked.has_more |= has_more;
                }
                // Another version is to be reviewed by now.
                Ok(_) => {}
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(artifact.host = %page.host, error, "the same content could not be blocked on another page");
                    blocked.has_more = true;
                    break;
                }
            }
        }
        if !blocked.hosts.is_empty() {
            let notified: Vec<Host> = notified.into_iter().collect();
            self.0.bus.notify_edges(&notified).await;
            self.rescan_since(decision.now).await;
            tracing::info!(pages.blocked = blocked.hosts.len(), "the same content blocked on other pages");
        }
        blocked
    }

    async fn block_too(
        &self,
        decision: &ModeratorDecision,
        page: &SamePage,
        position: usize,
    ) -> anyhow::Result<DecisionResult> {
        // A test can make the page at one position fail.
        if faults::at("moderation.elsewhere") == u32::try_from(position).ok().map(Fault::Instead) {
            anyhow::bail!("injected fault at moderation.elsewhere");
        }
        let decision = ModeratorDecision {
            account: page.account,
            artifact: page.artifact,
            looked_at: Some(page.version),
            seen: None,
            with_reported: false,
            ..decision.clone()
        };
        self.0.store.moderation().decide(&decision, &self.0.chance).await
    }

    /// Makes a decision and notifies the edges. Returns whether more versions have the same content than the
    /// decision covers. A refusal reports `page` or `version` as missing.
    async fn rule(
        &self,
        decision: &ModeratorDecision,
        host: &Host,
        [page, version]: [Missing; 2],
    ) -> ServiceResult<bool> {
        match self.0.store.moderation().decide(decision, &self.0.chance).await? {
            DecisionResult::Done { has_more, unblocked, mut affected } => {
                affected.push(host.clone());
                self.0.bus.notify_edges(&affected).await;
                match decision.ruling {
                    ModerationDecision::Block => self.rescan_since(decision.now).await,
                    ModerationDecision::Pass if unblocked.is_empty() => {}
                    ModerationDecision::Pass => self.sweep_scans_soon().await,
                }
                Ok(has_more)
            }
            DecisionResult::Gone => Err(Refusal::NotFound(page).into()),
            DecisionResult::NoVersion => Err(Refusal::NotFound(version).into()),
            DecisionResult::OtherVersion { seq } => {
                Err(Refusal::VersionChanged { current: Some(seq) }.into())
            }
            DecisionResult::DecidedMeanwhile { status } => Err(Refusal::DecidedMeanwhile { status }.into()),
        }
    }

    /// A host names one artifact anywhere. A slug means the moderator's own artifact first, and must be
    /// unambiguous.
    async fn artifact_meant(&self, moderator: &Person, name: &ArtifactName) -> ServiceResult<Artifact> {
        if let Some(host) = name.as_host()
            && let Some(artifact) = self.0.store.artifacts().find_at(&host).await?
        {
            return Ok(artifact);
        }
        let Some(slug) = name.as_slug() else { return Err(Refusal::NotFound(Missing::Artifact).into()) };
        for whose in [SlugOwner::Of(moderator.user), SlugOwner::Anyone] {
            // Two rows show that a slug is ambiguous.
            let mut named = self.0.store.artifacts().list_named(&slug, whose, 2).await?;
            match (named.pop(), named.is_empty()) {
                (Some(artifact), true) => return Ok(artifact),
                (Some(_), false) => return Err(Refusal::AmbiguousSlug { slug: slug.to_string() }.into()),
                (None, _) => {}
            }
        }
        Err(Refusal::NotFound(Missing::Artifact).into())
    }
}

/// A fault point whose pause blocks no thread.
async fn pause_at(point: &'static str) {
    if let Some(Fault::Pause(wait)) = faults::at(point) {
        tokio::time::sleep(wait).await;
    }
}

/// The version to decide on, if it is the reviewed one.
fn as_reviewed(case: &ReviewCase, looked_at: Option<u32>) -> Result<&VersionCase, Refusal> {
    let version = case.version.as_ref().ok_or(Refusal::VersionChanged { current: None })?;
    match looked_at {
        Some(seq) if seq != version.seq => Err(Refusal::VersionChanged { current: Some(version.seq) }),
        _ => Ok(version),
    }
}
