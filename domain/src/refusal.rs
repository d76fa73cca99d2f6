//! Every expected no, in one list, so that no two doors word one differently. It knows no HTTP status, and a message
//! must never carry a secret: it goes to the caller and into outcomes.

use serde::{Deserialize, Serialize};

use crate::{Challenge, ModerationStatus, Slug};

mod catalogue;
mod cause;

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
            Refusal::JobIs { .. } => "job_state",
            Refusal::Overloaded { .. } => "overloaded",
            Refusal::OutcomeUnknown(_) => "outcome_unknown",
            Refusal::Internal => "internal_error",
        }
    }

    pub fn message(&self) -> String {
        match self {
            Refusal::Unauthorized => "the token is missing, unknown, revoked or expired".into(),
            Refusal::NotSignedIn => "this call needs the session of a signed-in person".into(),
            Refusal::AccountExpired => {
                "this provisional account has expired; it can be read but not changed".into()
            }
            Refusal::ClaimExpired => "this account expired before anybody claimed it".into(),
            Refusal::PaymentRequired(challenge) => challenge.message.clone(),
            Refusal::InsufficientScope(right) => right.message().into(),
            Refusal::InvalidRequest { field, fault } => format!("{field}: {fault}"),
            Refusal::InvalidBody { fault } => format!("the request body does not fit: {fault}"),
            Refusal::WeakPassword { rule } => format!("the password is too weak: {rule}"),
            Refusal::InvalidCredentials => "the username or the password is wrong".into(),
            Refusal::RateLimited { retry_after_seconds } => {
                format!("too many attempts; the next one is free in {retry_after_seconds} s")
            }
            Refusal::TooLarge { limit }
            | Refusal::PublishTooLarge { limit }
            | Refusal::StorageFull { limit } => format!("too large: {limit}"),
            Refusal::SlugTaken { slug } => format!("the slug {slug:?} was just taken on this account"),
            Refusal::AmbiguousSlug { slug } => format!("several artifacts bear the slug {slug:?}"),
            Refusal::NotFound(missing) => format!("there is no such {}", missing.name()),
            Refusal::MethodNotAllowed { allowed } => format!("this path answers {allowed} only"),
            Refusal::UnsupportedMediaType { expected } => format!("the content type must be {expected}"),
            Refusal::NotConfigured { what } => format!("{what} is not configured on this deployment"),
            Refusal::SessionRequired => "this call needs a person's session, not a bearer token".into(),
            Refusal::AgentJoinDisabled => "the owner has switched off joining by agents".into(),
            Refusal::Forbidden { fault } => fault.clone(),
            Refusal::NoAccount => "you are a member of no account yet".into(),
            Refusal::ForeignAccount => "you are no member of the account that X-Account names".into(),
            Refusal::OwnerStays => "the owner cannot be removed".into(),
            Refusal::UsernameTaken { username } => format!("the username {username:?} is taken"),
            Refusal::InviteRevoked => "this invite has been revoked".into(),
            Refusal::InviteExpired => "this invite has expired".into(),
            Refusal::InviteUsedUp => "this invite has been used up".into(),
            Refusal::AlreadyClaimed => "this account has been claimed already".into(),
            Refusal::ForeignPage => "this call comes from another site's page".into(),
            Refusal::DevModeIsLocal => {
                "dev mode offers this to its own machine only, and the request came through a proxy or names another host"
                    .into()
            }
            Refusal::NotClaimed => "only a claimed account invites, and this one is provisional".into(),
            Refusal::ProcessorError => "the card processor refused to open a checkout".into(),
            Refusal::QuotaExceeded { limit } => format!("the account is at its limit: {limit}"),
            Refusal::TooMany(crowd) => format!("the account has as many {} as it may have", crowd.name()),
            Refusal::TooManyAccounts { limit } => {
                format!("you own as many accounts as one person may own: {limit}")
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
            Refusal::UploadTaken => {
                "something was uploaded to this address already; it takes one upload".into()
            }
            Refusal::VersionChanged { live: Some(seq) } => {
                format!("another version is live now than the one that was looked at: version {seq}")
            }
            Refusal::VersionChanged { live: None } => "no version of the page is live any more".into(),
            Refusal::DecidedMeanwhile { status } => {
                format!("something was decided after the page was looked at: it is {} now", status.as_str())
            }
            Refusal::JobIs { state } => format!("that cannot be done with a job that is {state}"),
            Refusal::Overloaded { fault, .. } => fault.clone(),
            Refusal::OutcomeUnknown(_) => {
                "the database stopped answering, so it is unknown whether this was done".into()
            }
            Refusal::Internal => "something went wrong on our side".into(),
        }
    }

    /// The next call to make.
    pub fn hint(&self) -> String {
        match self {
            Refusal::Unauthorized => {
                "sign up with POST /v1/signup to get a token, then send it as Authorization: Bearer <token>".into()
            }
            Refusal::NotSignedIn => {
                "sign in with POST /auth/login or at /signin; an agent needs no sign-in: it signs up with \
                 POST /v1/signup to get a token"
                    .into()
            }
            Refusal::AccountExpired | Refusal::ClaimExpired => {
                "sign up again with POST /v1/signup and publish there".into()
            }
            Refusal::PaymentRequired(challenge) => challenge.hint.clone(),
            Refusal::InsufficientScope(right) => right.hint().into(),
            Refusal::InvalidRequest { field, .. } => {
                format!("correct {field} and send the request again; GET /openapi.json describes every field")
            }
            Refusal::InvalidBody { .. } => {
                "send a JSON object as GET /openapi.json describes it, with Content-Type: application/json".into()
            }
            Refusal::WeakPassword { rule } => {
                format!("choose another password ({rule}) and send the same request again")
            }
            Refusal::InvalidCredentials => {
                "check both and send the same request again, or create a sign-in with POST /auth/register; an agent \
                 signs up with POST /v1/signup to get a token"
                    .into()
            }
            Refusal::RateLimited { retry_after_seconds } => {
                format!("wait {retry_after_seconds} s, then send the request again")
            }
            Refusal::TooLarge { .. } => {
                "shorten the body and send the same request again; GET /openapi.json tells how long each field may be"
                    .into()
            }
            // A second publish does not add to the first: it takes its place.
            Refusal::PublishTooLarge { .. } => {
                "publish again with fewer or smaller files; what does not fit goes to a site of its own, with POST \
                 /v1/publish under another slug, because each publish replaces all files of its slug"
                    .into()
            }
            Refusal::StorageFull { .. } => {
                "have a person open the claim_url of GET /v1/account, which lifts this, then publish again; deleting \
                 pages does not free it"
                    .into()
            }
            Refusal::SlugTaken { .. } => {
                "send POST /v1/publish again to add a version to it, or choose another slug".into()
            }
            Refusal::AmbiguousSlug { .. } => {
                "name the artifact by its host instead, such as my-page-a1b2; it stands in the page's address".into()
            }
            Refusal::NotFound(missing) => missing.hint().into(),
            Refusal::MethodNotAllowed { allowed } => {
                format!("send the request again with {allowed}; GET /openapi.json lists the methods of REST paths")
            }
            Refusal::UnsupportedMediaType { expected } => format!("send the request again as {expected}"),
            Refusal::NotConfigured { .. } => {
                "buy credit with POST /v1/credits where the dev rail is open, or ask the operator".into()
            }
            Refusal::SessionRequired => "agents buy credit with POST /v1/credits; people sign in at /signin".into(),
            Refusal::AgentJoinDisabled => {
                "ask the owner to switch it on with PATCH /v1/account, or to mint a token with POST /v1/tokens".into()
            }
            Refusal::Forbidden { .. } => {
                "ask an admin or the owner of the account; GET /v1/account/members lists them".into()
            }
            Refusal::NoAccount => "open a claim link or an invite in the browser where you are signed in".into(),
            Refusal::ForeignAccount => {
                "name one of the accounts that GET /auth/me lists, or leave X-Account out; to come onto this one, open \
                 an invite to it"
                    .into()
            }
            Refusal::OwnerStays => {
                "nobody can remove the owner, not even they themselves; GET /v1/account/members lists who else there is"
                    .into()
            }
            Refusal::UsernameTaken { .. } => {
                "choose another username, or sign in with POST /auth/login if it is yours".into()
            }
            Refusal::InviteRevoked | Refusal::InviteExpired | Refusal::InviteUsedUp => {
                "ask the account's owner for a fresh invite (POST /v1/account/invites)".into()
            }
            Refusal::AlreadyClaimed => "sign in at /signin; the account is on the dashboard of who claimed it".into(),
            Refusal::ForeignPage => {
                "send it from the service's own pages, beginning at /signin, or from a program without Origin".into()
            }
            Refusal::DevModeIsLocal => {
                "send it from the machine itself to the API's own address, such as http://127.0.0.1:8080, without a proxy; \
                 in public set HANDBILL_DEV_MODE=false, and POST /auth/login signs in"
                    .into()
            }
            Refusal::NotClaimed => {
                "claim it first: a person opens the claim_url of GET /v1/account; then POST /v1/account/invites again"
                    .into()
            }
            Refusal::ProcessorError => "try POST /v1/credits/checkout again in a minute".into(),
            Refusal::QuotaExceeded { .. } => {
                "delete what is no longer needed with DELETE /v1/artifacts/{slug}, then publish again".into()
            }
            Refusal::TooMany(crowd) => crowd.hint().into(),
            Refusal::TooManyAccounts { .. } => {
                "publish to an account that you own instead: GET /auth/me lists them, and POST /v1/tokens makes a token \
                 for one; if you need more accounts, ask the operator"
                    .into()
            }
            Refusal::IdempotencyConflict => "send this request with a new Idempotency-Key".into(),
            Refusal::SecretInPublish { .. } => {
                "remove the token from that file and publish again; if anyone else may have seen it, revoke it with POST \
                 /v1/tokens/revoke"
                    .into()
            }
            Refusal::InvalidArguments { tool, .. } => {
                format!("correct it and call {tool} again; tools/list describes its arguments")
            }
            Refusal::UploadTaken => {
                "publish what is there with the tool publish_upload, or get a fresh address with stage_upload".into()
            }
            Refusal::VersionChanged { .. } => {
                "look at what is live now with GET /internal/moderation/{host}, and decide on that version".into()
            }
            Refusal::DecidedMeanwhile { .. } => {
                "look again with GET /internal/moderation/{host}, and send its seen along with the decision".into()
            }
            Refusal::JobIs { .. } => {
                "look at it with GET /internal/queues/{queue}/jobs/{id}: what is dead, cancelled or failed can be \
                 retried, what waits or failed can be cancelled, what is dead can be discarded, what runs ends by itself"
                    .into()
            }
            Refusal::Overloaded { retry_after_seconds, .. } => {
                format!("send the request again in {retry_after_seconds} s")
            }
            Refusal::OutcomeUnknown(repeating) => repeating.hint().into(),
            Refusal::Internal => {
                "retry once; if it happens again, GET /v1/status, and tell the operator the X-Request-Id".into()
            }
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
