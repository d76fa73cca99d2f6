//! The catalogue of all refusals: the meaning of each, with an example of its code, message and hint. The
//! reference page of error codes is generated from it. The compiler ensures that it is complete.

use strum::IntoEnumIterator;

use super::{Crowd, Missing, MissingRight, Refusal, RefusalKind, Repeating};
use crate::{
    BlobHash, Challenge, CurrentVersion, EditMismatch, Micro, ModerationStatus, NearestLine, PaymentMethods,
    Time,
};

/// An entry of the reference page.
#[derive(Clone, Debug)]
pub struct RefusalEntry {
    /// The meaning, in a sentence.
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
    /// The catalogue's entry.
    pub fn entry(self) -> RefusalEntry {
        RefusalEntry { meaning: meaning(self), example: example(self) }
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each refusal")]
fn meaning(kind: RefusalKind) -> &'static str {
    match kind {
        RefusalKind::Unauthorized => "The token is missing, malformed, unknown, revoked or expired.",
        RefusalKind::NotSignedIn => "The endpoint is for signed-in people, and the request has no session.",
        RefusalKind::AccountExpired => "The provisional account has expired. It is read-only.",
        RefusalKind::ClaimExpired => "The account expired before anyone claimed it.",
        RefusalKind::AccountSuspended => {
            "The operator has suspended the account. It is read-only, cannot be claimed or joined, and its \
             pages return 451. `GET /v1/account` gives the reason."
        }
        RefusalKind::PaymentRequired => {
            "Allowance and credit are used up, the balance is negative, or an inline payment does not \
             match. The body is the challenge, which gives the price and how to pay for this request."
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
            "Sign-in failed. The response is the same whether or not the username exists."
        }
        RefusalKind::RateLimited => {
            "Too many requests in a short time. `Retry-After` says when to try again."
        }
        RefusalKind::TooLarge => "The request body is too long for this endpoint.",
        RefusalKind::PublishTooLarge => "The publish has too many files or bytes.",
        RefusalKind::StorageFull => {
            "The provisional account has reached its storage limit. Claiming the account removes the limit."
        }
        RefusalKind::SlugTaken => "Another request on the account took this slug a moment ago.",
        RefusalKind::SlugInUse => "A deleted artifact cannot be restored, because another one has its slug.",
        RefusalKind::VersionLive => "The live version cannot be deleted.",
        RefusalKind::VersionHeld => "The moderators keep the version as evidence, so it cannot be deleted.",
        RefusalKind::AmbiguousSlug => "Several artifacts have this slug. Use the host, which is unique.",
        RefusalKind::NotFound => "The resource does not exist, or the caller may not see it.",
        RefusalKind::MethodNotAllowed => {
            "The path does not support this method. `Allow` lists the methods \
             it supports."
        }
        RefusalKind::UnsupportedMediaType => "The endpoint does not accept the body's content type.",
        RefusalKind::NotConfigured => {
            "Card payments or the webhook secret are not configured on this \
             deployment."
        }
        RefusalKind::SessionRequired => {
            "The endpoint needs a person's session. Bearer tokens are not \
             accepted."
        }
        RefusalKind::AgentJoinDisabled => "The owner does not allow agents to join.",
        RefusalKind::Forbidden => "The person's role is too low.",
        RefusalKind::NoAccount => "The signed-in person is not a member of any account yet.",
        RefusalKind::ForeignAccount => "The caller is not a member of the account in `X-Account`.",
        RefusalKind::OwnerStays => "The owner of an account cannot be removed.",
        RefusalKind::UsernameTaken => "Somebody else has this username.",
        RefusalKind::InviteRevoked => "The invite has been revoked.",
        RefusalKind::InviteExpired => "The invite has expired.",
        RefusalKind::InviteUsedUp => "The invite has reached its number of uses.",
        RefusalKind::AlreadyClaimed => "The account has already been claimed.",
        RefusalKind::NotClaimed => "Only claimed accounts can have a team.",
        RefusalKind::ForeignPage => "A browser sent the request from another site's page.",
        RefusalKind::DevModeIsLocal => {
            "Only dev mode allows this, and only on the machine that runs the service, not through a proxy \
             or under another host name."
        }
        RefusalKind::ProcessorError => "The card processor refused to open a checkout, or did not respond.",
        RefusalKind::QuotaExceeded => "The account has reached its limit of artifacts.",
        RefusalKind::TooMany => "The account has reached its limit of tokens, invites or members.",
        RefusalKind::TooManyAccounts => "The person has reached the limit of accounts.",
        RefusalKind::IdempotencyConflict => {
            "The `Idempotency-Key` was used for another request in the last 24 hours."
        }
        RefusalKind::VersionConflict => {
            "The publish has a condition (`If-Match`, `If-None-Match` or `expected_version`) that the live \
             version does not meet. Nothing was published or charged. `live_version`, `created_by` and \
             `created_at` describe the live version; they are null if the slug has no live version."
        }
        RefusalKind::ContentMissing => {
            "The account does not hold the contents in `missing`, which the publish gives by `sha256`. \
             Nothing was charged."
        }
        RefusalKind::EditMismatch => {
            "An old text does not occur exactly once: `hits` counts it, `nearest` has similar lines. Nothing \
             was published."
        }
        RefusalKind::SecretInPublish => {
            "A file to publish contains an active token of this service; the message names the file and the line."
        }
        RefusalKind::InvalidArguments => {
            "An MCP tool was called with an argument that is missing, unknown or malformed; the message names it."
        }
        RefusalKind::UploadTaken => "The upload URL has already been used. It accepts one upload.",
        RefusalKind::VersionChanged => {
            "The version to decide on changed since the moderator opened the page. No decision was made."
        }
        RefusalKind::DecidedMeanwhile => {
            "Another decision was made on the version since the moderator opened the page. The new decision \
             was not applied."
        }
        RefusalKind::AlreadyAppealed => "The live version of the page has already been appealed.",
        RefusalKind::NothingToAppeal => {
            "The page is neither in review nor blocked, so there is nothing to appeal."
        }
        RefusalKind::NotPrivate => {
            "The page is public or unlisted. Only a private page has a link that can be replaced."
        }
        RefusalKind::JobIs => "The job's state does not allow retrying, cancelling or discarding it.",
        RefusalKind::Overloaded => {
            "The server is overloaded, or a part of it is unavailable. `Retry-After` says when to try \
             again. For a publish, a version, a visibility change or credit this is final: the request was \
             not processed and will not be."
        }
        RefusalKind::OutcomeUnknown => {
            "The database stopped responding during the request. The request either succeeded within the \
             last seconds or never will. The hint says how to repeat it safely."
        }
        RefusalKind::Internal => "An internal error. It is logged under the `X-Request-Id` of the response.",
    }
}

#[expect(clippy::too_many_lines, reason = "an arm for each refusal")]
fn example(kind: RefusalKind) -> Refusal {
    match kind {
        RefusalKind::Unauthorized => Refusal::Unauthorized,
        RefusalKind::NotSignedIn => Refusal::NotSignedIn,
        RefusalKind::AccountExpired => Refusal::AccountExpired,
        RefusalKind::ClaimExpired => Refusal::ClaimExpired,
        RefusalKind::AccountSuspended => Refusal::AccountSuspended,
        RefusalKind::PaymentRequired => Refusal::PaymentRequired(Box::new(Challenge::new(
            "publish",
            Micro::new(5_000),
            PaymentMethods::DEFAULT,
        ))),
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
            Refusal::PublishTooLarge { limit: "a publish has at most 50 files".to_owned() }
        }
        RefusalKind::StorageFull => {
            Refusal::StorageFull { limit: "a provisional account stores at most 20 MB".into() }
        }
        RefusalKind::SlugTaken => Refusal::SlugTaken { slug: "my-page".into() },
        RefusalKind::SlugInUse => Refusal::SlugInUse { slug: "my-page".into() },
        RefusalKind::VersionLive => Refusal::VersionLive { seq: 3 },
        RefusalKind::VersionHeld => Refusal::VersionHeld { seq: 2 },
        RefusalKind::AmbiguousSlug => Refusal::AmbiguousSlug { slug: "my-page".into() },
        RefusalKind::NotFound => Refusal::NotFound(Missing::Artifact),
        RefusalKind::MethodNotAllowed => Refusal::MethodNotAllowed { allowed: "GET, HEAD".into() },
        RefusalKind::UnsupportedMediaType => {
            Refusal::UnsupportedMediaType { expected: "application/json".into() }
        }
        RefusalKind::NotConfigured => Refusal::NotConfigured { what: "card payment".into() },
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
        RefusalKind::VersionConflict => Refusal::VersionConflict {
            live: Some(CurrentVersion {
                seq: 8,
                created_by: None,
                created_at: Time::from_millis(1_767_225_600_000),
            }),
        },
        RefusalKind::ContentMissing => {
            Refusal::ContentMissing { missing: vec![BlobHash::of(b"<h1>Hello</h1>")] }
        }
        RefusalKind::EditMismatch => Refusal::EditMismatch(Box::new(EditMismatch {
            edit: 0,
            path: "index.html".into(),
            hits: 0,
            nearest: vec![NearestLine { line: 7, text: "<h1>Hello</h1>".into() }],
        })),
        RefusalKind::SecretInPublish => Refusal::SecretInPublish { path: "app.js".into(), line: Some(12) },
        RefusalKind::InvalidArguments => Refusal::InvalidArguments {
            tool: "get_artifact".into(),
            fault: "slug: must match ^[a-z0-9-]{3,40}$".into(),
        },
        RefusalKind::UploadTaken => Refusal::UploadTaken,
        RefusalKind::VersionChanged => Refusal::VersionChanged { current: Some(3) },
        RefusalKind::DecidedMeanwhile => Refusal::DecidedMeanwhile { status: ModerationStatus::Blocked },
        RefusalKind::AlreadyAppealed => Refusal::AlreadyAppealed,
        RefusalKind::NothingToAppeal => Refusal::NothingToAppeal { status: ModerationStatus::Pass },
        RefusalKind::NotPrivate => Refusal::NotPrivate,
        RefusalKind::JobIs => Refusal::JobIs { state: "running".into() },
        RefusalKind::Overloaded => Refusal::overloaded("the file store is unavailable"),
        RefusalKind::OutcomeUnknown => Refusal::OutcomeUnknown(Repeating::WithTheSameKey),
        RefusalKind::Internal => Refusal::Internal,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn catalogue_has_one_example_per_refusal_kind() {
        let kinds: Vec<_> =
            Refusal::catalogue().iter().map(|entry| RefusalKind::from(&entry.example)).collect();
        assert_eq!(kinds, RefusalKind::iter().collect::<Vec<_>>());
    }

    #[test]
    fn every_refusal_has_message_and_hint_and_is_unchanged_by_storage() {
        for RefusalEntry { example, .. } in Refusal::catalogue() {
            assert!(!example.message().is_empty() && !example.hint().is_empty(), "{example:?}");
            let stored = serde_json::to_string(&example).unwrap();
            assert_eq!(serde_json::from_str::<Refusal>(&stored).unwrap(), example);
        }
    }
}
