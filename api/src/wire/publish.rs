//! The result of a publish through any interface. The `X-PAYMENT-RESPONSE` header is made from this receipt,
//! so that they cannot differ.

use domain::SitePath;
use domain::link::Addresses;
use poem_openapi::Object;
use service::{ModerationNotice, Publication};

use super::artifact::ModerationStatus;
use super::{Timestamp, Usd};

/// The result of a publish.
#[derive(Object)]
pub struct PublishResult {
    /// The URL where the artifact is served. It is the same for every version.
    pub url: String,
    /// The URL of the file to open first. Only for a site without `index.html`. It works for a private
    /// artifact too.
    #[oai(skip_serializing_if_is_none)]
    pub entry_url: Option<String>,
    pub host: String,
    pub artifact_id: String,
    /// The new version's `seq`.
    pub version: u32,
    /// The new version's own URL, also while it is staged. It shows this version whichever is live, closes
    /// with the artifact, and is not indexed or counted as a view.
    pub version_url: String,
    /// The link to the version instead of `version_url`. Only for a private artifact.
    #[oai(skip_serializing_if_is_none)]
    pub signed_version_url: Option<String>,
    pub account: AccountStanding,
    /// The link to share instead of `url`. Only for a private artifact.
    #[oai(skip_serializing_if_is_none)]
    pub signed_url: Option<String>,
    /// Only if `X-PAYMENT` paid for this call.
    #[oai(skip_serializing_if_is_none)]
    pub receipt: Option<Receipt>,
    /// Possible problems in the files, at most 50. The files are published anyway. Fix them and publish
    /// again, and tell your human about secrets.
    pub warnings: Vec<Warning>,
    /// The verdict on this version. Only with `wait=scan`. `pending` if the scan took longer than 10 seconds.
    #[oai(skip_serializing_if_is_none)]
    pub moderation_status: Option<ModerationStatus>,
    /// Why `moderation_status` is not `pass`, and whether the version is served.
    #[oai(skip_serializing_if_is_none)]
    pub reason: Option<String>,
}

/// A possible problem in a published file.
#[derive(Debug, Object)]
pub struct Warning {
    /// `no_index`: the site has no `index.html`. `missing_file`: a reference to a file that the site does not
    /// have. `case_mismatch`: the same, but the site has a file whose name differs in upper and lower case.
    /// `absolute_path`: a reference that leaves the site, because sites are served below a path.
    /// `blocked_by_policy`: a resource from a host that the content security policy does not allow.
    /// `mixed_content`: an `http:` resource on an `https:` page. `unused_config`: a configuration file of
    /// another service, which has no effect. `secret`: what looks like an active key of another service.
    /// `large_image`: an image of more than 1 MB. `bad_config`: a line of `_redirects` or `_headers` that
    /// does not have the intended effect.
    pub code: String,
    /// The file's path in the site. For `no_index`, `index.html`.
    pub path: String,
    /// The line, from 1. Absent if the warning is about the whole file, or the file is not text.
    #[oai(skip_serializing_if_is_none)]
    pub line: Option<u32>,
    /// The reference in the file, without query and fragment. For `no_index`, the page that the URL shows
    /// instead.
    #[oai(skip_serializing_if_is_none)]
    pub target: Option<String>,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// What the account has left.
#[derive(Debug, Object)]
pub struct AccountStanding {
    pub free_publishes_left: u64,
    /// The balance. It can be negative.
    pub credits_usd: Usd,
    /// When a provisional account expires. Null once it is claimed.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
}

/// Proof of a settled payment. The `X-PAYMENT-RESPONSE` header has the same as compact JSON.
#[derive(Clone, Debug, Object)]
pub struct Receipt {
    /// The payment method, such as `dev`.
    pub rail: String,
    pub amount_usd: Usd,
    pub id: String,
    pub settled_at: Timestamp,
}

impl PublishResult {
    pub fn new(publication: &Publication, signed_url: Option<String>, addresses: &Addresses) -> Self {
        let Publication { published, warnings, entry_page, version_links } = publication;
        let url = addresses.page(&published.host);
        let link = signed_url.as_deref().unwrap_or(&url);
        Self {
            entry_url: entry_page.as_ref().map(|path| url_of_file(link, path)),
            url,
            host: published.host.to_string(),
            artifact_id: published.artifact.to_string(),
            version: published.seq,
            version_url: version_links.url(published.seq),
            signed_version_url: version_links.signed_url(published.seq),
            account: AccountStanding {
                free_publishes_left: published.free_publishes_left,
                credits_usd: published.balance.into(),
                expires_at: published.expires_at.map(Timestamp::from),
            },
            signed_url,
            receipt: published.receipt.as_ref().map(Receipt::from),
            warnings: warnings.iter().map(Warning::from).collect(),
            moderation_status: None,
            reason: None,
        }
    }

    /// Adds what is known about the version after the wait for its scan.
    pub fn with_verdict(self, ModerationNotice { status, message, .. }: ModerationNotice) -> Self {
        Self { moderation_status: Some(status.into()), reason: message, ..self }
    }
}

/// The URL of a file, from the URL of its site with its query.
fn url_of_file(site: &str, path: &SitePath) -> String {
    let (site, query) = site.split_at(site.find('?').unwrap_or(site.len()));
    format!("{site}{}{query}", path.in_url())
}

impl From<&domain::Warning> for Warning {
    fn from(warning: &domain::Warning) -> Self {
        Self {
            code: warning.code.as_str().to_owned(),
            path: warning.path.to_string(),
            line: warning.line,
            target: warning.target.clone(),
            message: warning.message.clone(),
            hint: warning.hint.clone(),
        }
    }
}

impl From<&domain::Receipt> for Receipt {
    fn from(receipt: &domain::Receipt) -> Self {
        Self {
            rail: receipt.rail.clone(),
            amount_usd: receipt.amount.into(),
            id: receipt.id.clone(),
            settled_at: receipt.settled_at.into(),
        }
    }
}
