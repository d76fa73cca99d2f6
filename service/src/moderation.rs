//! What people say of pages: a report by anyone, a moderator's word. Neither looks at who owns the page.
//!
//! A moderator is one of the operator's people at the queue, who says which version they looked at; in dev mode it may
//! be anybody who is signed in.

use std::net::IpAddr;

use bus::RateLimit;
use domain::{
    Artifact, ArtifactName, Host, Missing, ModerationStatus, Moderator, OperatorName, Refusal, ReportId,
    ReportReason, Ruling, RulingNote, Slug,
};
use store::{LiveCase, ModeratorsWord, NewReport, Reported, ReviewCase, Ruled, SamePage, Whose};

use crate::{Answer, Person, SameContent, Service};

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
    pub ruling: Ruling,
    pub note: Option<RulingNote>,
    /// The `seq` of the version that was looked at. None holds for whichever is live.
    pub looked_at: Option<u32>,
    pub elsewhere: Elsewhere,
}

/// What becomes of other live pages with the same content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elsewhere {
    Left,
    /// They are blocked too. It goes with a block alone.
    Blocked,
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
    /// Whether there are more of them than one decision deals with.
    pub has_more: bool,
}

impl Service {
    /// Takes in a report of abuse (spec 4.10). It may send a page to review; it never clears one.
    pub async fn report(
        &self,
        from: IpAddr,
        host: Host,
        reason: Option<ReportReason>,
    ) -> Answer<ReportTaken> {
        let now = self.0.clock.now();
        let per_minute = self.0.rules.reports_per_minute;
        self.take(RateLimit { name: "report", key: from.to_string(), per_minute }).await?;
        let report = NewReport { id: ReportId::new(now, &self.0.chance), host, reason, now };
        let moderation = match self.0.store.report(&report, &self.0.chance).await? {
            Reported::NoSuchHost => return Err(Refusal::NotFound(Missing::Host).into()),
            Reported::Noted(status) => status,
            Reported::SentToReview => {
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
        ruling: Ruling,
    ) -> Answer<Moderated> {
        let artifact = self.artifact_meant(moderator, name).await?;
        let word = ModeratorsWord {
            account: artifact.account,
            artifact: artifact.id,
            ruling,
            moderator: Moderator::Person(moderator.user),
            note: None,
            looked_at: None,
            now: self.0.clock.now(),
        };
        self.rule(&word).await?;
        self.0.bus.notify_edges(std::slice::from_ref(&artifact.host)).await;
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
    pub async fn decide(&self, who: &OperatorName, request: DecisionRequest) -> Answer<DecisionMade> {
        let case = self.0.store.review_case(&request.host).await?.ok_or(Refusal::NotFound(Missing::Host))?;
        let live = live_as_looked_at(&case, request.looked_at)?;
        let same = match (request.ruling, request.elsewhere) {
            (Ruling::Block, Elsewhere::Blocked) => self.same_content(&case).await?,
            _ => SameContent::default(),
        };
        let word = ModeratorsWord {
            account: case.artifact.account,
            artifact: case.artifact.id,
            ruling: request.ruling,
            moderator: Moderator::Operator(who.clone()),
            note: request.note,
            looked_at: Some(live.version),
            now: self.0.clock.now(),
        };
        self.rule(&word).await?;
        self.0.bus.notify_edges(std::slice::from_ref(&request.host)).await;
        let moderation = request.ruling.status();
        tracing::info!(
            artifact.host = %request.host,
            operator.name = %who,
            moderation.status = moderation.as_str(),
            "page moderated"
        );
        Ok(DecisionMade {
            blocked_elsewhere: self.block_elsewhere(&word, &same.pages).await?,
            seq: live.seq,
            slug: case.artifact.slug,
            host: request.host,
            moderation,
            has_more: same.has_more,
        })
    }

    /// The same word on other pages, each in a transaction of its own. What was blocked is told to the edges also when
    /// something fails on the way; whoever repeats the decision goes on with the rest.
    async fn block_elsewhere(&self, word: &ModeratorsWord, pages: &[SamePage]) -> Answer<Vec<Host>> {
        let mut blocked = Vec::new();
        let mut failure = None;
        for page in pages {
            let word = ModeratorsWord {
                account: page.account,
                artifact: page.artifact,
                looked_at: Some(page.version),
                ..word.clone()
            };
            match self.0.store.rule(&word, &self.0.chance).await {
                Ok(Ruled::Done) => blocked.push(page.host.clone()),
                // It shows something else by now.
                Ok(Ruled::Gone | Ruled::NothingIsLive | Ruled::OtherIsLive { .. }) => {}
                Err(error) => {
                    failure = Some(error);
                    break;
                }
            }
        }
        if !blocked.is_empty() {
            self.0.bus.notify_edges(&blocked).await;
            tracing::info!(pages.blocked = blocked.len(), "the same content blocked elsewhere");
        }
        match failure {
            Some(error) => Err(error.context("block the same content elsewhere").into()),
            None => Ok(blocked),
        }
    }

    async fn rule(&self, word: &ModeratorsWord) -> Answer<()> {
        match self.0.store.rule(word, &self.0.chance).await? {
            Ruled::Done => Ok(()),
            Ruled::Gone => Err(Refusal::NotFound(Missing::Artifact).into()),
            Ruled::NothingIsLive => Err(Refusal::NotFound(Missing::Version).into()),
            Ruled::OtherIsLive { seq } => Err(Refusal::VersionChanged { live: Some(seq) }.into()),
        }
    }

    /// A host names one artifact anywhere. A slug is the moderator's own before anyone's, and must mean just one.
    async fn artifact_meant(&self, moderator: &Person, name: &ArtifactName) -> Answer<Artifact> {
        if let Some(host) = name.as_host()
            && let Some(artifact) = self.0.store.artifact_at(&host).await?
        {
            return Ok(artifact);
        }
        let Some(slug) = name.as_slug() else { return Err(Refusal::NotFound(Missing::Artifact).into()) };
        for whose in [Whose::Of(moderator.user), Whose::Anyones] {
            // Two tell as well as a hundred that one is not enough to go by.
            let mut named = self.0.store.artifacts_named(&slug, whose, 2).await?;
            match (named.pop(), named.is_empty()) {
                (Some(artifact), true) => return Ok(artifact),
                (Some(_), false) => return Err(Refusal::AmbiguousSlug { slug: slug.to_string() }.into()),
                (None, _) => {}
            }
        }
        Err(Refusal::NotFound(Missing::Artifact).into())
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
