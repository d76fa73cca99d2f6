//! Reports and moderation decisions in requests and responses.

use domain::link::Addresses;
use domain::{Host, MalformedReason, ModerationDecision, Refusal, ReportReason, SiteLabel};
use poem_openapi::{Enum, Object};

use super::artifact::ModerationStatus;
use super::text::typed_texts;

const HOST_ENDS: [char; 3] = ['/', '?', '#'];

typed_texts! {
    TypedAddress: min_length: Some(1);
    TypedHost: pattern: Some(Host::PATTERN.to_owned());
    TypedReason: max_length: Some(ReportReason::LENGTH_MAX), pattern: Some(ReportReason::PATTERN.to_owned());
}

/// A report of an abusive page.
#[derive(Object)]
pub struct Report {
    /// The page's host, such as `my-page-a1b2`, or its URL. The URL of a version reports its page and
    /// names that version.
    pub host: TypedAddress,
    /// What is wrong with the page. The moderators read it.
    pub reason: Option<TypedReason>,
    /// The kind of abuse.
    pub category: Option<ReportCategory>,
}

/// The kind of abuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum ReportCategory {
    Phishing,
    Malware,
    Copyright,
    Privacy,
    Spam,
    Other,
}

/// A parsed report.
pub struct ReportWritten {
    /// The page, or one of its versions.
    pub label: SiteLabel,
    pub reason: Option<ReportReason>,
    pub category: Option<domain::ReportCategory>,
}

/// A recorded report.
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

/// A moderation decision.
#[derive(Debug, Object)]
pub struct Moderate {
    /// `block` replaces the page with a 451 error. `pass` serves it.
    pub action: Action,
}

/// An artifact after a moderation decision.
#[derive(Debug, Object)]
pub struct Moderated {
    pub slug: String,
    pub host: String,
    pub moderation_status: ModerationStatus,
}

impl Report {
    /// A reason that is only white space counts as omitted.
    pub fn read(&self, addresses: &Addresses) -> Result<ReportWritten, Refusal> {
        let reason = self.reason.as_ref().map(|reason| reason.0.as_str());
        let category = self.category.map(domain::ReportCategory::from);
        Ok(ReportWritten { category, ..read_report(&self.host.0, reason, None, addresses)? })
    }
}

/// Reads a report from a JSON body or from the page's form.
pub fn read_report(
    host: &str,
    reason: Option<&str>,
    category: Option<&str>,
    addresses: &Addresses,
) -> Result<ReportWritten, Refusal> {
    let label = host_in(host.trim(), addresses).parse().map_err(|_| no_host())?;
    let reason = reason.map(str::trim).filter(|reason| !reason.is_empty()).map(str::parse).transpose();
    let invalid = |fault: MalformedReason| Refusal::invalid("reason", fault.to_string());
    let unknown = || {
        let known = domain::ReportCategory::ALL.map(domain::ReportCategory::as_str).join(", ");
        Refusal::invalid("category", format!("must be one of: {known}"))
    };
    let category = category.filter(|name| !name.is_empty());
    let category =
        category.map(|name| domain::ReportCategory::parse(name).ok_or_else(unknown)).transpose()?;
    Ok(ReportWritten { label, reason: reason.map_err(invalid)?, category })
}

pub(super) fn read_host(text: &str) -> Result<Host, Refusal> {
    text.parse().map_err(|_| no_host())
}

fn no_host() -> Refusal {
    Refusal::invalid("host", "is not the host of a page, such as my-page-a1b2")
}

/// The page's host, from the host itself or from a pasted URL. If pages are served by path, it follows
/// `/site/`. Otherwise it is the first label of the URL's host.
fn host_in(text: &str, addresses: &Addresses) -> String {
    let text = text.to_ascii_lowercase();
    if !text.contains(['/', '.', ':']) {
        return text;
    }
    let (authority, path) = split_url(&text);
    let (ours, _) = split_url(&addresses.serve_url);
    let name = match path.strip_prefix("/site/") {
        Some(path) if authority.eq_ignore_ascii_case(ours) => path.split(HOST_ENDS).next(),
        _ => authority.split(['.', ':']).next(),
    };
    name.unwrap_or_default().to_owned()
}

/// Splits a URL, with or without scheme, into its authority and the rest.
fn split_url(address: &str) -> (&str, &str) {
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    rest.split_at(rest.find(HOST_ENDS).unwrap_or(rest.len()))
}

impl From<ReportCategory> for domain::ReportCategory {
    fn from(category: ReportCategory) -> Self {
        match category {
            ReportCategory::Phishing => domain::ReportCategory::Phishing,
            ReportCategory::Malware => domain::ReportCategory::Malware,
            ReportCategory::Copyright => domain::ReportCategory::Copyright,
            ReportCategory::Privacy => domain::ReportCategory::Privacy,
            ReportCategory::Spam => domain::ReportCategory::Spam,
            ReportCategory::Other => domain::ReportCategory::Other,
        }
    }
}

impl From<domain::ReportCategory> for ReportCategory {
    fn from(category: domain::ReportCategory) -> Self {
        match category {
            domain::ReportCategory::Phishing => ReportCategory::Phishing,
            domain::ReportCategory::Malware => ReportCategory::Malware,
            domain::ReportCategory::Copyright => ReportCategory::Copyright,
            domain::ReportCategory::Privacy => ReportCategory::Privacy,
            domain::ReportCategory::Spam => ReportCategory::Spam,
            domain::ReportCategory::Other => ReportCategory::Other,
        }
    }
}

impl From<Action> for ModerationDecision {
    fn from(action: Action) -> Self {
        match action {
            Action::Pass => ModerationDecision::Pass,
            Action::Block => ModerationDecision::Block,
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

#[cfg(test)]
mod tests {
    use domain::link::UrlStyle;

    use super::*;

    #[test]
    fn page_is_identified_by_slug_or_url() {
        let addresses = Addresses {
            base_url: "https://handbill.example".into(),
            serve_url: "https://Pages.example:8443".into(),
            edge_domain: "pages.example".into(),
            url_style: UrlStyle::Path,
        };
        for named in [
            "my-page-a1b2",
            "My-Page-A1B2",
            "https://pages.example:8443/site/my-page-a1b2/",
            "HTTPS://PAGES.EXAMPLE:8443/site/my-page-a1b2/about?x=1#y",
            "pages.example:8443/site/my-page-a1b2",
            "pages.example:8443/site/my-page-a1b2?x",
            "https://my-page-a1b2.pages.example",
            "https://my-page-a1b2.pages.example/site/another-page/",
            "my-page-a1b2.pages.example:8443/about",
            "my-page-a1b2.pages.example?x=/site/y",
            "my-page-a1b2/",
        ] {
            assert_eq!(host_in(named, &addresses), "my-page-a1b2", "{named}");
        }
        assert_eq!(host_in("https://elsewhere.example/site/my-page-a1b2/", &addresses), "elsewhere");
        assert_eq!(host_in("https://", &addresses), "");
    }
}
