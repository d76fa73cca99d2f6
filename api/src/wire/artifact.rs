//! Artifacts and versions in requests and responses. The enums repeat those of `domain`, so that a change
//! there cannot change the API by accident.

use domain::link::{Addresses, VersionLinks};
use domain::{AppealMessage, MalformedReason, Refusal, RetentionChange};
use poem_openapi::types::MaybeUndefined;
use poem_openapi::{Enum, Object};

use super::Timestamp;
use super::publish::Receipt;
use super::retention::{must_be_given, retention_change};
use super::text::typed_texts;

typed_texts! {
    TypedAppeal:
        min_length: Some(1), max_length: Some(AppealMessage::LENGTH_MAX),
        pattern: Some(AppealMessage::PATTERN.to_owned());
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum Visibility {
    Public,
    Unlisted,
    Private,
}

/// The result of scans, reports and moderation. `blocked` content is not served.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum ModerationStatus {
    Pending,
    Review,
    Pass,
    Blocked,
}

/// A page or site with a permanent URL.
#[derive(Clone, Debug, Object)]
pub struct Artifact {
    pub id: String,
    /// The artifact's name within the account.
    pub slug: String,
    /// The artifact's unique name in the whole service.
    pub host: String,
    /// The URL where it is served.
    pub url: String,
    pub visibility: Visibility,
    pub moderation_status: ModerationStatus,
    /// The live version's `seq`. Null if no version is live.
    #[oai(nullable)]
    pub version: Option<u32>,
    /// The title of the live version's front page, as its HTML states it: at most 120 characters on one line.
    /// Null if it has none, or if it was published before titles were stored.
    #[oai(nullable)]
    pub title: Option<String>,
}

/// An artifact with its versions.
#[derive(Object)]
pub struct ArtifactDetail {
    #[oai(flatten)]
    pub artifact: Artifact,
    pub moderation: Moderation,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// How many of the newest versions are kept. Null: no limit. If both settings are null, those of the
    /// account apply.
    #[oai(nullable)]
    pub versions_kept: Option<u32>,
    /// For how many days a version is kept. Null: no limit.
    #[oai(nullable)]
    pub versions_days: Option<u32>,
    /// The link to share. Only for a private artifact.
    #[oai(skip_serializing_if_is_none)]
    pub signed_url: Option<String>,
    /// The versions, newest first. All of them, unless `limit` is set.
    pub versions: Vec<Version>,
}

/// The moderation status of the live version, and the reason. All fields except `status` are null if it
/// passed.
#[derive(Debug, Object)]
pub struct Moderation {
    /// The same as `moderation_status`.
    pub status: ModerationStatus,
    /// The rule that matched: a scan rule such as `seed_phrase`, `blocked_content`, or `report` or
    /// `moderator` for a decision by people.
    #[oai(nullable)]
    pub rule: Option<String>,
    /// The file that matched.
    #[oai(nullable)]
    pub file: Option<String>,
    /// The field and the words that matched.
    #[oai(nullable)]
    pub saw: Option<String>,
    /// The reason as a sentence, and whether the version is served.
    #[oai(nullable)]
    pub message: Option<String>,
}

/// An appeal against the decision on the live version.
#[derive(Object)]
#[oai(example)]
pub struct Appeal {
    /// Why the decision is wrong. The moderators read it.
    pub message: TypedAppeal,
}

/// A recorded appeal.
#[derive(Debug, Object)]
pub struct AppealTaken {
    pub id: String,
    pub slug: String,
    pub host: String,
    /// The `seq` of the version that the appeal is for. Each version can be appealed once.
    pub version: u32,
    /// The current status. It does not change until a moderator decides.
    pub moderation_status: ModerationStatus,
}

/// One publish of an artifact. A version never changes.
#[derive(Debug, Object)]
pub struct Version {
    pub id: String,
    /// The version's number within the artifact. Send it to `activate` to make the version live.
    pub seq: u32,
    pub total_bytes: u64,
    pub file_count: u32,
    /// The interface that published it: `api`, `mcp` or `web`.
    pub created_via: String,
    /// The publisher's description of the change.
    #[oai(nullable)]
    pub message: Option<String>,
    pub created_at: Timestamp,
    pub moderation_status: ModerationStatus,
    /// Whether this version is the live one.
    pub live: bool,
    /// The version's own URL, to look at it before it is live. It closes with the artifact, and is not
    /// indexed or counted as a view. It returns 451 if the version is blocked, or if it is not live and
    /// contains a file that moderators have blocked.
    pub url: String,
    /// The link to the version instead of `url`. Only for a private artifact.
    #[oai(skip_serializing_if_is_none)]
    pub signed_url: Option<String>,
}

/// The version to make live.
#[derive(Debug, Object)]
pub struct Activate {
    /// The `seq` of any version of the artifact.
    #[oai(validator(minimum(value = "1"), maximum(value = "2147483647")))]
    pub version: u32,
}

/// The new visibility of an artifact, or new values of its settings of retention. The two are separate calls,
/// because a change of the visibility may have to be paid.
#[derive(Debug, Object)]
#[oai(example)]
pub struct ChangeArtifact {
    /// `unlisted` and `private` cost a monthly price if the artifact was public. `public` is free.
    pub visibility: MaybeUndefined<Visibility>,
    /// How many of the newest versions are kept. Null: no limit.
    #[oai(nullable, validator(minimum(value = "1"), maximum(value = "10000")))]
    pub versions_kept: MaybeUndefined<u32>,
    /// For how many days a version is kept. Null: no limit.
    #[oai(nullable, validator(minimum(value = "1"), maximum(value = "10000")))]
    pub versions_days: MaybeUndefined<u32>,
}

/// What a change of an artifact changes.
#[derive(Clone, Copy, Debug)]
pub enum ArtifactChange {
    Visibility(domain::Visibility),
    Retention(RetentionChange),
}

/// The artifact after the change.
#[derive(Object)]
pub struct ShownArtifact {
    #[oai(flatten)]
    pub artifact: Artifact,
    /// The link to share. Only for a private artifact.
    #[oai(skip_serializing_if_is_none)]
    pub signed_url: Option<String>,
    /// Only if `X-PAYMENT` paid for this call.
    #[oai(skip_serializing_if_is_none)]
    pub receipt: Option<Receipt>,
    /// How many of the newest versions are kept. Only if this call changed the settings of retention.
    #[oai(nullable)]
    pub versions_kept: MaybeUndefined<u32>,
    /// For how many days a version is kept. Only if this call changed the settings of retention.
    #[oai(nullable)]
    pub versions_days: MaybeUndefined<u32>,
}

impl From<domain::Visibility> for Visibility {
    fn from(visibility: domain::Visibility) -> Self {
        match visibility {
            domain::Visibility::Public => Visibility::Public,
            domain::Visibility::Unlisted => Visibility::Unlisted,
            domain::Visibility::Private => Visibility::Private,
        }
    }
}

impl From<Visibility> for domain::Visibility {
    fn from(visibility: Visibility) -> Self {
        match visibility {
            Visibility::Public => domain::Visibility::Public,
            Visibility::Unlisted => domain::Visibility::Unlisted,
            Visibility::Private => domain::Visibility::Private,
        }
    }
}

impl From<domain::ModerationStatus> for ModerationStatus {
    fn from(status: domain::ModerationStatus) -> Self {
        match status {
            domain::ModerationStatus::Pending => ModerationStatus::Pending,
            domain::ModerationStatus::Review => ModerationStatus::Review,
            domain::ModerationStatus::Pass => ModerationStatus::Pass,
            domain::ModerationStatus::Blocked => ModerationStatus::Blocked,
        }
    }
}

impl Artifact {
    pub fn new(artifact: &domain::Artifact, addresses: &Addresses) -> Self {
        // An artifact that has only staged versions has no moderation status yet.
        let moderation = artifact.live.map_or(domain::ModerationStatus::Pending, |live| live.moderation);
        Self {
            id: artifact.id.to_string(),
            slug: artifact.slug.to_string(),
            host: artifact.host.to_string(),
            url: addresses.page(&artifact.host),
            visibility: artifact.visibility.into(),
            moderation_status: moderation.into(),
            version: artifact.live.map(|live| live.seq),
            title: artifact.title.as_ref().map(ToString::to_string),
        }
    }
}

impl ArtifactDetail {
    pub fn new(detail: service::ArtifactDetail, addresses: &Addresses) -> Self {
        let live = detail.artifact.live.map(|live| live.seq);
        let links = &detail.version_links;
        let versions = detail.versions.rows.iter().map(|version| Version::new(version, live, links));
        Self {
            artifact: Artifact::new(&detail.artifact, addresses),
            moderation: detail.moderation.into(),
            created_at: detail.artifact.created_at.into(),
            updated_at: detail.artifact.updated_at.into(),
            versions_kept: detail.artifact.retention.versions_kept,
            versions_days: detail.artifact.retention.versions_days,
            versions: versions.collect(),
            signed_url: detail.signed_url,
        }
    }
}

impl From<service::ModerationNotice> for Moderation {
    fn from(notice: service::ModerationNotice) -> Self {
        let service::ModerationNotice { status, rule, file, saw, message, .. } = notice;
        Self { status: status.into(), rule, file, saw, message }
    }
}

impl Appeal {
    pub fn read(&self) -> Result<AppealMessage, Refusal> {
        read_appeal(&self.message.0)
    }
}

/// Reads an appeal from a JSON body or from the page's form.
pub fn read_appeal(message: &str) -> Result<AppealMessage, Refusal> {
    let invalid = |fault: MalformedReason| Refusal::invalid("message", fault.to_string());
    AppealMessage::written(message).map_err(invalid)
}

impl From<service::AppealTaken> for AppealTaken {
    fn from(taken: service::AppealTaken) -> Self {
        Self {
            id: taken.id.to_string(),
            slug: taken.slug.to_string(),
            host: taken.host.to_string(),
            version: taken.seq,
            moderation_status: taken.moderation.into(),
        }
    }
}

impl poem_openapi::types::Example for Appeal {
    fn example() -> Self {
        Self { message: TypedAppeal("The form is a drawing in a lesson; it sends nothing.".to_owned()) }
    }
}

impl ShownArtifact {
    pub fn new(shown: service::ShownArtifact, addresses: &Addresses) -> Self {
        Self {
            artifact: Artifact::new(&shown.artifact, addresses),
            signed_url: shown.signed_url,
            receipt: shown.receipt.as_ref().map(Receipt::from),
            versions_kept: MaybeUndefined::Undefined,
            versions_days: MaybeUndefined::Undefined,
        }
    }

    /// After a change of the settings of retention.
    pub fn with_retention(shown: service::ShownArtifact, addresses: &Addresses) -> Self {
        let retention = shown.artifact.retention;
        Self {
            versions_kept: retention.versions_kept.map_or(MaybeUndefined::Null, MaybeUndefined::Value),
            versions_days: retention.versions_days.map_or(MaybeUndefined::Null, MaybeUndefined::Value),
            ..Self::new(shown, addresses)
        }
    }
}

impl ChangeArtifact {
    pub fn read(&self) -> Result<ArtifactChange, Refusal> {
        let retention = retention_change(&self.versions_kept, &self.versions_days);
        let refused = |fault: &str| Refusal::InvalidBody { fault: fault.to_owned() };
        match self.visibility {
            MaybeUndefined::Value(to) if retention.is_empty() => Ok(ArtifactChange::Visibility(to.into())),
            MaybeUndefined::Value(_) => Err(refused(
                "visibility: send it without versions_kept and versions_days, in a call of its own",
            )),
            MaybeUndefined::Null => Err(refused("visibility: must be a string, not null")),
            MaybeUndefined::Undefined if retention.is_empty() => Err(must_be_given("visibility")),
            MaybeUndefined::Undefined => Ok(ArtifactChange::Retention(retention)),
        }
    }
}

impl poem_openapi::types::Example for ChangeArtifact {
    fn example() -> Self {
        Self {
            visibility: MaybeUndefined::Value(Visibility::Unlisted),
            versions_kept: MaybeUndefined::Undefined,
            versions_days: MaybeUndefined::Undefined,
        }
    }
}

impl Version {
    /// `live` is the `seq` of the artifact's live version.
    pub fn new(version: &domain::Version, live: Option<u32>, links: &VersionLinks) -> Self {
        Self {
            id: version.id.to_string(),
            seq: version.seq,
            total_bytes: version.total_bytes,
            file_count: version.file_count,
            created_via: version.created_via.as_str().to_owned(),
            message: version.message.as_ref().map(ToString::to_string),
            created_at: version.created_at.into(),
            moderation_status: version.moderation.into(),
            live: Some(version.seq) == live,
            url: links.url(version.seq),
            signed_url: links.signed_url(version.seq),
        }
    }
}
