//! Every operator's page with sample data, for the snapshots of all pages.

use std::collections::HashSet;

use askama::Template;
use domain::{
    Account, AccountId, AppealId, Artifact, ArtifactId, BlobHash, Chance, DecisionId, LinkGeneration,
    LiveVersion, ManifestFile, ModeratedBy, ModerationStatus, OperatorName, Refusal, ReportCategory,
    ReportId, Retention, Suspension, Time, VersionId, Visibility, content_type_of,
};
use service::{
    AccountHistoryPage, AccountReport, BlockedContent, BulkOutcome, CasesAround, DecisionMade, DecisionShown,
    Finding, ReviewItem, ReviewQueuePage, ReviewedVersion, SameContent, SamePage, Seen, StoredAppeal,
    StoredDecision, StoredReport, WaitingPages,
};

use super::audit::{AuditActor, AuditPage};
use super::bulk::BulkPage;
use super::case::{CaseContext, CasePage, DecisionShownAgain};
use super::contents::{ContentRow, ContentsPage};
use super::frame::{Frame, Tab};
use super::list::{List, ReviewStatusFilter};
use super::log::DecisionRow;
use super::queue::{BulkShownAgain, QueuePage};
use super::signin::{SignInPage, faults_of};
use crate::html::NextPath;
use crate::html::faults::Faults;

const URL: &str = "http://127.0.0.1:8081/site/my-page-a1b2/";

pub fn now() -> Time {
    Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap()
}

pub fn frame(tab: Tab, done: Option<&str>) -> Frame {
    let name = OperatorName::cleaned("Ada <Lovelace>").unwrap();
    Frame { name, has_session: true, tab, done: done.map(str::to_owned) }
}

fn finding() -> Finding {
    Finding {
        rule: "seed_phrase".into(),
        file: "index.html".into(),
        field: "textarea[name=<phrase>]".into(),
        words: vec!["seed phrase".into(), "12 words".into()],
    }
}

fn decision(source: ModeratedBy, who: Option<&str>, note: Option<&str>) -> DecisionShown {
    let kept = StoredDecision {
        id: DecisionId::from_ulid(1.into()),
        host: "my-page-a1b2".parse().unwrap(),
        seq: 2,
        status: ModerationStatus::Review,
        source,
        decided_by: who.map(str::to_owned),
        note: note.map(str::to_owned),
        evidence: String::new(),
        scanner_version: None,
        at: now(),
    };
    let other = Finding { rule: "private_key".into(), ..finding() };
    // The same rule again, but not next to the first.
    let findings = if source == ModeratedBy::Scan { vec![finding(), other, finding()] } else { vec![] };
    DecisionShown { kept, findings }
}

fn decisions() -> Vec<DecisionShown> {
    vec![
        decision(ModeratedBy::Moderator, Some("Ada"), Some("A drill.\nSee the <ticket>.")),
        decision(ModeratedBy::Moderator, Some("Grace"), None),
        decision(ModeratedBy::Report, None, None),
        decision(ModeratedBy::Scan, None, None),
    ]
}

fn item(version: Option<ReviewedVersion>) -> ReviewItem {
    let live_version = version.as_ref().filter(|version| version.is_live).map(|live| LiveVersion {
        id: VersionId::from_ulid(1.into()),
        seq: live.seq,
        total_bytes: 12_345,
        moderation: live.status,
    });
    let artifact = Artifact {
        id: ArtifactId::from_ulid(1.into()),
        account: AccountId::from_ulid(1.into()),
        slug: "my-page".parse().unwrap(),
        host: "my-page-a1b2".parse().unwrap(),
        visibility: Visibility::Private,
        link_generation: LinkGeneration::FIRST,
        live: live_version,
        title: None,
        created_at: now(),
        updated_at: now(),
        retention: Retention::default(),
    };
    let mut account = Account::provisional(now(), std::time::Duration::ZERO, &Chance::seeded(1));
    account.handle = "acct_a1b2c3d4e5f6".into();
    ReviewItem {
        artifact,
        account,
        version,
        reports: vec![],
        appeals: vec![],
        blocked_contents: HashSet::new(),
        decisions: vec![],
        same_content: SameContent::default(),
        seen: Seen::default(),
    }
}

fn live(findings: Vec<Finding>) -> ReviewedVersion {
    let file = |path: &str| {
        let path = path.parse().unwrap();
        let content_type = content_type_of(&path);
        ManifestFile {
            path,
            hash: BlobHash::of(b"x"),
            size_bytes: 12_345,
            content_type,
            variants: vec![],
            bundled: None,
        }
    };
    ReviewedVersion {
        seq: 2,
        is_live: true,
        status: ModerationStatus::Review,
        moderated_by: ModeratedBy::Scan,
        published_at: now(),
        files: vec![file("index.html"), file("css/a b.css")],
        findings,
        scanned_at: Some(now()),
        scanner_version: Some("1".into()),
    }
}

fn full() -> ReviewItem {
    let report = |reason: Option<&str>, answered_at| StoredReport {
        id: ReportId::from_ulid(1.into()),
        seq: reason.map(|_| 1),
        reason: reason.map(str::to_owned),
        category: reason.map(|_| ReportCategory::Phishing),
        at: now(),
        answered_at,
    };
    let appeal = |closed_at| StoredAppeal {
        id: AppealId::from_ulid(1.into()),
        seq: 2,
        message: "It is a <lesson>.\nIt sends nothing.".to_owned(),
        at: now(),
        closed_at,
    };
    let same = |host: &str, is_passed_by_moderator| SamePage {
        artifact: ArtifactId::from_ulid(2.into()),
        account: AccountId::from_ulid(2.into()),
        account_handle: "acct_0123456789ab".into(),
        host: host.parse().unwrap(),
        version: VersionId::from_ulid(2.into()),
        status: ModerationStatus::Pass,
        is_passed_by_moderator,
        file: "index.html".into(),
    };
    ReviewItem {
        reports: vec![report(Some("It asks for <b>money</b>.\nTwice."), None), report(None, Some(now()))],
        appeals: vec![appeal(None), appeal(Some(now()))],
        blocked_contents: [BlobHash::of(b"x")].into(),
        decisions: decisions(),
        same_content: SameContent {
            pages: vec![same("other-a1b2", false), same("third-a1b2", true)],
            has_more: true,
        },
        seen: Seen {
            decision: Some(DecisionId::from_ulid(3.into())),
            report: Some(ReportId::from_ulid(4.into())),
            appeal: Some(AppealId::from_ulid(5.into())),
        },
        ..item(Some(live(vec![finding()])))
    }
}

/// A case between two others, of an account with a history.
fn in_queue() -> CaseContext {
    let report = |reason: Option<&str>, is_open| AccountReport {
        host: "other-a1b2".parse().unwrap(),
        reason: reason.map(str::to_owned),
        at: now(),
        is_open,
    };
    let history = AccountHistoryPage {
        pages: 1_234,
        decisions: vec![decision(ModeratedBy::Moderator, Some("Ada"), Some("Spam\nSee the <ticket>."))],
        reports: vec![report(Some("A <copy>."), true), report(None, false)],
    };
    let list = List { account: "acct_a1b2c3d4e5f6".into(), age: "6h".into(), ..List::default() };
    let case = |host: &str| host.parse().ok();
    CaseContext {
        history,
        list,
        around: CasesAround { previous: case("first-a1b2"), next: case("third-a1b2") },
    }
}

fn alone() -> CaseContext {
    let (history, list, around) = (AccountHistoryPage::default(), List::default(), CasesAround::default());
    CaseContext { history, list, around }
}

fn case(item: ReviewItem, form: DecisionShownAgain) -> String {
    let frame = frame(Tab::Moderation, None);
    let beside = if item.decisions.is_empty() { alone() } else { in_queue() };
    CasePage::with_tickets(&frame, item, URL.into(), |_| "~1.abc".into(), beside, form).render().unwrap()
}

fn cases() -> Vec<(String, String)> {
    let changed = Faults::of(&Refusal::VersionChanged { current: Some(2) }, &["note"], "/admin/moderation/x");
    let too_long = Faults::of(&Refusal::invalid("note", "is too long"), &["note"], "/admin/moderation/x");
    let again = |elsewhere, faults| DecisionShownAgain {
        note: "A <drill>.".into(),
        standard_reason: "Spam".into(),
        elsewhere,
        faults,
        ..Default::default()
    };
    let empty = Faults::of(&Refusal::invalid("reason", "is empty"), &["reason"], "/admin/moderation/x");
    let unreasoned = DecisionShownAgain { faults: empty, ..Default::default() };
    let mut suspended = full();
    suspended.account.suspension =
        Some(Suspension { at: now(), reason: "Phishing.\nSee <ticket 7>.".parse().unwrap() });
    let staged = ReviewedVersion { is_live: false, ..live(vec![]) };
    vec![
        ("admin-page-suspended".into(), case(suspended, DecisionShownAgain::default())),
        ("admin-page-suspension_refused".into(), case(full(), unreasoned)),
        ("admin-page".into(), case(full(), DecisionShownAgain::default())),
        ("admin-page-plain".into(), case(item(Some(live(vec![]))), DecisionShownAgain::default())),
        ("admin-page-not-live".into(), case(item(Some(staged)), DecisionShownAgain::default())),
        ("admin-page-no-version".into(), case(item(None), DecisionShownAgain::default())),
        ("admin-page-version_changed".into(), case(full(), again(false, changed))),
        ("admin-page-invalid_request".into(), case(full(), again(true, too_long))),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn queues() -> Vec<(String, String)> {
    let row = |status, open_reports, rules: &[&str]| WaitingPages {
        host: "my-page-a1b2".parse().unwrap(),
        slug: "my-page".parse().unwrap(),
        account_handle: "acct_a1b2c3d4e5f6".into(),
        visibility: if open_reports > 1 { Visibility::Private } else { Visibility::Public },
        seq: 2,
        status,
        moderated_by: ModeratedBy::Scan,
        open_reports,
        since: now(),
        appealed_at: (open_reports == 1).then(now),
        seen: Seen::default(),
        rules: rules.iter().map(|rule| (*rule).to_owned()).collect(),
    };
    let sample = |frame: &Frame, list, waiting, next: Option<&str>, after: Option<&str>, form| {
        let position = |text: &str| text.parse().unwrap();
        let queue = ReviewQueuePage { waiting, next: next.map(position) };
        QueuePage::new(frame, list, queue, after.map(position).as_ref(), form).render().unwrap()
    };
    let page = |frame: &Frame, status, waiting, next: Option<&str>, after: Option<&str>| {
        let list = List { status, ..List::default() };
        sample(frame, list, waiting, next, after, BulkShownAgain::default())
    };
    let filtered = || List {
        rule: "a_new_rule".into(),
        account: "acct_<x>".into(),
        age: "24h".into(),
        ..List::default()
    };
    let unticked = BulkShownAgain {
        note: "A <drill>.".into(),
        standard_reason: "Spam".into(),
        faults: Faults::beside_field("page", "Select at least one page."),
    };
    let malformed = Refusal::invalid("account", "is not the handle of an account");
    let malformed = Faults::of(&malformed, &["account"], "/admin/moderation");
    let full = || {
        vec![
            row(ModerationStatus::Review, 2, &["password_near_lure"]),
            row(ModerationStatus::Pass, 1, &[]),
            row(ModerationStatus::Blocked, 0, &["seed_phrase", "a_new_rule"]),
        ]
    };
    let (done, fresh) =
        (frame(Tab::Moderation, Some("Done: my-page-a1b2 is blocked.")), frame(Tab::Moderation, None));
    let after = Some("1.my-page-a1b2");
    let nothing = || ReviewQueuePage { waiting: vec![], next: None };
    let refused = QueuePage {
        faults: malformed,
        ..QueuePage::new(&fresh, filtered(), nothing(), None, BulkShownAgain::default())
    };
    vec![
        ("admin-queue".into(), page(&done, ReviewStatusFilter::Review, full(), after, None)),
        ("admin-queue-none".into(), page(&fresh, ReviewStatusFilter::Review, vec![], None, None)),
        ("admin-queue-end".into(), page(&fresh, ReviewStatusFilter::Review, vec![], None, after)),
        ("admin-queue-blocked".into(), page(&fresh, ReviewStatusFilter::Blocked, full(), None, None)),
        ("admin-queue-blocked-none".into(), page(&fresh, ReviewStatusFilter::Blocked, vec![], None, None)),
        ("admin-queue-pending-none".into(), page(&fresh, ReviewStatusFilter::Pending, vec![], None, None)),
        (
            "admin-queue-filtered-none".into(),
            sample(&fresh, filtered(), vec![], None, None, BulkShownAgain::default()),
        ),
        ("admin-queue-unticked".into(), sample(&fresh, List::default(), full(), None, None, unticked)),
        ("admin-queue-invalid_request".into(), refused.render().unwrap()),
        ("admin-bulk".into(), bulk(&fresh)),
    ]
}

fn contents() -> Vec<(String, String)> {
    let frame = frame(Tab::Contents, None);
    let content = BlockedContent {
        hash: BlobHash::of(b"x"),
        path: "lib/<app>.js".into(),
        size_bytes: 12_345,
        host: "my-page-a1b2".parse().unwrap(),
        blocked_by: "Ada <x>".into(),
        blocked_at: now(),
        live_versions: 3,
    };
    let page = |rows, next: Option<&str>| {
        ContentsPage { frame: &frame, rows, next: next.map(str::to_owned) }.render().unwrap()
    };
    vec![
        ("admin-contents".into(), page(vec![ContentRow::from(content)], Some("/admin/contents?after=1.00"))),
        ("admin-contents-none".into(), page(vec![], None)),
    ]
}

/// A bulk decision that was made on some pages only.
fn bulk(frame: &Frame) -> String {
    let made = |host: &str, has_more| DecisionMade {
        host: host.parse().unwrap(),
        slug: "my-page".parse().unwrap(),
        moderation: ModerationStatus::Blocked,
        seq: 2,
        blocked_elsewhere: vec![],
        has_more,
    };
    let outcome = |host: &str, result| BulkOutcome { host: host.parse().unwrap(), result };
    let outcomes = vec![
        outcome("my-page-a1b2", Ok(made("my-page-a1b2", false))),
        outcome("other-a1b2", Ok(made("other-a1b2", true))),
        outcome("third-a1b2", Err(Refusal::VersionChanged { current: Some(3) }.into())),
    ];
    BulkPage::new(frame, List::default(), outcomes).render().unwrap()
}

fn audits() -> Vec<(String, String)> {
    let frame = frame(Tab::Audit, None);
    let page = |host: &str, rows: Vec<DecisionShown>, next: Option<&str>, faults| {
        let template = AuditPage {
            frame: &frame,
            host: host.into(),
            who: if host.is_empty() { AuditActor::All } else { AuditActor::People },
            rows: rows.into_iter().map(DecisionRow::from).collect(),
            next: next.map(str::to_owned),
            faults,
        };
        template.render().unwrap()
    };
    let malformed =
        Faults::of(&Refusal::invalid("host", "is not the host of a page"), &["host"], "/admin/audit");
    let next = "/admin/audit?host=&before=01";
    vec![
        ("admin-audit".into(), page("", decisions(), Some(next), Faults::default())),
        ("admin-audit-none".into(), page("my-page-a1b2", vec![], None, Faults::default())),
        ("admin-audit-invalid_request".into(), page("<x>", vec![], None, malformed)),
    ]
}

fn sign_ins() -> Vec<(String, String)> {
    let next = NextPath::parse("/admin/audit");
    let page =
        |name, faults| SignInPage { next: next.as_ref(), name, is_lost: false, faults }.render().unwrap();
    let lost = SignInPage { next: next.as_ref(), is_lost: true, ..SignInPage::default() };
    let refused =
        |refusal: Refusal| (format!("admin-signin-{}", refusal.code()), page("Ada", faults_of(&refusal)));
    vec![
        ("admin-signin".into(), page("", Faults::default())),
        ("admin-signin-lost".into(), lost.render().unwrap()),
        refused(Refusal::InvalidCredentials),
        refused(Refusal::RateLimited { retry_after_seconds: 7 }),
        refused(Refusal::invalid("name", "is empty")),
    ]
}

/// Every page, by name.
pub fn samples() -> Vec<(String, String)> {
    [queues(), cases(), contents(), audits(), sign_ins(), super::queues::tests::samples()].concat()
}
