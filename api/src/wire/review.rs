//! The moderators' review queue in responses.

use std::collections::HashSet;

use domain::{BlobHash, ModeratedBy};
use poem_openapi::{Enum, Object};
use service::WaitingFor;

use super::Timestamp;
use super::account::AccountStatus;
use super::artifact::{ModerationStatus, Visibility};
use super::moderation::ReportCategory;

/// The pages to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum QueueStatus {
    Review,
    Blocked,
    Pending,
}

/// What set a status: a scan, a report, a moderator, or nobody yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum Source {
    Nobody,
    Scan,
    Report,
    Moderator,
}

/// One page of the review queue.
#[derive(Debug, Object)]
pub struct Queue {
    /// The pages, longest wait first. An open report counts as six more hours of waiting.
    pub items: Vec<WaitingPage>,
    /// The `after` of the next page. Null on the last page.
    #[oai(nullable)]
    pub next: Option<String>,
}

/// A page that waits for a decision.
#[derive(Debug, Object)]
pub struct WaitingPage {
    pub host: String,
    pub slug: String,
    /// The handle of the page's account.
    pub account: String,
    pub visibility: Visibility,
    /// The `seq` of the live version, or of the newest one while none is live.
    pub version: u32,
    pub moderation_status: ModerationStatus,
    pub moderated_by: Source,
    pub waiting_since: Timestamp,
    pub open_reports: u64,
    /// When the owner submitted the open appeal. Null if none.
    #[oai(nullable)]
    pub appealed_at: Option<Timestamp>,
    /// The rules that the last scan matched.
    pub rules: Vec<String>,
}

/// A page with everything that a moderator needs.
#[derive(Debug, Object)]
pub struct ReviewItem {
    pub host: String,
    pub slug: String,
    pub url: String,
    pub visibility: Visibility,
    pub account: AccountOfItem,
    /// The version to decide on. Null if there are no versions.
    #[oai(nullable)]
    pub live: Option<LiveVersion>,
    /// The newest reports, at most 100, newest first.
    pub reports: Vec<ReportOfItem>,
    /// The newest appeals, at most 20, newest first.
    pub appeals: Vec<AppealOfItem>,
    /// The newest decisions on any of its versions, at most 50, newest first. `GET /internal/audit` lists
    /// all.
    pub decisions: Vec<Decision>,
    /// Other live pages of any account with the same content: an HTML file that the evidence names, or else
    /// the page's front page.
    pub same_content: SameContent,
    /// Send it with the decision.
    pub seen: Seen,
}

/// The newest decision, report and appeal in this response. A decision that contains it returns 409 if
/// another decision was made since, and leaves later reports and appeals open.
#[derive(Debug, Object)]
pub struct Seen {
    /// The newest decision on the version of `live`.
    #[oai(validator(pattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"), nullable)]
    pub decision: Option<String>,
    #[oai(validator(pattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"), nullable)]
    pub report: Option<String>,
    #[oai(validator(pattern = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$"), nullable)]
    pub appeal: Option<String>,
}

/// The account of a page.
#[derive(Debug, Object)]
pub struct AccountOfItem {
    pub id: String,
    pub handle: String,
    pub status: AccountStatus,
    #[oai(nullable)]
    pub expires_at: Option<Timestamp>,
}

/// The live version, or the newest one while none is live.
#[derive(Debug, Object)]
pub struct LiveVersion {
    /// The `seq` of the version. Send it as `version` of a decision.
    pub version: u32,
    /// Whether no version is live. This one is then the newest, and visitors see it only at its own address.
    pub staged: bool,
    pub moderation_status: ModerationStatus,
    pub moderated_by: Source,
    pub published_at: Timestamp,
    /// The time of the last scan. Null before the first one.
    #[oai(nullable)]
    pub scanned_at: Option<Timestamp>,
    /// What the last scan found.
    pub evidence: Vec<Finding>,
    /// The version's files. `/admin/moderation/{host}/preview/{version}/` shows them.
    pub files: Vec<FileOfItem>,
}

/// A file of a version.
#[derive(Debug, Object)]
pub struct FileOfItem {
    pub path: String,
    pub size_bytes: u64,
    pub content_type: String,
    /// The SHA-256 of the file.
    pub sha256: String,
    /// Whether this file is blocked in new versions: see `GET /internal/blocked-contents`.
    pub blocked_content: bool,
}

/// A finding of a scan.
#[derive(Debug, Object)]
pub struct Finding {
    pub rule: String,
    pub file: String,
    /// The form field that matched.
    pub field: String,
    /// The words that matched.
    pub words: Vec<String>,
}

/// A report of a page.
#[derive(Debug, Object)]
pub struct ReportOfItem {
    /// The `seq` of the version that was reported. Null if it was deleted.
    #[oai(nullable)]
    pub version: Option<u32>,
    #[oai(nullable)]
    pub reason: Option<String>,
    #[oai(nullable)]
    pub category: Option<ReportCategory>,
    pub created_at: Timestamp,
    /// When a moderator's decision closed it. Null while it is open.
    #[oai(nullable)]
    pub answered_at: Option<Timestamp>,
}

/// An owner's appeal against the decision on a version.
#[derive(Debug, Object)]
pub struct AppealOfItem {
    /// The `seq` of the version.
    pub version: u32,
    pub message: String,
    pub created_at: Timestamp,
    /// When a moderator's decision closed it. Null while it is open.
    #[oai(nullable)]
    pub answered_at: Option<Timestamp>,
}

/// Pages with the same content.
#[derive(Debug, Object)]
pub struct SameContent {
    pub pages: Vec<SamePage>,
    /// Whether there are more pages than listed. One decision can block only the listed ones.
    pub has_more: bool,
}

/// A page with the same content.
#[derive(Debug, Object)]
pub struct SamePage {
    pub host: String,
    /// The handle of the page's account.
    pub account: String,
    pub moderation_status: ModerationStatus,
    /// Whether a moderator passed it.
    pub passed_by_moderator: bool,
    /// The first of its files with the same content.
    pub file: String,
}

/// One page of the decisions.
#[derive(Debug, Object)]
pub struct DecisionLog {
    /// The decisions, newest first.
    pub items: Vec<Decision>,
    /// The `before` of the next page. Null on the last page.
    #[oai(nullable)]
    pub next: Option<String>,
}

/// A decision on a version.
#[derive(Debug, Object)]
pub struct Decision {
    pub id: String,
    pub host: String,
    pub version: u32,
    /// The decided status. For a scan it is the scan's result, which has no effect while a moderator's
    /// decision holds.
    pub moderation_status: ModerationStatus,
    pub source: Source,
    /// The name of the moderator. Null for scans and reports.
    #[oai(nullable)]
    pub decided_by: Option<String>,
    #[oai(nullable)]
    pub note: Option<String>,
    pub evidence: Vec<Finding>,
    #[oai(nullable)]
    pub scanner_version: Option<String>,
    pub created_at: Timestamp,
}

impl From<QueueStatus> for WaitingFor {
    fn from(status: QueueStatus) -> Self {
        match status {
            QueueStatus::Review => WaitingFor::Review,
            QueueStatus::Blocked => WaitingFor::BlockedAlready,
            QueueStatus::Pending => WaitingFor::Scan,
        }
    }
}

impl From<ModeratedBy> for Source {
    fn from(by: ModeratedBy) -> Self {
        match by {
            ModeratedBy::Nobody => Source::Nobody,
            ModeratedBy::Scan => Source::Scan,
            ModeratedBy::Report => Source::Report,
            ModeratedBy::Moderator => Source::Moderator,
        }
    }
}

impl From<service::ReviewQueuePage> for Queue {
    fn from(queue: service::ReviewQueuePage) -> Self {
        Self {
            items: queue.waiting.into_iter().map(WaitingPage::from).collect(),
            next: queue.next.map(|cursor| cursor.to_string()),
        }
    }
}

impl From<service::WaitingPages> for WaitingPage {
    fn from(waiting: service::WaitingPages) -> Self {
        Self {
            host: waiting.host.to_string(),
            slug: waiting.slug.to_string(),
            account: waiting.account_handle,
            visibility: waiting.visibility.into(),
            version: waiting.seq,
            moderation_status: waiting.status.into(),
            moderated_by: waiting.moderated_by.into(),
            waiting_since: waiting.since.into(),
            open_reports: waiting.open_reports,
            appealed_at: waiting.appealed_at.map(Timestamp::from),
            rules: waiting.rules,
        }
    }
}

impl ReviewItem {
    pub fn new(item: service::ReviewItem, url: String) -> Self {
        let pages = item.same_content.pages.into_iter().map(SamePage::from).collect();
        Self {
            host: item.artifact.host.to_string(),
            slug: item.artifact.slug.to_string(),
            url,
            visibility: item.artifact.visibility.into(),
            account: AccountOfItem {
                id: item.account.id.to_string(),
                handle: item.account.handle,
                status: item.account.status.into(),
                expires_at: item.account.expires_at.map(Timestamp::from),
            },
            live: item.version.map(|version| LiveVersion::new(version, &item.blocked_contents)),
            reports: item.reports.into_iter().map(ReportOfItem::from).collect(),
            appeals: item.appeals.into_iter().map(AppealOfItem::from).collect(),
            decisions: item.decisions.into_iter().map(Decision::from).collect(),
            same_content: SameContent { pages, has_more: item.same_content.has_more },
            seen: Seen {
                decision: item.seen.decision.map(|id| id.to_string()),
                report: item.seen.report.map(|id| id.to_string()),
                appeal: item.seen.appeal.map(|id| id.to_string()),
            },
        }
    }
}

impl LiveVersion {
    fn new(reviewed: service::ReviewedVersion, blocked: &HashSet<BlobHash>) -> Self {
        let file = |file: domain::ManifestFile| FileOfItem {
            sha256: file.hash.to_string(),
            blocked_content: blocked.contains(&file.hash),
            path: file.path.to_string(),
            size_bytes: file.size_bytes,
            content_type: file.content_type,
        };
        Self {
            version: reviewed.seq,
            staged: !reviewed.is_live,
            moderation_status: reviewed.status.into(),
            moderated_by: reviewed.moderated_by.into(),
            published_at: reviewed.published_at.into(),
            scanned_at: reviewed.scanned_at.map(Timestamp::from),
            evidence: reviewed.findings.into_iter().map(Finding::from).collect(),
            files: reviewed.files.into_iter().map(file).collect(),
        }
    }
}

impl From<service::Finding> for Finding {
    fn from(finding: service::Finding) -> Self {
        let service::Finding { rule, file, field, words } = finding;
        Self { rule, file, field, words }
    }
}

impl From<service::StoredReport> for ReportOfItem {
    fn from(report: service::StoredReport) -> Self {
        Self {
            version: report.seq,
            reason: report.reason,
            category: report.category.map(ReportCategory::from),
            created_at: report.at.into(),
            answered_at: report.answered_at.map(Timestamp::from),
        }
    }
}

impl From<service::StoredAppeal> for AppealOfItem {
    fn from(appeal: service::StoredAppeal) -> Self {
        Self {
            version: appeal.seq,
            message: appeal.message,
            created_at: appeal.at.into(),
            answered_at: appeal.closed_at.map(Timestamp::from),
        }
    }
}

impl From<service::SamePage> for SamePage {
    fn from(page: service::SamePage) -> Self {
        Self {
            host: page.host.to_string(),
            account: page.account_handle,
            moderation_status: page.status.into(),
            passed_by_moderator: page.is_passed_by_moderator,
            file: page.file,
        }
    }
}

impl From<service::DecisionList> for DecisionLog {
    fn from(log: service::DecisionList) -> Self {
        Self {
            items: log.decisions.into_iter().map(Decision::from).collect(),
            next: log.next.map(|id| id.to_string()),
        }
    }
}

impl From<service::DecisionShown> for Decision {
    fn from(decision: service::DecisionShown) -> Self {
        let kept = decision.kept;
        Self {
            id: kept.id.to_string(),
            host: kept.host.to_string(),
            version: kept.seq,
            moderation_status: kept.status.into(),
            source: kept.source.into(),
            decided_by: kept.decided_by,
            note: kept.note,
            evidence: decision.findings.into_iter().map(Finding::from).collect(),
            scanner_version: kept.scanner_version,
            created_at: kept.at.into(),
        }
    }
}
