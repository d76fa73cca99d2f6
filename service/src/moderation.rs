//! What people say of pages: a report by anyone, a moderator's word. Neither looks at who owns the page.
//!
//! A moderator is one of the operator's people at the queue, who says which version they looked at; in dev mode it may
//! be anybody who is signed in.

use std::net::IpAddr;

use domain::{
    Artifact, ArtifactName, Host, Missing, ModerationDecision, ModerationStatus, Moderator, OperatorName,
    Refusal, ReportCategory, ReportId, ReportReason, RulingNote, Slug,
};
use faults::Fault;
use store::{
    DecisionResult, LiveCase, ModeratorDecision, NewReport, ReportResult, ReviewCase, SamePage, Seen,
    SlugOwner,
};

use crate::objection::objected_to;
use crate::{Person, SameContent, Service, ServiceResult};

/// A report that was taken in.
#[derive(Clone, Debug)]
pub struct ReportTaken {
    pub id: ReportId,
    pub host: Host,
    pub moderation: ModerationStatus,
}

/// An artifact after a moderator's word.
#[derive(Clone, Debug)]
pub struct Moderated {
    pub slug: Slug,
    pub host: Host,
    pub moderation: ModerationStatus,
}

/// What one of the operator's people has decided of a page.
#[derive(Clone, Debug)]
pub struct DecisionRequest {
    pub host: Host,
    pub ruling: ModerationDecision,
    pub note: Option<RulingNote>,
    /// The `seq` of the version that was looked at. None holds for whichever is live.
    pub looked_at: Option<u32>,
    /// What was shown with it. None holds for whatever there is.
    pub seen: Option<Seen>,
    /// Other pages that are blocked with it, those of them that hold the same content. They go with a block alone.
    pub elsewhere: Vec<Host>,
}

/// What came of a decision.
#[derive(Clone, Debug)]
pub struct DecisionMade {
    pub host: Host,
    pub slug: Slug,
    pub moderation: ModerationStatus,
    pub seq: u32,
    /// The other pages that were blocked with it.
    pub blocked_elsewhere: Vec<Host>,
    /// Whether something with the same content is left: more than one decision deals with, or what failed on the way.
    pub has_more: bool,
}

/// What came of a block on other pages.
#[derive(Default)]
struct BlockedElsewhere {
    hosts: Vec<Host>,
    has_more: bool,
}

impl Service {
    /// Takes in a report of abuse (spec 4.10). It may send a page to review; it never clears one.
    pub async fn report(
        &self,
        from: IpAddr,
        host: Host,
        reason: Option<ReportReason>,
        category: Option<ReportCategory>,
    ) -> ServiceResult<ReportTaken> {
        let now = self.0.clock.now();
        self.take_by_address("report", from, self.0.rules.reports_per_minute).await?;
        let report = NewReport { id: ReportId::new(now, &self.0.chance), host, reason, category, now };
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

    /// A moderator's word on what an artifact shows now (spec 4.10). Dev mode only; the door sees to that.
    pub async fn moderate(
        &self,
        moderator: &Person,
        name: &ArtifactName,
        ruling: ModerationDecision,
    ) -> ServiceResult<Moderated> {
        let artifact = self.artifact_meant(moderator, name).await?;
        let case = self.0.store.moderation().find_case(&artifact.host).await?;
        let word = ModeratorDecision {
            account: artifact.account,
            artifact: artifact.id,
            ruling,
            moderator: Moderator::Person(moderator.user),
            note: None,
            looked_at: None,
            seen: None,
            contents: case.and_then(|case| case.live).as_ref().map(objected_to).unwrap_or_default(),
            now: self.0.clock.now(),
        };
        self.rule(&word, &artifact.host, [Missing::Artifact, Missing::Version]).await?;
        let moderation = ruling.status();
        tracing::info!(
            artifact.host = %artifact.host,
            user.id = %moderator.user,
            moderation.status = moderation.as_str(),
            "page moderated"
        );
        Ok(Moderated { slug: artifact.slug, host: artifact.host, moderation })
    }

    /// A decision at the moderators' queue. Once it is answered, no edge serves what was blocked.
    pub async fn decide(&self, who: &OperatorName, request: DecisionRequest) -> ServiceResult<DecisionMade> {
        let missing = || Refusal::NotFound(Missing::ReviewedHost);
        let case = self.0.store.moderation().find_case(&request.host).await?.ok_or_else(missing)?;
        let live = live_as_looked_at(&case, request.looked_at)?;
        let same = match request.ruling {
            ModerationDecision::Block => self.same_content_among(&case, &request.elsewhere).await?,
            ModerationDecision::Pass => SameContent::default(),
        };
        let word = ModeratorDecision {
            account: case.artifact.account,
            artifact: case.artifact.id,
            ruling: request.ruling,
            moderator: Moderator::Operator(who.clone()),
            note: request.note,
            looked_at: Some(live.version),
            seen: request.seen,
            contents: objected_to(live),
            now: self.0.clock.now(),
        };
        wait_if_told("moderation.before_rule").await;
        let missing = [Missing::ReviewedHost, Missing::ReviewedVersion];
        let has_more_versions = self.rule(&word, &request.host, missing).await?;
        let moderation = request.ruling.status();
        tracing::info!(
            artifact.host = %request.host,
            operator.name = %who,
            moderation.status = moderation.as_str(),
            "page moderated"
        );
        let elsewhere = self.block_elsewhere(&word, &same.pages).await;
        Ok(DecisionMade {
            seq: live.seq,
            slug: case.artifact.slug,
            host: request.host,
            moderation,
            blocked_elsewhere: elsewhere.hosts,
            has_more: has_more_versions || elsewhere.has_more || same.has_more,
        })
    }

    /// The same word on other pages, each in a transaction of its own. The decision is made by then, so what fails here
    /// is logged and told as something that is left; whoever repeats the decision goes on with it.
    async fn block_elsewhere(&self, word: &ModeratorDecision, pages: &[SamePage]) -> BlockedElsewhere {
        let mut blocked = BlockedElsewhere::default();
        for (place, page) in pages.iter().enumerate() {
            match self.block_too(word, page, place).await {
                Ok(DecisionResult::Done { has_more, .. }) => {
                    blocked.hosts.push(page.host.clone());
                    blocked.has_more |= has_more;
                }
                // It shows something else by now.
                Ok(_) => {}
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::error!(artifact.host = %page.host, error, "the same content is not blocked elsewhere");
                    blocked.has_more = true;
                    break;
                }
            }
        }
        if !blocked.hosts.is_empty() {
            self.0.bus.notify_edges(&blocked.hosts).await;
            self.compare_since(word.now).await;
            tracing::info!(pages.blocked = blocked.hosts.len(), "the same content blocked elsewhere");
        }
        blocked
    }

    async fn block_too(
        &self,
        word: &ModeratorDecision,
        page: &SamePage,
        place: usize,
    ) -> anyhow::Result<DecisionResult> {
        // A test lets the page at one place fail.
        if faults::at("moderation.elsewhere") == u32::try_from(place).ok().map(Fault::Instead) {
            anyhow::bail!("injected fault at moderation.elsewhere");
        }
        let word = ModeratorDecision {
            account: page.account,
            artifact: page.artifact,
            looked_at: Some(page.version),
            seen: None,
            ..word.clone()
        };
        self.0.store.moderation().decide(&word, &self.0.chance).await
    }

    /// Makes a decision, and has the edges hear of it. Whether more versions hold what is objected to than the word is
    /// on. What it is told that is missing: the page, its version.
    async fn rule(
        &self,
        word: &ModeratorDecision,
        host: &Host,
        [page, version]: [Missing; 2],
    ) -> ServiceResult<bool> {
        match self.0.store.moderation().decide(word, &self.0.chance).await? {
            DecisionResult::Done { has_more, unblocked } => {
                self.0.bus.notify_edges(std::slice::from_ref(host)).await;
                match word.ruling {
                    ModerationDecision::Block => self.compare_since(word.now).await,
                    ModerationDecision::Pass if unblocked.is_empty() => {}
                    ModerationDecision::Pass => self.sweep_scans_soon().await,
                }
                Ok(has_more)
            }
            DecisionResult::Gone => Err(Refusal::NotFound(page).into()),
            DecisionResult::NothingIsLive => Err(Refusal::NotFound(version).into()),
            DecisionResult::OtherIsLive { seq } => Err(Refusal::VersionChanged { live: Some(seq) }.into()),
            DecisionResult::DecidedMeanwhile { status } => Err(Refusal::DecidedMeanwhile { status }.into()),
        }
    }

    /// A host names one artifact anywhere. A slug is the moderator's own before anyone's, and must mean just one.
    async fn artifact_meant(&self, moderator: &Person, name: &ArtifactName) -> ServiceResult<Artifact> {
        if let Some(host) = name.as_host()
            && let Some(artifact) = self.0.store.artifacts().find_at(&host).await?
        {
            return Ok(artifact);
        }
        let Some(slug) = name.as_slug() else { return Err(Refusal::NotFound(Missing::Artifact).into()) };
        for whose in [SlugOwner::Of(moderator.user), SlugOwner::Anyone] {
            // Two tell as well as a hundred that one is not enough to go by.
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

/// A fault point whose pause holds up nobody else.
async fn wait_if_told(point: &'static str) {
    if let Some(Fault::Pause(wait)) = faults::at(point) {
        tokio::time::sleep(wait).await;
    }
}

/// What is live, if it is what the moderator has looked at.
fn live_as_looked_at(case: &ReviewCase, looked_at: Option<u32>) -> Result<&LiveCase, Refusal> {
    let live = case.live.as_ref().ok_or(Refusal::VersionChanged { live: None })?;
    match looked_at {
        Some(seq) if seq != live.seq => Err(Refusal::VersionChanged { live: Some(live.seq) }),
        _ => Ok(live),
    }
}
