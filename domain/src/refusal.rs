//! Every expected no, in one list, so that no two doors word one differently. It knows no HTTP status, and a message
//! must never carry a secret: it goes to the caller and into outcomes.

use serde::{Deserialize, Serialize};

use crate::{Challenge, ModerationStatus, Slug};

mod catalogue;
mod cause;
mod hint;

pub use catalogue::RefusalEntry;
pub use cause::{Crowd, Missing, MissingRight, Repeating};

/// When a retry makes sense, where nothing better is known.
const RETRY_AFTER_SECONDS: u64 = 2;

/// An expected no. Every refusal that the service knows lives here, with its code, its message and the hint that
/// names the next call; the API alone gives each its HTTP status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumDiscriminants)]
#[serde(rename_all = "snake_case")]
#[strum_discriminants(name(RefusalKind), derive(strum::EnumIter), doc = "A refusal without its facts.")]
pub enum Refusal {
    Unauthorized,
    /// A call of a person without a session.
    NotSignedIn,
    AccountExpired,
    /// A claim that came after the account's end. The code is that of `AccountExpired`, the status is not.
    ClaimExpired,
    /// A write to an account that an operator has suspended, a claim of it, or an invite to it.
    AccountSuspended,
    PaymentRequired(Box<Challenge>),
    InsufficientScope(MissingRight),
    /// A malformed field, path or parameter: its name and what is wrong with it.
    InvalidRequest {
        field: String,
        fault: String,
    },
    /// JSON that did not parse or does not fit.
    InvalidBody {
        fault: String,
    },
    WeakPassword {
        rule: String,
    },
    InvalidCredentials,
    RateLimited {
        retry_after_seconds: u64,
    },
    /// A body that is longer than this call takes.
    TooLarge {
        limit: String,
    },
    /// More files, or larger ones, than one publish has.
    PublishTooLarge {
        limit: String,
    },
    /// More than a provisional account stores.
    StorageFull {
        limit: String,
    },
    SlugTaken {
        slug: String,
    },
    /// Several artifacts bear the slug, and the call means one.
    AmbiguousSlug {
        slug: String,
    },
    NotFound(Missing),
    MethodNotAllowed {
        allowed: String,
    },
    UnsupportedMediaType {
        expected: String,
    },
    NotConfigured {
        what: String,
    },
    SessionRequired,
    AgentJoinDisabled,
    Forbidden {
        fault: String,
    },
    /// A person who is on no account yet.
    NoAccount,
    /// An account that a person named and is not on.
    ForeignAccount,
    /// The owner was to be removed.
    OwnerStays,
    UsernameTaken {
        username: String,
    },
    InviteRevoked,
    InviteExpired,
    InviteUsedUp,
    AlreadyClaimed,
    /// A team was asked for on an account that nobody has claimed.
    NotClaimed,
    /// A change that another site's page made with a person's cookie, or in their browser.
    ForeignPage,
    /// Something that only dev mode offers was asked for from elsewhere than this machine.
    DevModeIsLocal,
    ProcessorError,
    QuotaExceeded {
        limit: String,
    },
    /// The account's team is as large as it gets.
    TooMany(Crowd),
    /// A claim by a person who owns as many accounts as one person may own.
    TooManyAccounts {
        limit: u32,
    },
    IdempotencyConflict,
    /// A file that was to be published holds a token that works.
    SecretInPublish {
        path: String,
        line: Option<u32>,
    },
    /// Arguments of a tool that do not fit it.
    InvalidArguments {
        tool: String,
        fault: String,
    },
    /// A second upload to the same address.
    UploadTaken,
    /// A moderator's word on a version that is no longer the live one: another is, if any.
    VersionChanged {
        live: Option<u32>,
    },
    /// A moderator's word on a version of which something was decided that they have not seen.
    DecidedMeanwhile {
        status: ModerationStatus,
    },
    /// A second appeal against what was decided of one version.
    AlreadyAppealed,
    /// An appeal for a version that is served and waits for nobody.
    NothingToAppeal {
        status: ModerationStatus,
    },
    /// An operator's word on a job that is in a state in which it cannot be done.
    JobIs {
        state: String,
    },
    /// Busy, or without a part that is needed. It is also the outcome of an operation whose deadline has passed, which the
    /// release before must be able to read.
    Overloaded {
        fault: String,
        retry_after_seconds: u64,
    },
    /// The database did not answer while an operation was carried out, so nobody knows whether it was done.
    OutcomeUnknown(Repeating),
    Internal,
}

impl Refusal {
    pub fn invalid(field: impl Into<String>, fault: impl Into<String>) -> Self {
        Refusal::InvalidRequest { field: field.into(), fault: fault.into() }
    }

    /// A slug that is none.
    pub fn malformed_slug() -> Self {
        Self::invalid("slug", format!("must match {}", Slug::PATTERN))
    }

    pub fn overloaded(fault: impl Into<String>) -> Self {
        Refusal::Overloaded { fault: fault.into(), retry_after_seconds: RETRY_AFTER_SECONDS }
    }

    /// An operation that was not settled before its deadline.
    pub fn past_deadline() -> Self {
        Self::overloaded("this could not be done in time; nothing was done, and nothing will be")
    }

    pub fn is_past_deadline(&self) -> bool {
        *self == Self::past_deadline()
    }

    pub fn code(&self) -> &'static str {
        match self {
            Refusal::Unauthorized | Refusal::NotSignedIn => "unauthorized",
            Refusal::AccountExpired | Refusal::ClaimExpired => "account_expired",
            Refusal::AccountSuspended => "account_suspended",
            Refusal::PaymentRequired(_) => "payment_required",
            Refusal::InsufficientScope(_) => "insufficient_scope",
            Refusal::InvalidRequest { .. } | Refusal::InvalidArguments { .. } => "invalid_request",
            Refusal::InvalidBody { .. } => "invalid_body",
            Refusal::WeakPassword { .. } => "weak_password",
            Refusal::InvalidCredentials => "invalid_credentials",
            Refusal::RateLimited { .. } => "rate_limited",
            Refusal::TooLarge { .. } | Refusal::PublishTooLarge { .. } | Refusal::StorageFull { .. } => {
                "too_large"
            }
            Refusal::SlugTaken { .. } => "slug_taken",
            Refusal::AmbiguousSlug { .. } => "ambiguous_slug",
            Refusal::NotFound(_) => "not_found",
            Refusal::MethodNotAllowed { .. } => "method_not_allowed",
            Refusal::UnsupportedMediaType { .. } => "unsupported_media_type",
            Refusal::NotConfigured { .. } => "not_configured",
            Refusal::SessionRequired => "session_required",
            Refusal::AgentJoinDisabled => "agent_join_disabled",
            Refusal::Forbidden { .. }
            | Refusal::NoAccount
            | Refusal::ForeignAccount
            | Refusal::OwnerStays
            | Refusal::NotClaimed
            | Refusal::ForeignPage
            | Refusal::DevModeIsLocal => "forbidden",
            Refusal::UsernameTaken { .. } => "username_taken",
            Refusal::InviteRevoked => "invite_revoked",
            Refusal::InviteExpired => "invite_expired",
            Refusal::InviteUsedUp => "invite_used_up",
            Refusal::AlreadyClaimed => "already_claimed",
            Refusal::ProcessorError => "processor_error",
            Refusal::QuotaExceeded { .. } | Refusal::TooMany(_) | Refusal::TooManyAccounts { .. } => {
                "quota_exceeded"
            }
            Refusal::IdempotencyConflict => "idempotency_conflict",
            Refusal::SecretInPublish { .. } => "secret_in_publish",
            Refusal::UploadTaken => "upload_taken",
            Refusal::VersionChanged { .. } | Refusal::DecidedMeanwhile { .. } => "version_changed",
            Refusal::AlreadyAppealed => "already_appealed",
            Refusal::NothingToAppeal { .. } => "nothing_to_appeal",
            Refusal::JobIs { .. } => "job_state",
            Refusal::Overloaded { .. } => "overloaded",
            Refusal::OutcomeUnknown(_) => "outcome_unknown",
            Refusal::Internal => "internal_error",
        }
    }

    #[expect(clippy::too_many_lines, reason = "an arm for each refusal")]
    pub fn message(&self) -> String {
        match self {
            Refusal::Unauthorized => "the token is missing, unknown, revoked or expired".into(),
            Refusal::NotSignedIn => "sign-in required: this endpoint needs a person's session".into(),
            Refusal::AccountExpired => "this provisional account has expired and is read-only".into(),
            Refusal::ClaimExpired => "this account expired before it was claimed".into(),
            Refusal::AccountSuspended => {
                "this account is suspended: it is read-only and cannot be claimed or joined".into()
            }
            Refusal::PaymentRequired(challenge) => challenge.message.clone(),
            Refusal::InsufficientScope(right) => right.message().into(),
            Refusal::InvalidRequest { field, fault } => format!("{field}: {fault}"),
            Refusal::InvalidBody { fault } => format!("invalid request body: {fault}"),
            Refusal::WeakPassword { rule } => format!("the password is too weak: {rule}"),
            Refusal::InvalidCredentials => "wrong username or password".into(),
            Refusal::RateLimited { retry_after_seconds } => {
                format!("too many requests; try again in {retry_after_seconds} s")
            }
            Refusal::TooLarge { limit }
            | Refusal::PublishTooLarge { limit }
            | Refusal::StorageFull { limit } => format!("too large: {limit}"),
            Refusal::SlugTaken { slug } => format!("the slug {slug:?} was just taken on this account"),
            Refusal::AmbiguousSlug { slug } => format!("several artifacts have the slug {slug:?}"),
            Refusal::NotFound(missing) => format!("there is no such {}", missing.name()),
            Refusal::MethodNotAllowed { allowed } => format!("this path supports only {allowed}"),
            Refusal::UnsupportedMediaType { expected } => format!("the content type must be {expected}"),
            Refusal::NotConfigured { what } => format!("{what} is not configured on this deployment"),
            Refusal::SessionRequired => "this endpoint needs a person's session, not a bearer token".into(),
            Refusal::AgentJoinDisabled => "the owner does not allow agents to join".into(),
            Refusal::Forbidden { fault } => fault.clone(),
            Refusal::NoAccount => "you are not a member of any account yet".into(),
            Refusal::ForeignAccount => "you are not a member of the account in X-Account".into(),
            Refusal::OwnerStays => "the owner cannot be removed".into(),
            Refusal::UsernameTaken { username } => format!("the username {username:?} is taken"),
            Refusal::InviteRevoked => "this invite has been revoked".into(),
            Refusal::InviteExpired => "this invite has expired".into(),
            Refusal::InviteUsedUp => "this invite has been used up".into(),
            Refusal::AlreadyClaimed => "this account has been claimed already".into(),
            Refusal::ForeignPage => "cross-site requests are not allowed".into(),
            Refusal::DevModeIsLocal => {
                "dev mode allows this only on the machine that runs the service; the request came through a \
                 proxy or has another host name"
                    .into()
            }
            Refusal::NotClaimed => "only claimed accounts can invite, and this one is provisional".into(),
            Refusal::ProcessorError => "the card processor refused to open a checkout".into(),
            Refusal::QuotaExceeded { limit } => format!("the account is at its limit: {limit}"),
            Refusal::TooMany(crowd) => format!("the account has reached its limit of {}", crowd.name()),
            Refusal::TooManyAccounts { limit } => {
                format!("you have reached the limit of {limit} accounts per person")
            }
            Refusal::IdempotencyConflict => {
                "this Idempotency-Key was used for another request in the last 24 hours".into()
            }
            Refusal::SecretInPublish { path, line } => {
                let line = line.map(|line| format!(" on line {line}")).unwrap_or_default();
                format!(
                    "files: {path:?} holds an active token of this service (svc_sk_…){line}; nothing was published"
                )
            }
            Refusal::InvalidArguments { fault, .. } => fault.clone(),
            Refusal::UploadTaken => "this upload URL has already been used; it accepts one upload".into(),
            Refusal::VersionChanged { live: Some(seq) } => {
                format!("the live version has changed: it is now version {seq}")
            }
            Refusal::VersionChanged { live: None } => "the page no longer has a live version".into(),
            Refusal::DecidedMeanwhile { status } => {
                format!(
                    "another decision was made since you opened the page; its status is now {}",
                    status.as_str()
                )
            }
            Refusal::AlreadyAppealed => "this version has already been appealed".into(),
            Refusal::NothingToAppeal { status } => {
                format!(
                    "there is nothing to appeal: the moderation status of the page is {}",
                    status.as_str()
                )
            }
            Refusal::JobIs { state } => format!("this is not possible while the job is {state}"),
            Refusal::Overloaded { fault, .. } => fault.clone(),
            Refusal::OutcomeUnknown(_) => {
                "the database stopped responding, so it is unknown whether the request succeeded".into()
            }
            Refusal::Internal => "something went wrong on our side".into(),
        }
    }

    /// When a retry makes sense, where the answer says so in a header.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        match self {
            Refusal::RateLimited { retry_after_seconds }
            | Refusal::Overloaded { retry_after_seconds, .. } => Some(*retry_after_seconds),
            Refusal::OutcomeUnknown(_) => Some(RETRY_AFTER_SECONDS),
            _ => None,
        }
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hint_of_a_401_says_to_sign_up() {
        for refusal in [Refusal::Unauthorized, Refusal::NotSignedIn, Refusal::InvalidCredentials] {
            assert!(refusal.hint().contains("sign"), "{refusal}");
            assert!(refusal.hint().contains("POST /v1/signup to get a token"), "{refusal}");
        }
    }
}
