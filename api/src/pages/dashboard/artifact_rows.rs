//! What the page of an artifact lists: its versions, the files of the live one, its views by day, and the
//! moderation decision.

use domain::link::VersionLinks;
use domain::{CreatedVia, ManifestFile, ModerationStatus, Time, Version};
use service::{ArtifactDetail, DayViews, ModerationNotice, VersionFiles};

use crate::html::ago::Ago;
use crate::html::figures::{Count, DayOfMonth, Size};

pub struct VersionRow {
    pub seq: u32,
    pub is_live: bool,
    pub made_at: Ago,
    pub size: Size,
    /// Such as `3 files`.
    pub files: String,
    /// Such as `by API`.
    pub via: &'static str,
    pub message: Option<String>,
    pub moderation: ModerationStatus,
    /// The `seq` of the version before it, with which it is compared. `None` for the first one.
    pub before: Option<u32>,
    /// The version's own address, signed if the page is private.
    pub url: String,
}

/// The live version, if it is on this page of the list of versions.
pub struct LiveFacts {
    pub seq: u32,
    pub made_at: Ago,
    pub size: Size,
    pub files: String,
}

pub struct FileRow {
    pub path: String,
    /// The file at the version's address. Files with rules are not served.
    pub url: Option<String>,
    pub content_type: String,
    pub size: Size,
}

pub struct DayRow {
    pub day: DayOfMonth,
    pub date: String,
    pub views: Count,
}

/// A decision that keeps a page in review or blocked.
pub struct Notice {
    pub message: String,
    pub rule: Option<String>,
    pub file: Option<String>,
    pub saw: Option<String>,
    pub advice: &'static str,
    pub may_appeal: bool,
}

pub fn version_rows(detail: &ArtifactDetail, now: Time) -> Vec<VersionRow> {
    let rows = &detail.versions.rows;
    let row = |(at, version): (usize, &Version)| VersionRow {
        seq: version.seq,
        is_live: detail.artifact.live.is_some_and(|live| live.seq == version.seq),
        made_at: Ago::new(version.created_at, now),
        size: Size(version.total_bytes),
        files: files_text(version.file_count),
        via: created_via_label(version.created_via),
        message: version.message.as_ref().map(ToString::to_string),
        moderation: version.moderation,
        before: rows.get(at + 1).map(|row| row.seq),
        url: detail.version_links.link(version.seq),
    };
    rows.iter().enumerate().map(row).collect()
}

pub fn file_rows(files: &VersionFiles, links: &VersionLinks) -> Vec<FileRow> {
    let row = |file: &ManifestFile| FileRow {
        path: file.path.to_string(),
        url: (!file.holds_rules()).then(|| links.file_link(files.seq, &file.path)),
        content_type: file.content_type.clone(),
        size: Size(file.size_bytes),
    };
    files.manifest.files().iter().map(row).collect()
}

impl LiveFacts {
    pub fn of(detail: &ArtifactDetail, now: Time) -> Option<Self> {
        let live = detail.artifact.live?;
        let version = detail.versions.rows.iter().find(|version| version.seq == live.seq)?;
        Some(Self {
            seq: version.seq,
            made_at: Ago::new(version.created_at, now),
            size: Size(version.total_bytes),
            files: files_text(version.file_count),
        })
    }
}

impl Notice {
    /// `None` for a page that nothing was decided about.
    pub fn of(notice: &ModerationNotice) -> Option<Self> {
        let advice = advice(notice)?;
        Some(Self {
            message: notice.message.clone()?,
            rule: notice.rule.clone(),
            file: notice.file.clone(),
            saw: notice.saw.clone(),
            advice,
            may_appeal: notice.may_appeal(),
        })
    }
}

/// What the owner can do about a decision.
fn advice(notice: &ModerationNotice) -> Option<&'static str> {
    match (notice.status, notice.file.is_some()) {
        (ModerationStatus::Pass | ModerationStatus::Pending, _) => None,
        (ModerationStatus::Review, true) => {
            Some("Wait for a moderator, or correct the file and publish a new version.")
        }
        (ModerationStatus::Review, false) => Some("Wait for a moderator, or publish a new version."),
        (ModerationStatus::Blocked, true) => {
            Some("Correct the file and publish a new version, or make another version live.")
        }
        (ModerationStatus::Blocked, false) => Some("Publish a new version, or make another version live."),
    }
}

impl From<&DayViews> for DayRow {
    fn from(on: &DayViews) -> Self {
        Self { day: DayOfMonth(on.day), date: on.day.to_string(), views: Count(on.views) }
    }
}

fn files_text(count: u32) -> String {
    match count {
        1 => "1 file".to_owned(),
        count => format!("{} files", Count(count.into())),
    }
}

fn created_via_label(created_via: CreatedVia) -> &'static str {
    match created_via {
        CreatedVia::Api => "by API",
        CreatedVia::Mcp => "by MCP",
        CreatedVia::Web => "on the website",
    }
}
