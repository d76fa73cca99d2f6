//! The review of one page: why it is in the queue, what it contains, and the form to decide.

use std::collections::HashSet;

use askama::Template;
use domain::{AccountStatus, BlobHash, Host, Missing, ModerationStatus, Refusal, ReportCategory, Visibility};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, PercentEncode, utf8_percent_encode};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{
    AccountHistoryPage, CasesAround, DECISIONS_BESIDE_MAX, HISTORY_SHOWN_MAX, REPORTS_SHOWN_MAX, ReviewItem,
    ReviewedVersion, SamePage, Service, StoredAppeal, StoredReport, first_document,
};

use super::frame::{Frame, Tab};
use super::history::HistoryRows;
use super::labels::{rule_description, source_label};
use super::list::List;
use super::log::DecisionRow;
use super::reasons::REASONS;
use crate::html::faults::Faults;
use crate::html::figures::{Moment, Size, SuspendedSince};
use crate::html::page_framing;
use crate::http::refusal::RefusedCall;

/// Everything except RFC 3986's unreserved characters and the slash between folders.
const ENCODED_IN_PATHS: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');
/// The number of files that are listed. Few versions have more.
const FILES_SHOWN_MAX: usize = 50;
/// The number of characters render of each finding, because a page can make findings long.
const EVIDENCE_LENGTH_MAX: usize = 200;

#[derive(Template)]
#[template(path = "admin/case.html")]
pub struct CasePage<'a> {
    pub frame: &'a Frame,
    pub host: String,
    /// The path of this page.
    pub path: String,
    /// The path of the form, with the list that the next case comes from.
    pub action: String,
    /// The paths of the list, and of the previous and next cases.
    pub back: String,
    pub previous: Option<String>,
    pub next: Option<String>,
    pub url: String,
    pub account: String,
    pub account_status: AccountStatus,
    pub account_expires_at: Option<Moment>,
    pub suspension: Option<SuspendedSince>,
    pub visibility: Visibility,
    pub version: Option<VersionRows>,
    pub reports: Vec<ReportRow>,
    pub appeals: Vec<AppealRow>,
    pub decisions: Vec<DecisionRow>,
    /// The newest decision, report and appeal on this page. They are sent with the decision, so that it fails
    /// if there is a newer one.
    pub seen_decision: String,
    pub seen_report: String,
    pub seen_appeal: String,
    pub same: Vec<SameRow>,
    /// The pages that the checkbox also blocks, sent with the decision.
    pub listed: Vec<String>,
    pub has_more_same: bool,
    pub history: HistoryRows,
    pub form: DecisionShownAgain,
}

/// The account's history, and the list that the case was opened from.
pub struct CaseContext {
    pub history: AccountHistoryPage,
    pub list: List,
    pub around: CasesAround,
}

/// The contents of a form that was refused: that of a decision or of a suspension.
#[derive(Default)]
pub struct DecisionShownAgain {
    pub note: String,
    pub standard_reason: String,
    pub reason: String,
    pub elsewhere: bool,
    pub faults: Faults,
}

pub struct VersionRows {
    pub seq: u32,
    /// Otherwise visitors see it only at its own address.
    pub is_live: bool,
    pub status: ModerationStatus,
    pub set_by: &'static str,
    pub published_at: Moment,
    pub scanned_at: Option<Moment>,
    pub findings: Vec<FindingRow>,
    /// The path where the preview begins: the file of the first finding.
    pub preview: String,
    pub files: Vec<FileRow>,
}

pub struct FindingRow {
    pub rule: String,
    pub file: String,
    pub source: Option<String>,
    pub field: String,
    pub text: String,
}

pub struct FileRow {
    pub path: String,
    /// Its content is on the list of blocked files.
    pub is_blocked: bool,
    pub size: Size,
    pub preview: String,
    pub source: String,
}

pub struct ReportRow {
    /// The reported version, if it is not the one to decide on, and the path of its preview.
    pub other_version: Option<(u32, String)>,
    pub reason: Option<String>,
    pub category: Option<&'static str>,
    pub at: Moment,
    pub is_open: bool,
}

pub struct AppealRow {
    pub seq: u32,
    pub message: String,
    pub at: Moment,
    pub is_open: bool,
}

pub struct SameRow {
    pub host: String,
    pub path: String,
    pub account: String,
    pub status: ModerationStatus,
    /// The file that both pages contain.
    pub file: String,
    pub is_passed_by_moderator: bool,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    render(request, &service, StatusCode::OK, DecisionShownAgain::default()).await
}

/// The current page, with the refused decision if there is one.
pub async fn render(
    request: &Request,
    service: &Service,
    status: StatusCode,
    form: DecisionShownAgain,
) -> Result<Response, RefusedCall> {
    let host = host_of(request)?;
    let frame = Frame::begin(request, Tab::Moderation)?;
    let item = service.review_item(&host).await?;
    let list = List::of(request);
    let around = service.cases_around(&list.wanted_for_case(), &host).await?;
    let history = service.history_beside(&item.artifact).await?;
    let template = CasePage::new(&frame, item, service, CaseContext { history, list, around }, form);
    page_framing(status, &template, "'self'")
}

/// The page that the path names. A malformed host is reported as not found.
pub fn host_of(request: &Request) -> Result<Host, Refusal> {
    let host = request.raw_path_param("host").unwrap_or_default();
    host.parse().map_err(|_| Refusal::NotFound(Missing::ReviewedHost))
}

impl<'a> CasePage<'a> {
    pub fn new(
        frame: &'a Frame,
        item: ReviewItem,
        service: &Service,
        beside: CaseContext,
        form: DecisionShownAgain,
    ) -> Self {
        let host = &item.artifact.host;
        let url = service.addresses().page(host);
        let (service, host) = (service.clone(), host.clone());
        Self::with_tickets(frame, item, url, |seq| service.preview_ticket(&host, seq), beside, form)
    }

    /// `ticket_of` makes the ticket that opens the preview of a version.
    pub fn with_tickets(
        frame: &'a Frame,
        item: ReviewItem,
        url: String,
        ticket_of: impl Fn(u32) -> String,
        beside: CaseContext,
        form: DecisionShownAgain,
    ) -> Self {
        let CaseContext { history, list, around } = beside;
        let path = format!("{}/{}", super::QUEUE, item.artifact.host);
        let pages = item.same_content.pages;
        let listed =
            pages.iter().filter(|page| !page.is_passed_by_moderator).map(|page| page.host.to_string());
        let listed = listed.collect();
        let seen = item.seen;
        let decided_on = item.version.as_ref().map(|version| version.seq);
        let preview_of = |seq| format!("{path}/preview/{seq}/{}/", ticket_of(seq));
        let report = |report: StoredReport| {
            let other = report.seq.filter(|seq| Some(*seq) != decided_on);
            ReportRow::new(report, other.map(|seq| (seq, preview_of(seq))))
        };
        Self {
            frame,
            reports: item.reports.into_iter().map(report).collect(),
            version: item.version.map(|version| {
                VersionRows::new(&version, &item.blocked_contents, &path, &preview_of(version.seq))
            }),
            action: list.case(&item.artifact.host),
            back: list.path(),
            previous: around.previous.map(|host| list.case(&host)),
            next: around.next.map(|host| list.case(&host)),
            history: HistoryRows::new(&item.account, history),
            host: item.artifact.host.to_string(),
            url,
            suspension: item.account.suspension.as_ref().map(SuspendedSince::from),
            account: item.account.handle,
            account_status: item.account.status,
            account_expires_at: item.account.expires_at.map(Moment),
            visibility: item.artifact.visibility,
            appeals: item.appeals.into_iter().map(AppealRow::from).collect(),
            decisions: item.decisions.into_iter().map(DecisionRow::from).collect(),
            seen_decision: seen.decision.map(|id| id.to_string()).unwrap_or_default(),
            seen_report: seen.report.map(|id| id.to_string()).unwrap_or_default(),
            seen_appeal: seen.appeal.map(|id| id.to_string()).unwrap_or_default(),
            same: pages.into_iter().map(SameRow::from).collect(),
            listed,
            has_more_same: item.same_content.has_more,
            path,
            form,
        }
    }
}

impl VersionRows {
    fn new(version: &ReviewedVersion, blocked: &HashSet<BlobHash>, path: &str, preview: &str) -> Self {
        let source_of = |file: &str| format!("{path}/source/{}/{}", version.seq, encoded(file));
        let files = version.files.iter().take(FILES_SHOWN_MAX).map(|file| FileRow {
            path: file.path.to_string(),
            is_blocked: blocked.contains(&file.hash),
            size: Size(file.size_bytes),
            preview: format!("{preview}{}", encoded(file.path.as_str())),
            source: source_of(file.path.as_str()),
        });
        let findings = version.findings.iter().map(|finding| {
            let is_there = version.files.iter().any(|file| file.path.as_str() == finding.file);
            FindingRow {
                rule: rule_description(&finding.rule),
                file: shortened(&finding.file),
                source: is_there.then(|| source_of(&finding.file)),
                field: shortened(&finding.field),
                text: shortened(&finding.words.join(", ")),
            }
        });
        let begins_at = version
            .findings
            .iter()
            .find_map(|finding| version.files.iter().find(|file| file.path.as_str() == finding.file));
        let begins_at = begins_at.or_else(|| first_document(&version.files));
        let begins_at = begins_at.map(|file| encoded(file.path.as_str()).to_string()).unwrap_or_default();
        Self {
            preview: format!("{preview}{begins_at}"),
            seq: version.seq,
            is_live: version.is_live,
            status: version.status,
            set_by: source_label(version.moderated_by),
            published_at: Moment(version.published_at),
            scanned_at: version.scanned_at.map(Moment),
            findings: findings.collect(),
            files: files.collect(),
        }
    }
}

impl From<SamePage> for SameRow {
    fn from(page: SamePage) -> Self {
        Self {
            path: format!("{}/{}", super::QUEUE, page.host),
            host: page.host.to_string(),
            account: page.account_handle,
            status: page.status,
            file: shortened(&page.file),
            is_passed_by_moderator: page.is_passed_by_moderator,
        }
    }
}

impl ReportRow {
    fn new(report: StoredReport, other_version: Option<(u32, String)>) -> Self {
        Self {
            other_version,
            reason: report.reason,
            category: report.category.map(ReportCategory::as_str),
            at: Moment(report.at),
            is_open: report.answered_at.is_none(),
        }
    }
}

impl From<StoredAppeal> for AppealRow {
    fn from(appeal: StoredAppeal) -> Self {
        Self {
            seq: appeal.seq,
            message: appeal.message,
            at: Moment(appeal.at),
            is_open: appeal.closed_at.is_none(),
        }
    }
}

/// A file's path, encoded for a URL.
fn encoded(path: &str) -> PercentEncode<'_> {
    utf8_percent_encode(path, ENCODED_IN_PATHS)
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(EVIDENCE_LENGTH_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_paths_are_percent_encoded_in_urls() {
        assert_eq!(encoded("a b/ü?#%.html").to_string(), "a%20b/%C3%BC%3F%23%25.html");
        assert_eq!(encoded("css/app_1~2-3.css").to_string(), "css/app_1~2-3.css");
    }

    #[test]
    fn evidence_is_shown_in_part_when_it_is_long() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"ü".repeat(1_000)).chars().count(), EVIDENCE_LENGTH_MAX + 1);
    }
}
