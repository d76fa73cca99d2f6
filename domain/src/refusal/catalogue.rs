//! Every refusal once, told to people: what it means, with an example that has its code, message and hint. The
//! reference page of codes is made of this, so nothing may be left out: the compiler asks for each kind.

use strum::IntoEnumIterator;

use super::{Crowd, Missing, MissingRight, Refusal, RefusalKind, Repeating};
use crate::{Challenge, FileSet, Micro, ModerationStatus, Rails};

/// One kind of refusal, as the reference page has it.
#[derive(Clone, Debug)]
pub struct RefusalEntry {
    /// What it means, in a sentence.
    pub meaning: &'static str,
    pub example: Refusal,
}

impl Refusal {
    /// Every kind of refusal, in the order of the enum.
    pub fn catalogue() -> Vec<RefusalEntry> {
        RefusalKind::iter().map(RefusalKind::entry).collect()
    }
}

impl RefusalKind {
    /// What the catalogue has of it.
    pub fn entry(self) -> RefusalEntry {
        RefusalEntry { meaning: meaning(self), example: example(self) }
    }
}

fn meaning(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::Unauthorized => "The token is missing, malformed, unknown, revoked or expired.",
        RefusalKind::NotSignedIn => "The call is for a signed-in person, and no session came with it.",
        RefusalKind::AccountExpired => {
            "The account is provisional and its time is over: it can be read, but not changed."
        }
        RefusalKind::ClaimExpired => "The account expired before anyone claimed it.",
        RefusalKind::AccountSuspended => {
            "The operator has suspended the account: it can be read, but not changed, claimed or joined, and its pages \
             answer 451. `GET /v1/account` has the reason."
        }
        RefusalKind::PaymentRequired => {
            "Allowance and credit are used up, the balance is negative, or an inline payment does not match. The \
             body is the challenge, which says what settles this very request."
        }
        RefusalKind::InsufficientScope => "The token lacks a scope, or is pinned to another artifact.",
        RefusalKind::InvalidRequest => {
            "A parameter, a header, a form field or a file path is malformed; the message names it."
        }
        RefusalKind::InvalidBody => {
            "The JSON does not parse or does not fit its schema; the message says where."
        }
        RefusalKind::WeakPassword => "The password breaks a rule; the message names it.",
        RefusalKind::InvalidCredentials => {
            "Sign-in failed. The answer is the same whether or not the username exists."
        }
        RefusalKind::RateLimited => {
            "Too many calls within a short time; `Retry-After` says when the next one is free."
        }
        RefusalKind::TooLarge => "The request's body is longer than the call takes.",
        RefusalKind::PublishTooLarge => "A publish has more files or bytes than one may have.",
        RefusalKind::StorageFull => {
            "A provisional account stores as much as it may; claiming it lifts the limit."
        }
        RefusalKind::SlugTaken => "Another call on the account took this slug a moment ago.",
        RefusalKind::AmbiguousSlug => "Several artifacts bear this slug; a host names just one.",
        RefusalKind::NotFound => "There is no such thing, or none that the caller may know of.",
        RefusalKind::MethodNotAllowed => "The path has no such method; `Allow` lists those that it has.",
        RefusalKind::UnsupportedMediaType => "The body is of another content type than this call takes.",
        RefusalKind::NotConfigured => "This deployment has no card rail, or no webhook secret.",
        RefusalKind::SessionRequired => "The call is for people: a bearer token is no session.",
        RefusalKind::AgentJoinDisabled => "The owner has switched off joining by agents.",
        RefusalKind::Forbidden => "The person's role is too low.",
        RefusalKind::NoAccount => "The person who calls belongs to no account yet.",
        RefusalKind::ForeignAccount => "`X-Account` names an account that the caller does not belong to.",
        RefusalKind::OwnerStays => "The owner was to be removed, which nobody can do.",
        RefusalKind::UsernameTaken => "Somebody else has this username.",
        RefusalKind::InviteRevoked => "The invite has been revoked.",
        RefusalKind::InviteExpired => "The invite's time is over.",
        RefusalKind::InviteUsedUp => "The invite has been used as often as it may be.",
        RefusalKind::AlreadyClaimed => "The account has an owner, so there is nothing to claim.",
        RefusalKind::NotClaimed => "A team needs an owner, and nobody has claimed the account yet.",
        RefusalKind::ForeignPage => "A browser sent the call from another site's page.",
        RefusalKind::DevModeIsLocal => {
            "Only dev mode offers this, and only to its own machine: not through a proxy, and not under another host name."
        }
        RefusalKind::ProcessorError => "The card processor refused to open a checkout, or did not answer.",
        RefusalKind::QuotaExceeded => "The account has as many artifacts as it may have.",
        RefusalKind::TooMany => "The account has as many tokens, invites or members as it may have.",
        RefusalKind::TooManyAccounts => "The person owns as many accounts as one person may own.",
        RefusalKind::IdempotencyConflict => {
            "The `Idempotency-Key` was used for another request in the last 24 hours."
        }
        RefusalKind::SecretInPublish => {
            "A file to publish contains an active token of this service; the message names the file and the line."
        }
        RefusalKind::InvalidArguments => {
            "An MCP tool was called with an argument that is missing, unknown or malformed; the message names it."
        }
        RefusalKind::UploadTaken => "The address of an upload takes one upload, and had it.",
        RefusalKind::VersionChanged => {
            "A moderator has looked at a version that is not the live one any more, so nothing was decided."
        }
        RefusalKind::DecidedMeanwhile => {
            "Something was decided of the version after a moderator had looked at it, so nothing more was."
        }
        RefusalKind::AlreadyAppealed => "The live version of the page was appealed before.",
        RefusalKind::NothingToAppeal => {
            "The page is neither in review nor blocked, so there is nothing to appeal."
        }
        RefusalKind::JobIs => {
            "An operator wanted to retry, cancel or discard a job that is in another state by now."
        }
        RefusalKind::Overloaded => {
            "Busy, or a part of the service is down; `Retry-After` says when to try again. For a publish, a version, a \
             visibility or credit this is final: nothing was done, and nothing will be."
        }
        RefusalKind::OutcomeUnknown => {
            "The database stopped answering while this was carried out: it was done within the last seconds, or never \
             will be. The hint says how to repeat it."
        }
        RefusalKind::Internal => "A bug of ours; it is in our log under the answer's `X-Request-Id`.",
    }
}

fn example(kind: RefusalKind) -> Refusal {
    match kind {
        RefusalKind::Unauthorized => Refusal::Unauthorized,
        RefusalKind::NotSignedIn => Refusal::NotSignedIn,
        RefusalKind::AccountExpired => Refusal::AccountExpired,
        RefusalKind::ClaimExpired => Refusal::ClaimExpired,
        RefusalKind::AccountSuspended => Refusal::AccountSuspended,
        RefusalKind::PaymentRequired => {
            Refusal::PaymentRequired(Box::new(Challenge::new("publish", Micro::new(5_000), Rails::DEFAULT)))
        }
        RefusalKind::InsufficientScope => Refusal::InsufficientScope(MissingRight::ArtifactsWrite),
        RefusalKind::InvalidRequest => Refusal::malformed_slug(),
        RefusalKind::InvalidBody => Refusal::InvalidBody { fault: "version: is missing".into() },
        RefusalKind::WeakPassword => Refusal::WeakPassword { rule: "it contains the username".into() },
        RefusalKind::InvalidCredentials => Refusal::InvalidCredentials,
        RefusalKind::RateLimited => Refusal::RateLimited { retry_after_seconds: 42 },
        RefusalKind::TooLarge => {
            Refusal::TooLarge { limit: "this request's body has at most 65536 bytes".into() }
        }
        RefusalKind::PublishTooLarge => {
            Refusal::PublishTooLarge { limit: format!("a publish has at most {} files", FileSet::FILES_MAX) }
        }
        RefusalKind::StorageFull => {
            Refusal::StorageFull { limit: "a provisional account stores at most 20 MB".into() }
        }
        RefusalKind::SlugTaken => Refusal::SlugTaken { slug: "my-page".into() },
        RefusalKind::AmbiguousSlug => Refusal::AmbiguousSlug { slug: "my-page".into() },
        RefusalKind::NotFound => Refusal::NotFound(Missing::Artifact),
        RefusalKind::MethodNotAllowed => Refusal::MethodNotAllowed { allowed: "GET, HEAD".into() },
        RefusalKind::UnsupportedMediaType => {
            Refusal::UnsupportedMediaType { expected: "application/json".into() }
        }
        RefusalKind::NotConfigured => Refusal::NotConfigured { what: "the card rail".into() },
        RefusalKind::SessionRequired => Refusal::SessionRequired,
        RefusalKind::AgentJoinDisabled => Refusal::AgentJoinDisabled,
        RefusalKind::Forbidden => {
            Refusal::Forbidden { fault: "this needs the role admin; yours on this account is member".into() }
        }
        RefusalKind::NoAccount => Refusal::NoAccount,
        RefusalKind::ForeignAccount => Refusal::ForeignAccount,
        RefusalKind::OwnerStays => Refusal::OwnerStays,
        RefusalKind::UsernameTaken => Refusal::UsernameTaken { username: "ada".into() },
        RefusalKind::InviteRevoked => Refusal::InviteRevoked,
        RefusalKind::InviteExpired => Refusal::InviteExpired,
        RefusalKind::InviteUsedUp => Refusal::InviteUsedUp,
        RefusalKind::AlreadyClaimed => Refusal::AlreadyClaimed,
        RefusalKind::NotClaimed => Refusal::NotClaimed,
        RefusalKind::ForeignPage => Refusal::ForeignPage,
        RefusalKind::DevModeIsLocal => Refusal::DevModeIsLocal,
        RefusalKind::ProcessorError => Refusal::ProcessorError,
        RefusalKind::QuotaExceeded => Refusal::QuotaExceeded { limit: "100 artifacts".into() },
        RefusalKind::TooMany => Refusal::TooMany(Crowd::Invites),
        RefusalKind::TooManyAccounts => Refusal::TooManyAccounts { limit: 20 },
        RefusalKind::IdempotencyConflict => Refusal::IdempotencyConflict,
        RefusalKind::SecretInPublish => Refusal::SecretInPublish { path: "app.js".into(), line: Some(12) },
        RefusalKind::InvalidArguments => Refusal::InvalidArguments {
            tool: "get_artifact".into(),
            fault: "slug: must match ^[a-z0-9-]{3,40}$".into(),
        },
        RefusalKind::UploadTaken => Refusal::UploadTaken,
        RefusalKind::VersionChanged => Refusal::VersionChanged { live: Some(3) },
        RefusalKind::DecidedMeanwhile => Refusal::DecidedMeanwhile { status: ModerationStatus::Blocked },
        RefusalKind::AlreadyAppealed => Refusal::AlreadyAppealed,
        RefusalKind::NothingToAppeal => Refusal::NothingToAppeal { status: ModerationStatus::Pass },
        RefusalKind::JobIs => Refusal::JobIs { state: "running".into() },
        RefusalKind::Overloaded => Refusal::overloaded("the file store does not answer at present"),
        RefusalKind::OutcomeUnknown => Refusal::OutcomeUnknown(Repeating::WithTheSameKey),
        RefusalKind::Internal => Refusal::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_is_told_once_and_by_an_example_of_its_own() {
        let kinds: Vec<_> =
            Refusal::catalogue().iter().map(|entry| RefusalKind::from(&entry.example)).collect();
        assert_eq!(kinds, RefusalKind::iter().collect::<Vec<_>>());
    }

    #[test]
    fn every_refusal_says_what_is_wrong_names_the_next_step_and_survives_being_stored() {
        for RefusalEntry { example, .. } in Refusal::catalogue() {
            assert!(!example.message().is_empty() && !example.hint().is_empty(), "{example:?}");
            let stored = serde_json::to_string(&example).unwrap();
            assert_eq!(serde_json::from_str::<Refusal>(&stored).unwrap(), example);
        }
    }
}
