//! Accounts in responses. The token is in the response to a signup and must never appear in another type.

use domain::link::Addresses;
use domain::{AccountSummary, Tariff};
use poem_openapi::{Enum, Object};
use service::SignedUp;

use super::{Suspension, Timestamp, Usd};

const BYTES_PER_MB: u64 = 1_048_576;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum AccountStatus {
    Provisional,
    Claimed,
}

/// An account.
#[derive(Clone, Debug, Object)]
pub struct Account {
    pub id: String,
    pub handle: String,
    /// The name that an owner has given the account. Null if it has none.
    #[oai(nullable)]
    pub name: Option<String>,
    /// `provisional` until a person claims it, then `claimed`.
    pub status: AccountStatus,
    /// When a provisional account expires. Null once it is claimed.
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
}

/// What the account may use for free.
#[derive(Debug, Object)]
pub struct Limits {
    /// The number of free publishes: in total while provisional, per UTC month once claimed.
    pub free_publishes: u64,
    /// The maximum storage in MB while provisional. Null once claimed: storage is then billed.
    #[oai(nullable)]
    pub total_mb: Option<u64>,
}

/// A new account and its first token.
#[derive(Object)]
pub struct SignUp {
    pub account: Account,
    /// The bearer token. It is shown only once.
    pub token: String,
    /// The link that a person opens before `expires_at` to keep the account and its pages.
    pub claim_url: String,
    pub limits: Limits,
}

/// The caller's account.
#[derive(Object)]
pub struct AccountDetail {
    pub account: Account,
    // The fields of `account` are also at the top level, where clients look for them.
    #[oai(flatten)]
    pub same_account: Account,
    /// When and why the operator suspended the account. A suspended account can only be read, and its pages
    /// return 451. Null if it is not suspended.
    #[oai(nullable)]
    pub suspended: Option<Suspension>,
    pub limits: Limits,
    /// The balance. It can be negative.
    pub credits_usd: Usd,
    pub free_publishes_left: u64,
    pub usage: UsageSummary,
    /// Whether agents may join with an invite.
    pub allow_agent_join: bool,
    /// How many of an artifact's newest versions are kept, if the artifact has no rule of its own. Null: no
    /// limit.
    #[oai(nullable)]
    pub versions_kept: Option<u32>,
    /// For how many days a version is kept, if the artifact has no rule of its own. Null: no limit.
    #[oai(nullable)]
    pub versions_days: Option<u32>,
    /// The link that a person opens to claim the account. Only while it is provisional, and only for callers
    /// with the scope `account:manage`.
    #[oai(skip_serializing_if_is_none)]
    pub claim_url: Option<String>,
}

/// The caller's account with its number of members.
#[derive(Object)]
pub struct AccountWithMembers {
    #[oai(flatten)]
    pub account: AccountDetail,
    pub member_count: u64,
}

/// This month's usage in short. `GET /v1/usage` has the details.
#[derive(Debug, Object)]
pub struct UsageSummary {
    /// The UTC month, `YYYY-MM`.
    pub month: String,
    /// The number of publishes that count against the free ones.
    pub publishes: u64,
    pub storage_bytes: u64,
    /// The number of page views.
    pub views: u64,
}

impl From<domain::AccountStatus> for AccountStatus {
    fn from(status: domain::AccountStatus) -> Self {
        match status {
            domain::AccountStatus::Provisional => AccountStatus::Provisional,
            domain::AccountStatus::Claimed => AccountStatus::Claimed,
        }
    }
}

impl From<&domain::Account> for Account {
    fn from(account: &domain::Account) -> Self {
        Self {
            id: account.id.to_string(),
            handle: account.handle.clone(),
            name: account.name.as_ref().map(ToString::to_string),
            status: account.status.into(),
            expires_at: account.expires_at.map(Timestamp::from),
        }
    }
}

impl Limits {
    fn of(status: domain::AccountStatus, tariff: &Tariff) -> Self {
        let is_capped = status == domain::AccountStatus::Provisional;
        Self {
            free_publishes: tariff.free_publishes(status),
            total_mb: is_capped.then_some(tariff.provisional_storage_bytes_max / BYTES_PER_MB),
        }
    }
}

impl SignUp {
    pub fn new(signed_up: SignedUp, tariff: &Tariff) -> Self {
        Self {
            account: (&signed_up.account).into(),
            limits: Limits::of(signed_up.account.status, tariff),
            token: signed_up.token.reveal(),
            claim_url: signed_up.claim_url,
        }
    }
}

impl AccountDetail {
    pub fn new(summary: &AccountSummary, tariff: &Tariff, claim_url: Option<String>) -> Self {
        let account = &summary.account;
        Self {
            account: account.into(),
            same_account: account.into(),
            suspended: account.suspension.as_ref().map(Suspension::from),
            limits: Limits::of(account.status, tariff),
            credits_usd: account.balance.into(),
            free_publishes_left: tariff.free_publishes_left(summary.standing()),
            usage: summary.into(),
            allow_agent_join: account.allow_agent_join,
            versions_kept: account.retention.versions_kept,
            versions_days: account.retention.versions_days,
            claim_url,
        }
    }
}

/// The claim link, while the account can be claimed.
pub(super) fn claim_url(account: &domain::Account, addresses: &Addresses) -> Option<String> {
    let is_claimable = account.status == domain::AccountStatus::Provisional;
    is_claimable.then(|| addresses.claim(&account.claim_code))
}

impl From<&AccountSummary> for UsageSummary {
    fn from(summary: &AccountSummary) -> Self {
        Self {
            month: summary.month.to_string(),
            publishes: summary.publishes_used(),
            storage_bytes: summary.account.storage_bytes,
            views: summary.used.views,
        }
    }
}
