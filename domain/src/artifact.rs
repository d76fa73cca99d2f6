//! Artifacts, their versions and routes, as the operations and the edge see them. What is known of a content belongs
//! to its version, never to the artifact: making another version live must not launder a verdict.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AccountId, ArtifactId, CreatedVia, Host, Manifest, Message, Slug, Time, VersionId};

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

/// What is known of a version's content (spec 3.3). It is kept per version; an artifact shows its live version's.
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

/// An artifact as the operations see it. Outcomes keep it: a new field needs a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Artifact {
    pub id: ArtifactId,
    pub account: AccountId,
    pub slug: Slug,
    pub host: Host,
    pub visibility: Visibility,
    /// The live version, once one is live: an artifact may begin with a staged one.
    pub live: Option<LiveVersion>,
    pub created_at: Time,
    pub updated_at: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LiveVersion {
    pub id: VersionId,
    pub seq: u32,
    // Outcomes that were kept before it was told have none.
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

/// All that the edge needs to serve a host: one row, no joins.
#[derive(Clone, Debug)]
pub struct Route {
    pub host: Host,
    pub account: AccountId,
    pub artifact: ArtifactId,
    pub version: VersionId,
    pub visibility: Visibility,
    pub moderation: ModerationStatus,
    /// Set while the account is provisional: past it the answer is 410, before it pages wear the badge.
    pub expires_at: Option<Time>,
    /// Whether an operator has suspended the account: then the answer is 451.
    pub is_suspended: bool,
    /// When what visitors get last changed: by a publish, a claim, a verdict or a new visibility.
    pub updated_at: Time,
    /// From when on visitors are shown no documents until the version has a verdict: its scan failed, or scans are late.
    /// Only pages of provisional accounts are held back.
    pub held_from: Option<Time>,
    pub manifest: Manifest,
}

impl Route {
    /// How long the oldest version without a verdict may wait before pending pages of provisional accounts are held back.
    pub const SCAN_WAIT_MAX: Duration = Duration::from_secs(30);

    /// Whether documents are held back until the version has a verdict. A version that was reported, or whose scan was
    /// given up, is in review without one.
    pub fn is_held_back(&self, now: Time) -> bool {
        let is_held = self.held_from.is_some_and(|from| from <= now);
        let has_no_verdict = matches!(self.moderation, ModerationStatus::Pending | ModerationStatus::Review);
        is_held && has_no_verdict && self.expires_at.is_some()
    }
}
