//! Every page of the dashboard with sample data, for the snapshots of all pages.

use askama::Template;
use domain::link::{Addresses, UrlStyle, VersionLinks};
use domain::signing_key::LinkKey;
use domain::{
    Account, AccountId, AccountStatus, AccountSummary, Artifact, ArtifactId, AuditEntry, AuditId, BlobHash,
    Chance, Day, DayUse, Invite, InviteCode, JobId, LedgerEntry, LinkGeneration, LiveVersion, Maker,
    Manifest, ManifestFile, Message, Micro, ModerationStatus, MonthCharges, MonthlyUse, Origin, Paged,
    PaymentMethod, Reason, Refusal, Retention, Rights, Role, Scopes, StoredBytes, Tariff, Time, Token,
    TokenId, TokenName, UserId, Version, VersionId, Via, Visibility,
};
use service::{
    ArtifactDetail, Caller, CallerIdentity, DayViews, DeletedArtifact, Differences, FileDifference, Member,
    ModerationNotice, MonthReport, PageChange, PageViews, Person, PlannedChange, VersionFiles,
};

use super::NoAccountPage;
use super::amounts::{AmountFields, AmountForm};
use super::artifact_page::{self, ArtifactPage, Beside};
use super::artifacts::{self, ArtifactRow, ArtifactsPage, LiveRow};
use super::audit::{TrailPage, TrailRow};
use super::bulk::{BulkOutcomePage, BulkPage, BulkQuestion, FailedRow};
use super::changes::ChangesPage;
use super::credit::{self, CheckoutPage, CreditPage, CreditStep, Upcoming};
use super::deleted::{DeletedPage, DeletedRow};
use super::duplicate::{DuplicatePage, price_text};
use super::ledger::{EntryRow, Slugs};
use super::list_query::ListQuery;
use super::mint_form::{DAYS_OFFERED, MintForm};
use super::page::{AccountLink, DashboardPage, Frame, Tab, arrears_of, done};
use super::pager::Pager;
use super::private_link;
use super::question::AskPage;
use super::rename::RenamePage;
use super::team::{self, InviteForm, InviteRow, MemberRow, TeamPage};
use super::tokens::{self, MintedTokenBox, SecretChange, TokenRow, TokensPage};
use super::usage::{UsageData, UsagePage};
use super::version_deletion;
use super::visibility::Price;
use crate::html::ago::Ago;
use crate::html::faults::Faults;
use crate::html::figures::{Count, DayOfMonth, Dollars, Moment, Size, SuspendedSince};
use crate::html::sparkline;

const BASE_URL: &str = "http://127.0.0.1:8080";
const PAGE_URL: &str = "http://127.0.0.1:8081/site/my-page-a1b2/";

fn now() -> Time {
    Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap()
}

/// The time at which most pages are shown.
fn later() -> Time {
    now().plus(std::time::Duration::from_secs(3 * 3600))
}

/// The same ids in each run.
fn chance() -> Chance {
    Chance::seeded(1)
}

fn user(number: u128) -> UserId {
    UserId::from_ulid(number.into())
}

fn artifact(
    number: u128,
    slug: &str,
    visibility: Visibility,
    live: Option<(u32, ModerationStatus)>,
) -> Artifact {
    let live = live.map(|(seq, moderation)| LiveVersion {
        id: VersionId::from_ulid(1.into()),
        seq,
        total_bytes: 12_345,
        moderation,
    });
    Artifact {
        id: ArtifactId::from_ulid(number.into()),
        account: AccountId::from_ulid(1.into()),
        slug: slug.parse().unwrap(),
        host: format!("{slug}-a1b2").parse().unwrap(),
        visibility,
        link_generation: LinkGeneration::FIRST,
        live,
        title: None,
        created_at: now(),
        updated_at: now(),
        retention: Retention::default(),
    }
}

fn frame(role: Role, tab: Tab) -> Frame {
    let link = |handle: &str, name: Option<&str>, role| AccountLink {
        handle: handle.into(),
        name: name.map(str::to_owned),
        role,
        is_current: handle == "acct_a1b2c3d4e5f6",
    };
    Frame {
        username: "ada".into(),
        handle: "acct_a1b2c3d4e5f6".into(),
        name: None,
        role,
        accounts: vec![
            link("acct_a1b2c3d4e5f6", None, role),
            link("acct_0123456789ab", Some("Design team"), Role::Member),
        ],
        suspension: None,
        arrears: None,
        tab,
        done: None,
    }
}

fn dashboard(role: Role, tab: Tab) -> DashboardPage {
    let origin = Origin { via: Via::Web, address: None };
    let person = Person { user: user(1), username: "ada".into(), origin };
    let caller = Caller {
        account: AccountId::from_ulid(1.into()),
        handle: "acct_a1b2c3d4e5f6".into(),
        account_expires_at: None,
        suspension: None,
        who: CallerIdentity::Person(person.clone(), role),
        origin,
    };
    DashboardPage { person, caller, frame: frame(role, tab) }
}

fn sample(name: &str, template: &impl Template) -> (String, String) {
    (format!("dashboard-{name}"), template.render().unwrap())
}

/// Every page, by name.
pub fn samples() -> Vec<(String, String)> {
    [
        none(),
        artifacts(),
        artifact_pages(),
        bulk_pages(),
        duplicate_pages(),
        deleted_pages(),
        changes_pages(),
        usage(),
        credit_pages(),
        team_pages(),
        token_pages(),
        audit_pages(),
    ]
    .concat()
}

fn audit_pages() -> Vec<(String, String)> {
    let frame = frame(Role::Admin, Tab::Audit);
    let entry = |action: &str, actor: &str, via: Option<&str>, subject: &str, detail: &str| AuditEntry {
        id: AuditId::from_ulid(1.into()),
        created_at: now(),
        action: action.into(),
        actor: actor.into(),
        token_name: (actor == "01KC4GZJ2Q8W5T7RXN3VB6M9DE").then(|| "deploy bot".into()),
        via: via.map(str::to_owned),
        address: via.filter(|via| *via != "operator").map(|_| "192.0.2.7".to_owned()),
        subject: subject.into(),
        detail: detail.into(),
    };
    let rows = [
        entry("person.sign_in_failed", "ada", Some("web"), "ada", ""),
        entry("artifact.published", "01KC4GZJ2Q8W5T7RXN3VB6M9DE", Some("mcp"), "my-page-a1b2", "version 3"),
        entry("credit.given", "operator", Some("operator"), "operator-credit:01KC4GZJ2Q8W5T7RXN3VB6M9DE", ""),
        entry("member.joined", "ben", None, "0123", "as member"),
    ];
    let rows = || rows.iter().cloned().map(TrailRow::new).collect();
    vec![
        sample("audit", &TrailPage { frame: &frame, rows: rows(), pager: Some(pager("entries")) }),
        sample("audit-empty", &TrailPage { frame: &frame, rows: Vec::new(), pager: None }),
    ]
}

fn none() -> Vec<(String, String)> {
    vec![sample("none", &NoAccountPage { username: "ada", done: None, base_url: BASE_URL })]
}

/// A pager in the middle of a list.
fn pager(noun: &str) -> Pager {
    let link = |query: &str| Some(format!("/dashboard/acct_a1b2c3d4e5f6{query}"));
    Pager {
        text: format!("100 of 1,205 {noun}"),
        first: link(""),
        previous: link("?before=a1790000000000.01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
        next: link("?after=a1780000000000.01KC4GZJ2Q8W5T7RXN3VB6M9DE"),
    }
}

fn artifacts() -> Vec<(String, String)> {
    let (full, mut alone) = (frame(Role::Owner, Tab::Pages), frame(Role::Member, Tab::Pages));
    alone.accounts.truncate(1);
    let row = |slug: &str, visibility, live: Option<ModerationStatus>| ArtifactRow {
        slug: slug.into(),
        title: live.map(|_| format!("The title of <{slug}> & more")),
        path: full.path(&format!("/pages/{slug}")),
        url: PAGE_URL.into(),
        visibility,
        live: live.map(|moderation| LiveRow {
            seq: 2,
            size: Size(12_345),
            moderation,
            preview: "http://127.0.0.1:8081/site/my-page-a1b2-0z9y8x7w/".into(),
        }),
        updated: Ago::new(now(), now().plus(std::time::Duration::from_secs(300))),
        views: Count(1_234),
        line: sparkline::points(&[0, 3, 1, 4]),
    };
    let rows = vec![
        row("my-page", Visibility::Public, Some(ModerationStatus::Pass)),
        row("our-plans", Visibility::Private, Some(ModerationStatus::Pending)),
        row("odd-page", Visibility::Unlisted, Some(ModerationStatus::Blocked)),
        row("in-question", Visibility::Public, Some(ModerationStatus::Review)),
        row("not-yet", Visibility::Public, None),
    ];
    let one = || vec![row("my-page", Visibility::Public, Some(ModerationStatus::Pass))];
    let all = list_query("");
    let page = |frame, rows: Vec<ArtifactRow>, pager| {
        let found = artifacts::found(rows.len() as u64);
        ArtifactsPage { frame, rows, found, pager, query: &all, base_url: BASE_URL }
    };
    let searched = list_query("q=plan&visibility=private&state=live&sort=views");
    let owing = Frame { arrears: arrears_of(Micro::new(-1_230_000)), ..full.clone() };
    let owing_member = Frame { role: Role::Member, ..owing.clone() };
    let named = Frame { name: Some("Design <team>".into()), ..full.clone() };
    let reason = "Phishing after a warning.\nSee <ticket 7>.".into();
    let suspended = Frame { suspension: Some(SuspendedSince { at: Moment(now()), reason }), ..full.clone() };
    vec![
        sample("pages", &page(&full, rows, None)),
        sample("pages-many", &page(&full, one(), Some(pager("pages")))),
        sample("pages-found", &ArtifactsPage { query: &searched, ..page(&full, one(), None) }),
        sample("pages-not-found", &ArtifactsPage { query: &searched, ..page(&full, vec![], None) }),
        sample("pages-owing", &page(&owing, one(), None)),
        sample("pages-owing-member", &page(&owing_member, one(), None)),
        sample("pages-named", &page(&named, one(), None)),
        sample("pages-end", &page(&full, vec![], Some(pager("pages")))),
        sample("pages-none", &page(&alone, vec![], None)),
        sample("pages-suspended", &page(&suspended, vec![], None)),
    ]
}

fn list_query(query: &str) -> ListQuery {
    ListQuery::of(&poem::Request::builder().uri_str(format!("/dashboard/x?{query}")).finish())
}

fn bulk_pages() -> Vec<(String, String)> {
    let frame = frame(Role::Owner, Tab::Pages);
    let pages = vec![
        artifact(1, "my-page", Visibility::Public, Some((2, ModerationStatus::Pass))),
        artifact(2, "our-plans", Visibility::Public, None),
    ];
    let plan = |due: i64, balance: i64| PlannedChange {
        pages: pages.clone(),
        due: Micro::new(due),
        monthly: Micro::new(due),
        balance: Micro::new(balance),
    };
    let ask = |change, plan| BulkPage { frame: &frame, question: BulkQuestion::new(change, &plan) };
    let why = "Payment of $0.50 is required.".into();
    let failed = vec![FailedRow { slug: "our-plans".into(), why, needs_credit: true }];
    vec![
        sample("bulk-delete", &ask(PageChange::Delete, plan(0, 0))),
        sample("bulk-private", &ask(PageChange::Show(Visibility::Private), plan(1_000_000, 5_000_000))),
        sample("bulk-missing", &ask(PageChange::Show(Visibility::Unlisted), plan(1_000_000, 250_000))),
        sample("bulk-public", &ask(PageChange::Show(Visibility::Public), plan(0, 0))),
        sample("bulk-outcome", &BulkOutcomePage { frame: &frame, changed: 1, failed }),
    ]
}

fn duplicate_pages() -> Vec<(String, String)> {
    let frame = frame(Role::Member, Tab::Pages);
    let page = |visibility, free_left, faults| DuplicatePage {
        frame: &frame,
        of: "my-page",
        price: price_text(free_left, &Tariff::default(), visibility),
        slug: "my-page-copy".into(),
        faults,
    };
    let rename = |slug: &str, faults| RenamePage {
        frame: &frame,
        of: "my-page",
        url: PAGE_URL.into(),
        slug: slug.into(),
        faults,
    };
    let taken = Refusal::invalid("slug", "is the name of another page; choose a different one");
    let faults = Faults::of(&taken, &["slug"], "/");
    vec![
        sample("duplicate", &page(Visibility::Public, 97, Faults::default())),
        sample("duplicate-private", &page(Visibility::Private, 0, Faults::default())),
        sample("duplicate-refused", &page(Visibility::Public, 97, faults)),
        sample("rename", &rename("our-plans", Faults::default())),
        sample("rename-refused", &rename("our-plans", Faults::of(&taken, &["slug"], "/"))),
    ]
}

/// The moderation notice for the owner of a page.
fn notice(artifact: &Artifact) -> ModerationNotice {
    let status = artifact.live.map_or(ModerationStatus::Pending, |live| live.moderation);
    if status != ModerationStatus::Blocked {
        return ModerationNotice::plain(status);
    }
    ModerationNotice {
        rule: Some("seed_phrase".into()),
        file: Some("index.html".into()),
        saw: Some("textarea[name=<phrase>]: seed phrase".into()),
        message: Some("index.html asks for a seed phrase. This version is not served.".into()),
        ..ModerationNotice::plain(status)
    }
}

fn version_links(artifact: &Artifact) -> VersionLinks {
    VersionLinks {
        addresses: Addresses {
            base_url: "http://127.0.0.1:8080".into(),
            serve_url: "http://127.0.0.1:8081".into(),
            edge_domain: "localhost".into(),
            url_style: UrlStyle::Path,
        },
        key: LinkKey::new("secret"),
        artifact: artifact.id,
        host: artifact.host.clone(),
        visibility: artifact.visibility,
        link_generation: artifact.link_generation,
    }
}

fn version(seq: u32, message: Option<&str>) -> Version {
    Version {
        id: VersionId::from_ulid(1.into()),
        seq,
        total_bytes: 1_234 * u64::from(seq),
        file_count: seq,
        created_via: domain::CreatedVia::ALL[seq as usize % 3],
        message: message.map(|text| text.parse::<Message>().unwrap()),
        created_at: Time::from_millis(now().millis() - i64::from(4 - seq) * 5_000_000),
        moderation: if seq == 1 { ModerationStatus::Review } else { ModerationStatus::Pass },
    }
}

fn artifact_pages() -> Vec<(String, String)> {
    let mut frame = frame(Role::Member, Tab::Pages);
    frame.done = done(&poem::Request::builder().uri_str("/dashboard/x?done=live").finish());
    let public = artifact(1, "my-page", Visibility::Public, Some((2, ModerationStatus::Pass)));
    let private = artifact(1, "my-page", Visibility::Private, Some((3, ModerationStatus::Blocked)));
    let staged = artifact(1, "my-page", Visibility::Public, None);
    let paths: Vec<_> = (0..12).map(|number| format!("pictures/{number}.svg")).collect();
    let many: Vec<_> = paths.iter().map(|path| file(path, "<svg/>")).collect();
    let few = vec![file("index.html", "<p>"), file("a folder/ü.css", "p {}"), file("_redirects", "/a /b")];
    let page = |artifact: &Artifact, files: &[ManifestFile]| {
        let versions = vec![version(3, Some("Fix the <title>")), version(2, None), version(1, Some("First"))];
        let versions = Paged { rows: versions, ..Paged::empty() };
        let detail = ArtifactDetail {
            artifact: artifact.clone(),
            versions,
            moderation: notice(artifact),
            signed_url: None,
            version_links: version_links(artifact),
        };
        let url = match artifact.visibility {
            Visibility::Private => format!("{PAGE_URL}?sig=0123456789abcdef"),
            _ => PAGE_URL.into(),
        };
        let month = Tariff::default().visibility_price;
        let due = if artifact.visibility == Visibility::Public { month } else { Micro::ZERO };
        let files =
            artifact.live.map(|live| VersionFiles { seq: live.seq, manifest: Manifest::new(files.to_vec()) });
        let today = now().day().number();
        let on = |day| DayViews { day: Day::from_number(day), views: ((day * 7_919) % 97) as u64 };
        let beside = Beside {
            url,
            files,
            views_this_month: 1_234,
            views: (today - 29..=today).map(on).collect(),
            price: Price { due, month },
            now: now(),
        };
        ArtifactPage::new(&frame, &detail, &beside).render().unwrap()
    };
    let question = artifact_page::question(&frame, &public);
    let version_question = version_deletion::question(&frame, &public, 1);
    let link_question = private_link::question(&frame, &private).unwrap();
    let back = frame.path("/pages/my-page");
    vec![
        ("dashboard-page".into(), page(&public, &few)),
        ("dashboard-page-many-files".into(), page(&public, &many)),
        ("dashboard-page-private".into(), page(&private, &few)),
        ("dashboard-page-staged".into(), page(&staged, &[])),
        sample("page-delete", &AskPage { frame: &frame, question: &question, back: &back }),
        sample("link-replace", &AskPage { frame: &frame, question: &link_question, back: &back }),
        sample("version-delete", &AskPage { frame: &frame, question: &version_question, back: &back }),
    ]
}

fn deleted_pages() -> Vec<(String, String)> {
    let mut frame = frame(Role::Member, Tab::Pages);
    frame.done = done(&poem::Request::builder().uri_str("/dashboard/x?done=purged").finish());
    let row = |number, slug| {
        let deleted = DeletedArtifact::from(artifact(number, slug, Visibility::Public, None));
        DeletedRow::new(&deleted, &frame, later())
    };
    vec![
        sample("deleted", &DeletedPage { frame: &frame, rows: vec![row(1, "my-page"), row(2, "my-page")] }),
        sample("deleted-none", &DeletedPage { frame: &frame, rows: vec![] }),
    ]
}

fn file(path: &str, text: &str) -> ManifestFile {
    ManifestFile {
        path: path.parse().unwrap(),
        hash: BlobHash::of(text.as_bytes()),
        size_bytes: text.len() as u64,
        content_type: domain::content_type_of(&path.parse().unwrap()),
        variants: Vec::new(),
        bundled: None,
    }
}

fn changes_pages() -> Vec<(String, String)> {
    let frame = frame(Role::Member, Tab::Pages);
    let difference = |path: &str, before: Option<&str>, after: Option<&str>| FileDifference {
        path: path.parse().unwrap(),
        before: before.map(|text| file(path, text)),
        after: after.map(|text| file(path, text)),
    };
    let files = vec![
        difference("a folder/ü.txt", None, Some("new\n")),
        difference("gone.css", Some("p {}\n"), None),
        difference("index.html", Some("<p>Hello</p>\n"), Some("<p>Hello, &amp; welcome</p>\n")),
    ];
    let diff = "diff --git a/index.html b/index.html\n--- a/index.html\n+++ b/index.html\n@@ -1 +1 @@\n\
                -<p>Hello</p>\n+<p>Hello, &amp; welcome</p>\n";
    let (some, none) = (Differences { from: 1, to: 2, files }, Differences { from: 2, to: 2, files: vec![] });
    let page = |differences, diff| ChangesPage::new(&frame, "my-page", differences, diff);
    vec![
        sample("changes", &page(&some, diff)),
        sample("changes-long", &ChangesPage { is_cut: true, ..page(&some, diff) }),
        sample("changes-none", &page(&none, "")),
    ]
}

fn usage() -> Vec<(String, String)> {
    let frame = frame(Role::Admin, Tab::Usage);
    let mut account = Account::provisional(now(), std::time::Duration::ZERO, &chance());
    (account.status, account.expires_at) = (AccountStatus::Claimed, None);
    (account.balance, account.storage_bytes) = (Micro::new(4_500_000), 12_345_678);
    let summary = |used| AccountSummary {
        account: account.clone(),
        month: now().month(),
        used,
        restricted_artifacts: 2,
        stored: StoredBytes { own: account.storage_bytes, claimed_earlier: 0 },
    };
    let busy = |at: u64| DayUse { day: now().month().start().day(), publishes: at % 4, views: at * at * 7 };
    let days: Vec<_> = now()
        .month()
        .days()
        .zip(0..)
        .map(
            |(day, at)| {
                if day <= now().day() { DayUse { day, ..busy(at) } } else { DayUse { day, ..busy(0) } }
            },
        )
        .collect();
    let quiet: Vec<_> = days.iter().map(|one| DayUse { publishes: 0, views: 0, ..*one }).collect();
    let (tariff, months) = (Tariff::default(), [now().month(), now().month().previous()]);
    let top_pages = vec![
        PageViews {
            host: "my-page-a1b2".parse().unwrap(),
            slug: Some("my-page".parse().unwrap()),
            views: 20_000,
        },
        PageViews { host: "old-page-c3d4".parse().unwrap(), slug: None, views: 90 },
    ];
    let charged = MonthCharges { visibility: Micro::new(1_000_000), ..MonthCharges::default() };
    let report = |month, used, days: &[DayUse]| MonthReport {
        month,
        used,
        charged,
        days: days.to_vec(),
        top_pages: if used.views > 0 { top_pages.clone() } else { vec![] },
    };
    let page = |months: &[domain::Month], report: &MonthReport| {
        let summary = summary(report.used);
        UsagePage::new(&frame, &UsageData { summary: &summary, tariff: &tariff, months, report, now: now() })
            .render()
            .unwrap()
    };
    let used = MonthlyUse { publishes: 30, views: 20_090 };
    let above = MonthlyUse { publishes: 130, views: 2_938_300 };
    vec![
        ("dashboard-usage".into(), page(&months, &report(months[0], used, &days))),
        ("dashboard-usage-above".into(), page(&months, &report(months[0], above, &days))),
        ("dashboard-usage-past".into(), page(&months, &report(months[1], above, &days))),
        (
            "dashboard-usage-none".into(),
            page(&months[..1], &report(months[0], MonthlyUse::default(), &quiet)),
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn credit_pages() -> Vec<(String, String)> {
    let (owner, member) = (frame(Role::Owner, Tab::Credit), frame(Role::Member, Tab::Credit));
    let hidden = artifact(1, "my-page", Visibility::Private, None);
    let slugs = Slugs::new([(hidden.id, hidden.slug.clone())].into());
    let entry = |reason: Reason, delta, balance| {
        let entry = LedgerEntry {
            seq: 1,
            delta: Micro::new(delta),
            reason: reason.to_string(),
            balance_after: Micro::new(balance),
            created_at: now(),
        };
        EntryRow::new(&entry, &slugs)
    };
    let entries = || {
        vec![
            entry(Reason::Visibility(hidden.id, now().month()), -500_000, 4_495_000),
            entry(Reason::Publish(VersionId::from_ulid(1.into())), -5_000, 4_995_000),
            entry(Reason::DevTopUp(JobId::from_ulid(1.into())), 5_000_000, 5_000_000),
        ]
    };
    let form = |method, needed| AmountForm::suggesting(method, Micro::new(needed));
    let refused = |method, refusal: Refusal| {
        let fields = AmountFields { offer: "other".into(), amount_usd: "0.5".into() };
        let faults = credit::faults(&refusal, &dashboard(Role::Owner, Tab::Credit));
        Some(form(method, 20_000).refused(&fields, faults))
    };
    let upcoming = || {
        let charges = vec![
            ("2 unlisted or private pages".to_owned(), Dollars(Micro::new(1_000_000))),
            ("Storage above the free amount, as it is now".to_owned(), Dollars(Micro::new(125_000))),
        ];
        let on = DayOfMonth(now().month().next().start().day());
        Some(Upcoming { on, charges, total: Dollars(Micro::new(1_125_000)) })
    };
    let page = |frame, balance, step, dev, card, entries| CreditPage {
        frame,
        balance: Dollars(Micro::new(balance)),
        is_owing: balance < 0,
        upcoming: (balance > 0).then(upcoming).flatten(),
        step,
        dev,
        card,
        key: "k".repeat(24),
        entries,
        pager: None,
    };
    let step = |missing| {
        Some(CreditStep {
            slug: "my-page".into(),
            to: Visibility::Private,
            price: Dollars(Micro::new(500_000)),
            missing: Some(missing).filter(|missing| *missing > 0).map(|missing| Dollars(Micro::new(missing))),
        })
    };
    let (dev, card) = (PaymentMethod::Dev, PaymentMethod::Card);
    let fine = |method| Some(form(method, 0));
    let amount = Refusal::invalid("amount_usd", "must be from 1 to 100 dollars");
    vec![
        sample("credit", &page(&owner, 4_495_000, None, fine(dev), fine(card), entries())),
        sample("credit-missing", &page(&owner, 0, step(500_000), Some(form(dev, 500_000)), None, vec![])),
        sample("credit-enough", &page(&owner, 4_495_000, step(0), fine(dev), None, entries())),
        sample(
            "credit-refused",
            &page(
                &owner,
                -20_000,
                None,
                refused(dev, amount),
                refused(card, Refusal::ProcessorError),
                vec![],
            ),
        ),
        sample(
            "credit-owing",
            &page(&owner, -7_000_001, None, Some(form(dev, 7_000_001)), Some(form(card, 7_000_001)), vec![]),
        ),
        sample("credit-no-rail", &page(&owner, 0, None, None, None, vec![])),
        sample("credit-member", &page(&member, 4_495_000, step(500_000), fine(dev), fine(card), entries())),
        sample(
            "checkout",
            &CheckoutPage {
                frame: &owner,
                amount: Dollars(Micro::from_cents(2_000)),
                url: "https://pay.example/c/cs_1",
                back: &owner.path("/credit"),
            },
        ),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn team_pages() -> Vec<(String, String)> {
    let member = |number, username: &str, role| Member {
        user: user(number),
        username: username.into(),
        role,
        joined_at: now(),
    };
    let members =
        [member(1, "ada", Role::Owner), member(2, "ben", Role::Admin), member(3, "mia", Role::Member)];
    let names = team::names_of(&members);
    let addresses = Addresses {
        base_url: BASE_URL.into(),
        serve_url: "http://127.0.0.1:8081".into(),
        edge_domain: "localhost".into(),
        url_style: UrlStyle::Path,
    };
    let invite = |code: &str, uses, made_by| Invite {
        code: code.repeat(4).parse::<InviteCode>().unwrap(),
        account: AccountId::from_ulid(1.into()),
        role: Role::Member,
        max_uses: 5,
        uses,
        expires_at: now(),
        revoked_at: None,
        created_at: now(),
        made_by,
    };
    let page = |dashboard: &DashboardPage, faults, do_agents_join| {
        let before = Time::from_millis(now().millis() - 20 * 60_000);
        let row = |invite: &Invite, at| InviteRow::new(invite, &names, at, &dashboard.frame, &addresses);
        let by_ada = Maker { user: Some(user(1)), token: None };
        let invites = vec![row(&invite("abcdef", 1, by_ada), before)];
        let past_invites = vec![
            row(&invite("ghijkl", 5, by_ada), before),
            row(&invite("mnopqr", 0, Maker::default()), now()),
        ];
        let template = TeamPage {
            frame: &dashboard.frame,
            members: members.iter().map(|member| MemberRow::new(member, dashboard, later())).collect(),
            invites: if dashboard.frame.leads() { invites } else { vec![] },
            past_invites: if dashboard.frame.leads() { past_invites } else { vec![] },
            pager: None,
            form: InviteForm::default(),
            faults,
            do_agents_join,
        };
        template.render().unwrap()
    };
    let faults = |refusal| Faults::of(&refusal, team::INVITE_FIELDS, "/dashboard");
    let owner = dashboard(Role::Owner, Tab::Team);
    let mut joined = dashboard(Role::Member, Tab::Team);
    joined.person.user = user(3);
    let back = owner.path("/team");
    let ask = |question| AskPage { frame: &owner.frame, question, back: &back };
    vec![
        ("dashboard-team".into(), page(&owner, Faults::default(), true)),
        (
            "dashboard-team-refused".into(),
            page(&owner, faults(Refusal::invalid("max_uses", "must be 1 to 100")), false),
        ),
        ("dashboard-team-full".into(), page(&owner, faults(Refusal::TooMany(domain::Crowd::Invites)), false)),
        ("dashboard-team-member".into(), page(&joined, Faults::default(), true)),
        sample("team-remove", &ask(&team::removal(&members[2], &owner))),
        sample("team-leave", &ask(&team::removal(&members[2], &joined))),
        sample("team-revoke", &ask(&team::revocation(&"abcdef".repeat(4), &owner.frame))),
    ]
}

#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn token_pages() -> Vec<(String, String)> {
    let dashboard = dashboard(Role::Owner, Tab::Tokens);
    let token = |number: u128, name: TokenName, rights| Token {
        id: TokenId::from_ulid(number.into()),
        name,
        rights,
        made_by: Maker { user: Some(user(1)), token: None },
        created_at: now(),
        last_used_at: Some(now()),
        last_used_from: Some(std::net::Ipv4Addr::LOCALHOST.into()),
        secret_start: Some("svc_sk_a1B2".to_owned()),
        renewable_until: None,
    };
    let code = "abcdef".repeat(4).parse::<InviteCode>().unwrap();
    let pinned = Rights {
        scopes: Scopes::of_invited_agent(),
        pinned_to: Some(ArtifactId::from_ulid(1.into())),
        expires_at: Some(now()),
    };
    let tokens = [
        token(1, "deploy bot".parse().unwrap(), pinned),
        Token {
            made_by: Maker { user: Some(user(1)), token: Some(TokenId::from_ulid(3.into())) },
            ..token(2, TokenName::of_invite(&code), Rights::all())
        },
        Token {
            last_used_at: None,
            last_used_from: None,
            secret_start: None,
            made_by: Maker::default(),
            ..token(3, TokenName::of_signup(), Rights::all())
        },
    ];
    let page_of = artifact(1, "my-page", Visibility::Public, None);
    let names = [(user(1), "ada".to_owned())].into();
    let minters = [(tokens[2].id, tokens[2].name.clone())].into();
    let page_with = |minted, form: MintForm, faults, offers_every_page| {
        let slugs = Slugs::new([(page_of.id, page_of.slug.clone())].into());
        let template = TokensPage {
            frame: &dashboard.frame,
            minted,
            tokens: tokens
                .iter()
                .map(|token| TokenRow::new(token, &minters, &names, &slugs, &dashboard, now()))
                .collect(),
            presets: form.presets(dashboard.caller.scopes()),
            scopes: form.scope_choices(dashboard.caller.scopes()),
            slugs: vec![page_of.slug.clone()],
            offers_every_page,
            pager: None,
            days_offered: &DAYS_OFFERED,
            form,
            faults,
        };
        template.render().unwrap()
    };
    let page = |minted, form, faults| page_with(minted, form, faults, true);
    let minted = |done| {
        let secret = format!("svc_sk_{}", "x".repeat(32));
        Some(MintedTokenBox { name: "deploy bot".into(), done, secret })
    };
    let faults = |refusal| tokens::faults(&refusal, "/dashboard");
    let typed =
        MintForm { name: "bot".into(), page: "my-page".into(), days: "7".into(), ..MintForm::default() };
    let back = dashboard.path("/tokens");
    let question = tokens::revocation(&tokens[2], &dashboard.frame);
    let rotation = tokens::rotation(&tokens[2], &dashboard.frame);
    vec![
        ("dashboard-tokens".into(), page(None, MintForm::fresh(), Faults::default())),
        ("dashboard-tokens-many-pages".into(), page_with(None, MintForm::fresh(), Faults::default(), false)),
        (
            "dashboard-tokens-minted".into(),
            page(minted(SecretChange::Created), MintForm::fresh(), Faults::default()),
        ),
        (
            "dashboard-tokens-rotated".into(),
            page(minted(SecretChange::Replaced), MintForm::fresh(), Faults::default()),
        ),
        (
            "dashboard-tokens-refused".into(),
            page(None, typed, faults(Refusal::invalid("scopes", "needs at least one scope"))),
        ),
        sample("token-rotate", &AskPage { frame: &dashboard.frame, question: &rotation, back: &back }),
        sample("token-revoke", &AskPage { frame: &dashboard.frame, question: &question, back: &back }),
    ]
}
