//! What people say of pages: a report by anyone, a moderator's word in dev mode. Neither looks at who owns the page.

use std::net::IpAddr;

use bus::RateLimit;
use domain::{
    Artifact, ArtifactName, Host, Missing, ModerationStatus, Refusal, ReportId, ReportReason, Ruling, Slug,
};
use store::{ModeratorsWord, NewReport, Reported, Ruled, Whose};

use crate::{Answer, Person, Service};

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
            moderator: moderator.user,
            now: self.0.clock.now(),
        };
        match self.0.store.rule(&word, &self.0.chance).await? {
            Ruled::Done => {}
            Ruled::Gone => return Err(Refusal::NotFound(Missing::Artifact).into()),
            Ruled::NothingIsLive => return Err(Refusal::NotFound(Missing::Version).into()),
        }
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
