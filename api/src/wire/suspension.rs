//! Suspensions of accounts in requests and responses.

use domain::{MalformedReason, Refusal, RulingNote, SuspensionReason, Time};
use poem_openapi::Object;
use poem_openapi::types::Example;
use service::SuspensionSet;

use super::Timestamp;
use super::text::typed_texts;

typed_texts! {
    TypedReason: min_length: Some(1), max_length: Some(RulingNote::LENGTH_MAX),
        pattern: Some(RulingNote::PATTERN.to_owned());
}

/// The reason for a suspension.
#[derive(Object)]
#[oai(example)]
pub struct SuspendAccount {
    /// The reason. The account's members and agents can see it.
    pub reason: TypedReason,
}

/// When and why an account was suspended.
#[derive(Debug, Object)]
pub struct Suspension {
    pub at: Timestamp,
    pub reason: String,
}

/// The account after the call.
#[derive(Debug, Object)]
#[oai(example)]
pub struct AccountSuspension {
    pub handle: String,
    /// Null if the account is not suspended.
    #[oai(nullable)]
    pub suspended: Option<Suspension>,
}

impl SuspendAccount {
    pub fn read(&self) -> Result<SuspensionReason, Refusal> {
        let invalid = |fault: MalformedReason| Refusal::invalid("reason", fault.to_string());
        self.reason.0.parse().map_err(invalid)
    }
}

impl From<&domain::Suspension> for Suspension {
    fn from(suspension: &domain::Suspension) -> Self {
        Self { at: suspension.at.into(), reason: suspension.reason.as_str().to_owned() }
    }
}

impl From<&SuspensionSet> for AccountSuspension {
    fn from(set: &SuspensionSet) -> Self {
        Self { handle: set.handle.clone(), suspended: set.suspension.as_ref().map(Suspension::from) }
    }
}

impl Example for SuspendAccount {
    fn example() -> Self {
        Self { reason: TypedReason("Phishing again after a warning".to_owned()) }
    }
}

impl Example for AccountSuspension {
    fn example() -> Self {
        let suspension = Suspension {
            at: Time::from_millis(1_767_225_600_000).into(),
            reason: SuspendAccount::example().reason.0,
        };
        Self { handle: "acct_k3x9m2p4q7r1".to_owned(), suspended: Some(suspension) }
    }
}
