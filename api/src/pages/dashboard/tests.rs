//! Every page of the dashboard with sample data, for the snapshots of all pages.

use askama::Template;
use domain::link::{Addresses, UrlStyle, VersionLinks};
use domain::signing_key::LinkKey;
use domain::{
    Account, AccountId, AccountStatus, AccountSummary, Artifact, ArtifactId, AuditEntry, AuditId, BlobHash,
    Chance, DayUse, Invite, InviteCode, JobId, LedgerEntry, LiveVersion, Maker, ManifestFile, Message, Micro,
    ModerationStatus, MonthlyUse, Origin, Paged, Reason, Refusal, Retention, Rights, Role, Scopes,
    StoredBytes, Tariff, Time, Token, TokenId, TokenName, UserId, Version, VersionId, Via, Visibility,
};
use service::{
    ArtifactDetail, Caller, CallerIdentity, DeletedArtifact, Differences, FileDifference, Member,
    ModerationNotice, Person,
};

use super::NoAccountPage;
use super::artifact_page::{self, ArtifactPage};
use super::artifacts::{ArtifactRow, ArtifactsPage, LiveRow};
use super::audit::{TrailPage, TrailRow};
use super::changes::ChangesPage;
use super::credit::{self, AmountForm, CheckoutPage, CreditPage, CreditStep};
use super::deleted::{DeletedPage, DeletedRow};
use super::ledger::{EntryRow, Slugs};
use super::page::{AccountLink, DashboardPage, Frame, Tab, done};
use super::pager::Pager;
use super::question::AskPage;
use super::team::{self, InviteForm, InviteRow, MemberRow, TeamPage};
use super::tokens::{self, MintForm, MintedTokenBox, TokenRow, TokensPage};
use super::usage::UsagePage;
use super::version_deletion;
use super::visibility::Price;
use crate::html::faults::Faults;
use crate::html::figures::{Count, Dollars, Moment, Size, SuspendedSince};

const BASE_URL: &str = "http://127.0.0.1:8080";
const PAGE_URL: &str = "http://127.0.0.1:8081/site/my-page-a1b2/";

fn now() -> Time {
    Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap()
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
        live,
        created_at: now(),
        updated_at: now(),
        retention: Retention::default(),
    }
}

fn frame(role: Role, tab: Tab) -> Frame {
    let link = |handle: &str, role| AccountLink {
        handle: handle.into(),
        role,
        is_current: handle == "acct_a1b2c3d4e5f6",
    };
    Frame {
        username: "ada".into(),
        handle: "acct_a1b2c3d4e5f6".into(),
        role,
        accounts: vec![link("acct_a1b2c3d4e5f6", role), link("acct_0123456789ab", Role::Member)],
        suspension: None,
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
    let rows = || rows.iter().cloned().map(TrailRow::from).collect();
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
        path: full.path(&format!("/pages/{slug}")),
        url: PAGE_URL.into(),
        visibility,
        live: live.map(|moderation| LiveRow { seq: 2, size: Size(12_345), moderation }),
        views: Count(1_234),
    };
    let rows = vec![
        row("my-page", Visibility::Public, Some(ModerationStatus::Pass)),
        row("our-plans", Visibility::Private, Some(ModerationStatus::Pending)),
        row("odd-page", Visibility::Unlisted, Some(ModerationStatus::Blocked)),
        row("not-yet", Visibility::Public, None),
    ];
    let many = vec![row("my-page", Visibility::Public, Some(ModerationStatus::Pass))];
    let page = |frame, rows, pager| ArtifactsPage { frame, rows, pager, base_url: BASE_URL };
    let reason = "Phishing after a warning.\nSee <ticket 7>.".into();
    let suspended = Frame { suspension: Some(SuspendedSince { at: Moment(now()), reason }), ..full.clone() };
    vec![
        sample("pages", &page(&full, rows, None)),
        sample("pages-many", &page(&full, many, Some(pager("pages")))),
        sample("pages-end", &page(&full, vec![], Some(pager("pages")))),
        sample("pages-none", &page(&alone, vec![], None)),
        sample("pages-suspended", &page(&suspended, vec![], None)),
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
    }
}

fn artifact_pages() -> Vec<(String, String)> {
    let mut frame = frame(Role::Member, Tab::Pages);
    frame.done = done(&poem::Request::builder().uri_str("/dashboard/x?done=live").finish());
    let public = artifact(1, "my-page", Visibility::Public, Some((2, ModerationStatus::Pass)));
    let private = artifact(1, "my-page", Visibility::Private, Some((3, ModerationStatus::Blocked)));
    let staged = artifact(1, "my-page", Visibility::Public, None);
    let page = |artifact: &Artifact| {
        let version = |seq, message: Option<&str>| Version {
            id: VersionId::from_ulid(1.into()),
            seq,
            total_bytes: 1_234 * u64::from(seq),
            file_count: seq,
            created_via: domain::CreatedVia::ALL[seq as usize % 3],
            message: message.map(|text| text.parse::<Message>().unwrap()),
            created_at: now(),
            moderation: ModerationStatus::Pass,
        };
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
        let price = Tariff::default().visibility_price;
        ArtifactPage::new(&frame, &detail, url, 1_234, Price { due: price, month: price }).render().unwrap()
    };
    let question = artifact_page::question(&frame, &public);
    let version_question = version_deletion::question(&frame, &public, 1);
    let back = frame.path("/pages/my-page");
    vec![
        ("dashboard-page".into(), page(&public)),
        ("dashboard-page-private".into(), page(&private)),
        ("dashboard-page-staged".into(), page(&staged)),
        sample("page-delete", &AskPage { frame: &frame, question: &question, back: &back }),
        sample("version-delete", &AskPage { frame: &frame, question: &version_question, back: &back }),
    ]
}

fn deleted_pages() -> Vec<(String, String)> {
    let mut frame = frame(Role::Member, Tab::Pages);
    frame.done = done(&poem::Request::builder().uri_str("/dashboard/x?done=purged").finish());
    let row = |number, slug| {
        let deleted = DeletedArtifact::from(artifact(number, slug, Visibility::Public, None));
        DeletedRow::new(&deleted, &frame)
    };
    vec![
        sample("deleted", &DeletedPage { frame: &frame, rows: vec![row(1, "my-page"), row(2, "my-page")] }),
        sample("deleted-none", &DeletedPage { frame: &frame, rows: vec![] }),
    ]
}

fn changes_pages() -> Vec<(String, String)> {
    let frame = frame(Role::Member, Tab::Pages);
    let file = |path: &str, text: &str| ManifestFile {
        path: path.parse().unwrap(),
        hash: BlobHash::of(text.as_bytes()),
        size_bytes: text.len() as u64,
        content_type: "text/plain".into(),
        variants: Vec::new(),
        bundled: None,
    };
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
    let used = MonthlyUse { publishes: 30, views: 20_090 };
    let (tariff, today) = (Tariff::default(), now().day());
    vec![
        sample("usage", &UsagePage::new(&frame, &summary(used), &tariff, &days, today)),
        sample(
            "usage-none",
            &UsagePage::new(&frame, &summary(MonthlyUse::default()), &tariff, &quiet, today),
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
    let form = |faults| Some(AmountForm { amount: "5".into(), faults });
    let refused = |refusal: Refusal| form(credit::faults(&refusal, &dashboard(Role::Owner, Tab::Credit)));
    let page = |frame, balance, step, dev, card, entries| CreditPage {
        frame,
        balance: Dollars(Micro::new(balance)),
        is_owing: balance < 0,
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
    let fine = || form(Faults::default());
    let amount = Refusal::invalid("amount_usd", "must be from 1 to 100 dollars");
    vec![
        sample("credit", &page(&owner, 4_495_000, None, fine(), fine(), entries())),
        sample("credit-missing", &page(&owner, 0, step(500_000), fine(), None, vec![])),
        sample("credit-enough", &page(&owner, 4_495_000, step(0), fine(), None, entries())),
        sample(
            "credit-refused",
            &page(&owner, -20_000, None, refused(amount), refused(Refusal::ProcessorError), vec![]),
        ),
        sample("credit-no-rail", &page(&owner, 0, None, None, None, vec![])),
        sample("credit-member", &page(&member, 4_495_000, step(500_000), fine(), fine(), entries())),
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
        let before = Time::from_millis(now().millis() - 1);
        let row = |invite: &Invite, at| InviteRow::new(invite, &names, at, &dashboard.frame, &addresses);
        let by_ada = Maker { user: Some(user(1)), token: None };
        let invites = vec![row(&invite("abcdef", 1, by_ada), before)];
        let past_invites = vec![
            row(&invite("ghijkl", 5, by_ada), before),
            row(&invite("mnopqr", 0, Maker::default()), now()),
        ];
        let template = TeamPage {
            frame: &dashboard.frame,
            members: members.iter().map(|member| MemberRow::new(member, dashboard)).collect(),
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
                .map(|token| TokenRow::new(token, &minters, &names, &slugs, &dashboard))
                .collect(),
            scopes: tokens::scope_choices(dashboard.caller.scopes(), form.scopes()),
            slugs: vec![page_of.slug.clone()],
            offers_every_page,
            pager: None,
            days_offered: &tokens::DAYS_OFFERED,
            form,
            faults,
        };
        template.render().unwrap()
    };
    let page = |minted, form, faults| page_with(minted, form, faults, true);
    let minted = MintedTokenBox { name: "deploy bot".into(), secret: format!("svc_sk_{}", "x".repeat(32)) };
    let faults = |refusal| tokens::faults(&refusal, "/dashboard");
    let typed =
        MintForm { name: "bot".into(), page: "my-page".into(), days: "7".into(), ..MintForm::default() };
    let back = dashboard.path("/tokens");
    let question = tokens::revocation(&tokens[2], &dashboard.frame);
    vec![
        ("dashboard-tokens".into(), page(None, MintForm::fresh(), Faults::default())),
        ("dashboard-tokens-many-pages".into(), page_with(None, MintForm::fresh(), Faults::default(), false)),
        ("dashboard-tokens-minted".into(), page(Some(minted), MintForm::fresh(), Faults::default())),
        (
            "dashboard-tokens-refused".into(),
            page(None, typed, faults(Refusal::invalid("scopes", "needs at least one scope"))),
        ),
        sample("token-revoke", &AskPage { frame: &dashboard.frame, question: &question, back: &back }),
    ]
}
