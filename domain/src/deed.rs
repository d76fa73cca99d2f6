//! What a ledger settles, and how that ended. Outcomes are kept in the database and read back later: their written
//! form must never change so that an old one no longer parses.

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, ArtifactId, Host, JobId, Manifest, Micro, Payment, Receipt, Refusal, Slug, Time, TokenId,
    VersionId,
};

/// Something that moves money or uses allowance. Only an account's ledger settles deeds, and each at most once.
#[derive(Clone, Debug)]
pub enum Deed {
    Publish(Box<PublishDeed>),
    Credit(CreditDeed),
    Charge(ChargeDeed),
}

/// A version whose blobs are in place, to be written, paid and made live in one transaction.
#[derive(Clone, Debug)]
pub struct PublishDeed {
    pub account: AccountId,
    pub version: VersionId,
    pub slug: Slug,
    pub target: Target,
    pub activation: Activation,
    /// The artifact that the token is pinned to, if it is.
    pub pinned_to: Option<ArtifactId>,
    pub manifest: Manifest,
    pub payment: Option<Payment>,
    pub created_via: String,
    pub created_by: Option<TokenId>,
}

/// Which artifact a publish may go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// The artifact that bears the slug, or a new one.
    NewOrExisting,
    /// Only one that exists: `POST …/versions`.
    Existing,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Activation {
    /// The new version becomes the live one.
    Live,
    /// The pointer stays where it is.
    Staged,
}

/// Money that comes in. The reason is unique in the account, so a repeated credit adds nothing.
#[derive(Clone, Debug)]
pub struct CreditDeed {
    pub account: AccountId,
    pub amount: Micro,
    pub reason: String,
    pub rail: Rail,
}

/// Where money came from: an account that took real money is never purged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rail {
    Dev,
    Card,
}

/// Money that goes out whatever the balance (metering). The reason is unique in the account.
#[derive(Clone, Debug)]
pub struct ChargeDeed {
    pub account: AccountId,
    pub amount: Micro,
    pub reason: String,
}

impl Deed {
    pub fn account(&self) -> AccountId {
        match self {
            Deed::Publish(deed) => deed.account,
            Deed::Credit(deed) => deed.account,
            Deed::Charge(deed) => deed.account,
        }
    }
}

impl PublishDeed {
    /// The key under which the outcome is kept: a redelivered publish finds it and changes nothing.
    pub fn job(&self) -> JobId {
        self.version.into()
    }
}

/// How a deed ended. It is written in the deed's own transaction, and so is what a redelivery answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Published(Box<Published>),
    Moved(Moved),
    Refused(Box<Refusal>),
}

/// A publish that came to pass.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Published {
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub host: Host,
    pub slug: Slug,
    pub version: VersionId,
    pub seq: u32,
    pub free_publishes_left: u64,
    pub balance: Micro,
    pub expires_at: Option<Time>,
    pub receipt: Option<Receipt>,
}

/// A credit or a charge that came to pass, now or earlier under the same reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Moved {
    pub balance: Micro,
    /// Whether this very deed moved the money; `false` when the reason had been used before.
    pub is_new: bool,
}
