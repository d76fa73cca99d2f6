//! All expected error responses in one list, so that every interface uses the same text. It does not know
//! HTTP statuses. A message must never contain a secret, because it is returned to the caller and stored in
//! outcomes.

use serde::{Deserialize, Serialize};

use crate::{
    BlobHash, Challenge, CurrentVersion, EditMismatch, ExistingSlug, ModerationStatus, PublishCondition, Slug,
};

mod catalogue;
mod cause;
mod hint;
mod message;

pub use catalogue::RefusalEntry;
pub use cause::{Crowd, Missing, MissingRight, Repeating};

/// The default for `Retry-After`.
const RETRY_AFTER_SECONDS: u64 = 2;

/// An expected error response, with its code, its message, and a hint that names the next call. The API
/// assigns the HTTP status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, strum::EnumDiscriminants)]
#[serde(rename_all = "snake_case")]
#[strum_discriminants(name(RefusalKind), derive(strum::EnumIter), doc = "A refusal without its facts.")]
pub enum Refusal {
    Unauthorized,
    /// A person's call without a session.
    NotSignedIn,
    AccountExpired,
    /// A claim of an expired account. It has the code of `AccountExpired`, but another status.
    ClaimExpired,
    /// A write to a suspended account, a claim of it, or an invite to it.
    AccountSuspended,
    PaymentRequired(Box<Challenge>),
    InsufficientScope(MissingRight),
    /// A malformed field, path or parameter: its name, and what is wrong with it.
    InvalidRequest {
        field: String,
        fault: String,
    },
    /// JSON that does not parse or does not match its schema.
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
    /// A body that is too long for this call.
    TooLarge {
        limit: String,
    },
    /// Too many or too large files for one publish.
    PublishTooLarge {
        limit: String,
    },
    /// More than a provisional account may store.
    StorageFull {
        limit: String,
    },
    SlugTaken {
        slug: String,
    },
    /// A restore of an artifact whose slug another one has.
    SlugInUse {
        slug: String,
    },
    /// A deletion of the live version.
    VersionLive {
        seq: u32,
    },
    /// A deletion of a version that moderators keep as evidence.
    VersionHeld {
        seq: u32,
    },
    /// Several artifacts have the slug, and the call needs one.
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
    /// A person who is not on any account yet.
    NoAccount,
    /// A person's call for an account that the person is not on.
    ForeignAccount,
    /// A removal of the owner.
    OwnerStays,
    UsernameTaken {
        username: String,
    },
    InviteRevoked,
    InviteExpired,
    InviteUsedUp,
    AlreadyClaimed,
    /// An invite on an account that nobody has claimed.
    NotClaimed,
    /// A change that another site's page requested, with a person's cookie or in their browser.
    ForeignPage,
    /// A call for a dev mode feature from another machine.
    DevModeIsLocal,
    ProcessorError,
    QuotaExceeded {
        limit: String,
    },
    /// The account has reached its limit of tokens, invites or members.
    TooMany(Crowd),
    /// A claim by a person who has reached the limit of accounts.
    TooManyAccounts {
        limit: u32,
    },
    IdempotencyConflict,
    /// A publish whose condition on the live version is not met. `live` is the live version, if any.
    VersionConflict {
        live: Option<CurrentVersion>,
    },
    /// A publish that names contents by their hash which the account does not hold. Each is listed once.
    ContentMissing {
        missing: Vec<BlobHash>,
    },
    /// An edit of a file whose old text does not occur exactly once.
    EditMismatch(Box<EditMismatch>),
    /// A file of a publish contains an active token.
    SecretInPublish {
        path: String,
        line: Option<u32>,
    },
    /// Invalid arguments of an MCP tool.
    InvalidArguments {
        tool: String,
        fault: String,
    },
    /// A second upload to the same URL.
    UploadTaken,
    /// A moderator's decision on a version that is no longer the one to decide on. `current` is the one to
    /// decide on now, if there is one.
    VersionChanged {
        current: Option<u32>,
    },
    /// A moderator's decision on a version that has a newer decision than the moderator has seen.
    DecidedMeanwhile {
        status: ModerationStatus,
    },
    /// A second appeal for the same version.
    AlreadyAppealed,
    /// An appeal for a version that is served and not in review.
    NothingToAppeal {
        status: ModerationStatus,
    },
    /// A new link for an artifact that is not private.
    NotPrivate,
    /// An operation that the job's state does not allow.
    JobIs {
        state: String,
    },
    /// The server is overloaded or a part of it is unavailable. It is also the outcome of an operation whose
    /// deadline has passed. That outcome is stored, and earlier releases must be able to read it.
    Overloaded {
        fault: String,
        retry_after_seconds: u64,
    },
    /// The database stopped responding during an operation, so its outcome is unknown.
    OutcomeUnknown(Repeating),
    Internal,
}

impl Refusal {
    pub fn invalid(field: impl Into<String>, fault: impl Into<String>) -> Self {
        Refusal::InvalidRequest { field: field.into(), fault: fault.into() }
    }

    /// A malformed slug.
    pub fn malformed_slug() -> Self {
        Self::invalid("slug", format!("must match {}", Slug::PATTERN))
    }

    /// The refusal of a publish whose condition is not met. Without `existing`, no artifact has the slug.
    pub fn of_condition(condition: PublishCondition, existing: Option<ExistingSlug>) -> Option<Self> {
        let live = existing.and_then(|slug| slug.live);
        (!condition.is_met(existing)).then_some(Refusal::VersionConflict { live })
    }

    pub fn overloaded(fault: impl Into<String>) -> Self {
        Refusal::Overloaded { fault: fault.into(), retry_after_seconds: RETRY_AFTER_SECONDS }
    }

    /// An operation that was not settled before its deadline. Stored outcomes contain this text, so it must
    /// not change.
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
            Refusal::SlugTaken { .. } | Refusal::SlugInUse { .. } => "slug_taken",
            Refusal::VersionLive { .. } => "version_live",
            Refusal::VersionHeld { .. } => "version_held",
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
            Refusal::VersionConflict { .. } => "version_conflict",
            Refusal::ContentMissing { .. } => "content_missing",
            Refusal::EditMismatch(_) => "edit_mismatch",
            Refusal::SecretInPublish { .. } => "secret_in_publish",
            Refusal::UploadTaken => "upload_taken",
            Refusal::VersionChanged { .. } | Refusal::DecidedMeanwhile { .. } => "version_changed",
            Refusal::AlreadyAppealed => "already_appealed",
            Refusal::NothingToAppeal { .. } => "nothing_to_appeal",
            Refusal::NotPrivate => "not_private",
            Refusal::JobIs { .. } => "job_state",
            Refusal::Overloaded { .. } => "overloaded",
            Refusal::OutcomeUnknown(_) => "outcome_unknown",
            Refusal::Internal => "internal_error",
        }
    }

    /// The value of `Retry-After`, for refusals that have one.
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
