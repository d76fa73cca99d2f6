//! Artifacts, their versions and routes. A moderation status belongs to a version, never to the artifact:
//! making another version live must not clear a verdict.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    AccountId, ArtifactId, CreatedVia, Host, LinkGeneration, Manifest, Message, PageTitle, Retention, Slug,
    Time, VersionId,
};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    #[default]
    Public,
    Unlisted,
    Private,
}

impl Visibility {
    pub fn as_str(self) -> &'static str {
        match self {
            Visibility::Public => "public",
            Visibility::Unlisted => "unlisted",
            Visibility::Private => "private",
        }
    }
}

/// The moderation status of a version's content (spec 3.3). An artifact shows its live version's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModerationStatus {
    Pending,
    Review,
    Pass,
    Blocked,
}

impl ModerationStatus {
    pub fn as_str(self) -> &'static str {
        match self {
            ModerationStatus::Pending => "pending",
            ModerationStatus::Review => "review",
            ModerationStatus::Pass => "pass",
            ModerationStatus::Blocked => "blocked",
        }
    }
}

/// An artifact. Stored outcomes contain it, so a new field needs a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub id: ArtifactId,
    pub account: AccountId,
    pub slug: Slug,
    pub host: Host,
    pub visibility: Visibility,
    /// Of its link while it is private.
    #[serde(default, skip_serializing_if = "LinkGeneration::is_first")]
    pub link_generation: LinkGeneration,
    /// `None` until a version is live: the first version may be staged.
    pub live: Option<LiveVersion>,
    /// The title of the live version's front page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<PageTitle>,
    pub created_at: Time,
    pub updated_at: Time,
    /// The artifact's own rule.
    #[serde(default, skip_serializing_if = "Retention::is_off")]
    pub retention: Retention,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveVersion {
    pub id: VersionId,
    pub seq: u32,
    // Outcomes that were stored before this field existed have none.
    #[serde(default)]
    pub total_bytes: u64,
    pub moderation: ModerationStatus,
}

/// An entry of `versions[]`.
#[derive(Clone, Debug)]
pub struct Version {
    pub id: VersionId,
    pub seq: u32,
    pub total_bytes: u64,
    pub file_count: u32,
    pub created_via: CreatedVia,
    pub message: Option<Message>,
    pub created_at: Time,
    pub moderation: ModerationStatus,
}

/// Everything that the edge needs to serve a host, in one row without joins.
#[derive(Clone, Debug)]
pub struct Route {
    pub host: Host,
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub version: VersionId,
    pub visibility: Visibility,
    pub link_generation: LinkGeneration,
    pub moderation: ModerationStatus,
    /// Set while the account is provisional. Before this time pages have the badge, after it the response is
    /// 410.
    pub expires_at: Option<Time>,
    /// Whether an operator has suspended the account. The response is then 451.
    pub is_suspended: bool,
    /// When the served content last changed: by a publish, a claim, a verdict, or a change of the
    /// visibility or the private link.
    pub updated_at: Time,
    /// From this time on, documents are not served until the version has a verdict, because its scan failed
    /// or scans are late. Only pages of provisional accounts are held back.
    pub held_from: Option<Time>,
    pub manifest: Manifest,
}

impl Route {
    /// How long the oldest version may wait for a verdict before pending pages of provisional accounts are
    /// held back.
    pub const SCAN_WAIT_MAX: Duration = Duration::from_secs(30);

    /// Whether documents are held back until the version has a verdict. A reported version, or one whose scan
    /// failed for good, is in review without a verdict.
    pub fn is_held_back(&self, now: Time) -> bool {
        let is_held = self.held_from.is_some_and(|from| from <= now);
        let has_no_verdict = matches!(self.moderation, ModerationStatus::Pending | ModerationStatus::Review);
        is_held && has_no_verdict && self.expires_at.is_some()
    }
}
