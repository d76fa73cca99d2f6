//! Details that several refusals share: the missing resource, the missing right, the exceeded limit.

use serde::{Deserialize, Serialize};

use crate::Scope;

/// A resource that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Missing {
    ClaimLink,
    Account,
    Artifact,
    /// A deleted artifact that could be restored or purged.
    DeletedArtifact,
    Version,
    File,
    Endpoint,
    Invite,
    Member,
    Token,
    Host,
    /// A page that a moderator requests, and its versions and files.
    ReviewedHost,
    ReviewedVersion,
    ReviewedFile,
    BlockedContent,
    Upload,
    /// An upload whose URL or files have expired.
    LapsedUpload,
    /// A deploy of the Netlify protocol.
    Deploy,
    /// A code that signs in a device.
    DeviceCode,
    Job,
    Queue,
    Schedule,
}

/// How a request can be repeated when its outcome is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeating {
    /// It had an `Idempotency-Key`.
    WithTheSameKey,
    /// It had no key, so a repetition may do it twice.
    AfterACheck,
    /// An operator's grant with an id from the caller.
    WithTheSameId,
    /// An operator's grant without an id, so a repetition may grant twice.
    AfterALedgerCheck,
    /// A repetition changes nothing.
    AsItIs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MissingRight {
    ArtifactsWrite,
    ArtifactsRead,
    TokensManage,
    AccountManage,
    /// The caller's token is pinned to another artifact.
    OtherArtifact,
    /// A new token would exceed the rights of the token that creates it: in scopes, artifacts or time.
    ToHandOnScopes,
    ToHandOnOtherArtifact,
    ToOutliveIt,
}

/// The resources whose number is limited per account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Crowd {
    Tokens,
    Invites,
    Members,
}

impl From<Scope> for MissingRight {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::ArtifactsWrite => MissingRight::ArtifactsWrite,
            Scope::ArtifactsRead => MissingRight::ArtifactsRead,
            Scope::TokensManage => MissingRight::TokensManage,
            Scope::AccountManage => MissingRight::AccountManage,
        }
    }
}

impl Missing {
    pub(super) fn name(self) -> &'static str {
        match self {
            Missing::ClaimLink => "claim link",
            Missing::Account => "account",
            Missing::Artifact => "artifact",
            Missing::DeletedArtifact => {
                "deleted artifact: it is not deleted, was purged, or was deleted more than 30 days ago"
            }
            Missing::Version | Missing::ReviewedVersion => "version",
            Missing::Endpoint => "endpoint",
            Missing::Invite => "invite",
            Missing::Member => "member",
            Missing::Token => "token",
            Missing::Host | Missing::ReviewedHost => "host",
            Missing::File | Missing::ReviewedFile => "file",
            Missing::BlockedContent => "blocked content",
            Missing::Upload => "upload",
            Missing::LapsedUpload => "upload any more",
            Missing::Deploy => "deploy",
            Missing::DeviceCode => "device code",
            Missing::Job => "job",
            Missing::Queue => "queue",
            Missing::Schedule => "schedule",
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            Missing::ClaimLink => "ask the sender for a new claim link (POST /v1/account/claim-link)",
            Missing::Account => {
                "send the request again with the account's handle, such as acct_k3x9m2, or \
                 its id"
            }
            Missing::DeletedArtifact => {
                "publish the page again with POST /v1/publish; GET /v1/artifacts lists your artifacts"
            }
            Missing::Artifact => "GET /v1/artifacts lists your artifacts",
            Missing::Host => {
                "send the request again with the page's host: the first part of its URL, such as \
                 my-page-a1b2, or the part after /site/"
            }
            Missing::Version => "GET /v1/artifacts/{slug} lists the versions",
            Missing::File => "GET /v1/artifacts/{slug}/files lists the files of a version",
            Missing::ReviewedHost => {
                "GET /internal/moderation lists the waiting pages, and GET /internal/audit the decisions"
            }
            Missing::ReviewedVersion | Missing::ReviewedFile => {
                "GET /internal/moderation/{host} gives the live version and its files; GET \
                 /internal/moderation lists the waiting pages"
            }
            Missing::BlockedContent => "GET /internal/blocked-contents lists the blocked contents",
            Missing::Endpoint => {
                "GET /skill/reference/contents.md lists the API's routes; GET /llms.txt lists the \
                 documents and the MCP endpoint"
            }
            Missing::Invite => "ask the account's owner for a new invite (POST /v1/account/invites)",
            Missing::Member => "GET /v1/account/members lists the members",
            Missing::Token => "GET /v1/tokens lists the tokens",
            Missing::Upload | Missing::LapsedUpload => {
                "an upload can be published once: check with the tool list_artifacts whether it was. If \
                 not, call the tool stage_upload for a new upload URL, upload there within 15 minutes, and \
                 call publish_upload within the hour"
            }
            Missing::Deploy => {
                "a deploy expires after an hour, and earlier if the account begins five others: \
                 start a new one"
            }
            Missing::DeviceCode => {
                "check the code on the device; it expires after 15 minutes and works once, so start the \
                 sign-in there again if needed"
            }
            Missing::Job => {
                "GET /internal/queues/{queue}/jobs lists the jobs; completed jobs are deleted after 48 hours"
            }
            Missing::Queue => "GET /internal/queues lists the queues",
            Missing::Schedule => "GET /internal/schedules lists the schedules",
        }
    }
}

impl Repeating {
    pub(super) fn hint(self) -> &'static str {
        match self {
            Repeating::WithTheSameKey => {
                "repeat the identical request with the same Idempotency-Key: it is processed at most once, \
                 and you get its result"
            }
            Repeating::AfterACheck => {
                "before you repeat the request, check with GET /v1/artifacts and GET /v1/usage whether it \
                 succeeded; with an Idempotency-Key, repeating is always safe"
            }
            Repeating::WithTheSameId => {
                "repeat the identical request with the same id: the credit is granted at most once, and you \
                 get its result"
            }
            Repeating::AfterALedgerCheck => {
                "before you repeat the request, check with `handbill ledger show ACCOUNT` whether it \
                 succeeded; with an id, repeating is always safe"
            }
            Repeating::AsItIs => "repeat the identical request: nothing is done or charged twice",
        }
    }
}

impl MissingRight {
    /// The scope that is missing, unless something else is.
    pub fn scope(self) -> Option<Scope> {
        match self {
            MissingRight::ArtifactsWrite => Some(Scope::ArtifactsWrite),
            MissingRight::ArtifactsRead => Some(Scope::ArtifactsRead),
            MissingRight::TokensManage => Some(Scope::TokensManage),
            MissingRight::AccountManage => Some(Scope::AccountManage),
            MissingRight::OtherArtifact
            | MissingRight::ToHandOnScopes
            | MissingRight::ToHandOnOtherArtifact
            | MissingRight::ToOutliveIt => None,
        }
    }

    pub(super) fn message(self) -> &'static str {
        match self {
            MissingRight::ArtifactsWrite => "the token lacks the scope artifacts:write",
            MissingRight::ArtifactsRead => "the token lacks the scope artifacts:read",
            MissingRight::TokensManage => "the token lacks the scope tokens:manage",
            MissingRight::AccountManage => "the token lacks the scope account:manage",
            MissingRight::OtherArtifact => "the token is pinned to another artifact",
            MissingRight::ToHandOnScopes => "scopes: you cannot grant a scope that you do not have",
            MissingRight::ToHandOnOtherArtifact => {
                "artifact_id: a pinned token can create only tokens with the same pin"
            }
            MissingRight::ToOutliveIt => {
                "expires_at: a new token cannot expire later than the token that \
                 creates it"
            }
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            MissingRight::OtherArtifact => {
                "use the token for its own artifact, or create one without a pin with POST /v1/tokens"
            }
            MissingRight::ToHandOnScopes
            | MissingRight::ToHandOnOtherArtifact
            | MissingRight::ToOutliveIt => {
                "send POST /v1/tokens again without that field to get the same limits as your own token, or \
                 use a token with more rights"
            }
            _ => "use a token with this scope, or create one with POST /v1/tokens",
        }
    }
}

impl Crowd {
    pub(super) fn name(self) -> &'static str {
        match self {
            Crowd::Tokens => "active tokens",
            Crowd::Invites => "open invites",
            Crowd::Members => "members",
        }
    }

    pub(super) fn hint(self) -> &'static str {
        match self {
            Crowd::Tokens => "revoke tokens that you no longer need with DELETE /v1/tokens/{id}",
            Crowd::Invites => "revoke invites that you no longer need with DELETE /v1/account/invites/{code}",
            Crowd::Members => "remove members who have left with DELETE /v1/account/members/{user_id}",
        }
    }
}
