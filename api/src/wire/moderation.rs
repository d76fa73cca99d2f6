//! Reports and a moderator's word as callers see them.

use domain::{Host, MalformedReason, Refusal, ReportReason, Ruling};
use poem_openapi::{Enum, Object};

use super::artifact::ModerationStatus;
use super::text::typed_texts;

typed_texts! {
    TypedHost: pattern: Some(Host::PATTERN.to_owned());
    TypedReason: max_length: Some(ReportReason::LENGTH_MAX), pattern: Some(ReportReason::PATTERN.to_owned());
}

/// A page that should not be there.
#[derive(Object)]
pub struct Report {
    /// The page's host, as it stands in its address.
    pub host: TypedHost,
    /// What is wrong with the page, for the moderators.
    pub reason: Option<TypedReason>,
}

/// A report that was taken in.
#[derive(Debug, Object)]
pub struct ReportTaken {
    pub id: String,
    pub host: String,
    /// The page's status after the report.
    pub moderation_status: ModerationStatus,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum Action {
    Pass,
    Block,
}

/// A moderator's word.
#[derive(Debug, Object)]
pub struct Moderate {
    /// `block` shows a 451 page instead of the content, `pass` serves it.
    pub action: Action,
}

/// An artifact after a moderator's word.
#[derive(Debug, Object)]
pub struct Moderated {
    pub slug: String,
    pub host: String,
    pub moderation_status: ModerationStatus,
}

impl Report {
    /// The host and the reason; a reason of nothing but space is none.
    pub fn read(&self) -> Result<(Host, Option<ReportReason>), Refusal> {
        let reason = self.reason.as_ref().map(|reason| reason.0.as_str());
        read_report(&self.host.0, reason)
    }
}

/// Reads what a report says, from a body or from the form of the page.
pub fn read_report(host: &str, reason: Option<&str>) -> Result<(Host, Option<ReportReason>), Refusal> {
    let host = read_host(host)?;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::parse).transpose();
    let told = |fault: MalformedReason| Refusal::invalid("reason", fault.to_string());
    Ok((host, reason.map_err(told)?))
}

pub(super) fn read_host(text: &str) -> Result<Host, Refusal> {
    text.parse().map_err(|_| Refusal::invalid("host", "is no host of a page"))
}

impl From<Action> for Ruling {
    fn from(action: Action) -> Self {
        match action {
            Action::Pass => Ruling::Pass,
            Action::Block => Ruling::Block,
        }
    }
}

impl From<service::ReportTaken> for ReportTaken {
    fn from(taken: service::ReportTaken) -> Self {
        Self {
            id: taken.id.to_string(),
            host: taken.host.to_string(),
            moderation_status: taken.moderation.into(),
        }
    }
}

impl From<service::Moderated> for Moderated {
    fn from(moderated: service::Moderated) -> Self {
        Self {
            slug: moderated.slug.to_string(),
            host: moderated.host.to_string(),
            moderation_status: moderated.moderation.into(),
        }
    }
}
