//! What a publish answers, over whichever endpoint it came. The receipt of the header is made from the one in here:
//! the two must never differ.

use domain::link::Addresses;
use poem_openapi::Object;
use service::Publication;

use super::{Timestamp, Usd};

/// A publish that came to pass.
#[derive(Object)]
pub struct PublishResult {
    /// Where the artifact is served; the same for every version.
    pub url: String,
    pub host: String,
    pub artifact_id: String,
    /// The new version's `seq`.
    pub version: u32,
    pub account: AccountStanding,
    /// The link to hand out instead of `url`; only when the artifact is private.
    #[oai(skip_serializing_if_is_none)]
    pub signed_url: Option<String>,
    /// Only when the call was paid inline.
    #[oai(skip_serializing_if_is_none)]
    pub receipt: Option<Receipt>,
    /// Possible problems in the files, at most 50. The files are published all the same; tell your human.
    pub warnings: Vec<Warning>,
}

/// A possible problem in a published file. Check it.
#[derive(Debug, Object)]
pub struct Warning {
    /// `secret`: a key of another provider that looks live.
    pub code: String,
    /// The file's path in the site.
    pub path: String,
    /// Counted from 1; absent for a file that is not text.
    #[oai(skip_serializing_if_is_none)]
    pub line: Option<u32>,
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

/// What the account has left after the call.
#[derive(Debug, Object)]
pub struct AccountStanding {
    pub free_publishes_left: u64,
    /// The balance; it may be negative.
    pub credits_usd: Usd,
    /// When a provisional account stops working; null once it is claimed.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
}

/// Proof of a settled payment. `X-PAYMENT-RESPONSE` carries the same as compact JSON.
#[derive(Clone, Debug, Object)]
pub struct Receipt {
    /// How it was paid, such as `dev`.
    pub rail: String,
    pub amount_usd: Usd,
    pub id: String,
    pub settled_at: Timestamp,
}

impl PublishResult {
    pub fn new(publication: &Publication, signed_url: Option<String>, addresses: &Addresses) -> Self {
        let Publication { published, warnings } = publication;
        Self {
            url: addresses.page(&published.host),
            host: published.host.to_string(),
            artifact_id: published.artifact.to_string(),
            version: published.seq,
            account: AccountStanding {
                free_publishes_left: published.free_publishes_left,
                credits_usd: published.balance.into(),
                expires_at: published.expires_at.map(Timestamp::from),
            },
            signed_url,
            receipt: published.receipt.as_ref().map(Receipt::from),
            warnings: warnings.iter().map(Warning::from).collect(),
        }
    }
}

impl From<&domain::Warning> for Warning {
    fn from(warning: &domain::Warning) -> Self {
        Self {
            code: warning.code.as_str().to_owned(),
            path: warning.path.to_string(),
            line: warning.line,
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
