//! The JSON of requests and responses.

use std::time::Duration;

use domain::link::{Addresses, UrlStyle, VersionLinks};
use domain::signing_key::LinkKey;
use domain::{
    AccountId, AccountStatus, AccountSummary, ArtifactId, Chance, LinkGeneration, LiveVersion, Micro,
    ModerationStatus, MonthlyUse, PageTitle, Paged, Published, Receipt, Retention, StoredBytes, Tariff, Time,
    TokenSecret, VersionId, Visibility,
};
use poem_openapi::types::{ParseFromJSON, ToJSON};
use serde_json::{Value, json};

use super::*;

const NOW: Time = Time::from_millis(1_769_860_800_000);

fn addresses() -> Addresses {
    Addresses {
        base_url: "http://127.0.0.1:8080".into(),
        serve_url: "http://127.0.0.1:8081".into(),
        edge_domain: "localhost".into(),
        url_style: UrlStyle::Path,
    }
}

fn account(status: AccountStatus) -> domain::Account {
    let is_provisional = status == AccountStatus::Provisional;
    domain::Account {
        id: AccountId::new(NOW, &Chance::seeded(1)),
        handle: "acct_abc".into(),
        name: Some("Design team".parse().unwrap()),
        status,
        expires_at: is_provisional.then(|| NOW.plus(Duration::from_secs(1800))),
        claim_code: "code".into(),
        balance: Micro::new(-15_000),
        allow_agent_join: true,
        provisional_publishes: 2,
        storage_bytes: 1_500_000_000,
        created_at: NOW,
        suspension: None,
        retention: Retention::default(),
    }
}

fn summary(status: AccountStatus) -> AccountSummary {
    let used = MonthlyUse { publishes: 30, views: 1_000_002 };
    let account = account(status);
    let stored = StoredBytes { own: account.storage_bytes, claimed_earlier: 0 };
    AccountSummary { account, month: NOW.month(), used, restricted_artifacts: 3, stored }
}

fn artifact(live: Option<LiveVersion>) -> domain::Artifact {
    domain::Artifact {
        id: ArtifactId::new(NOW, &Chance::seeded(2)),
        account: AccountId::new(NOW, &Chance::seeded(1)),
        slug: "my-page".parse().unwrap(),
        host: "my-page-a1b2".parse().unwrap(),
        visibility: Visibility::Unlisted,
        link_generation: LinkGeneration::FIRST,
        title: live.and_then(|_| PageTitle::from_text("My page")),
        live,
        created_at: NOW,
        updated_at: NOW,
        retention: Retention::default(),
    }
}

fn json_of(shape: &impl ToJSON) -> Value {
    shape.to_json().unwrap()
}

#[test]
fn a_provisional_account_shows_its_expiry_its_cap_and_its_claim_url() {
    let summary = summary(AccountStatus::Provisional);
    let short = json!({
        "id": summary.account.id.to_string(),
        "handle": "acct_abc",
        "name": "Design team",
        "status": "provisional",
        "expires_at": "2026-01-31T12:30:00Z",
    });
    let mut expected = json!({
        "account": short,
        "suspended": null,
        "limits": {"free_publishes": 5, "total_mb": 20},
        "credits_usd": -0.015,
        "free_publishes_left": 3,
        "usage": {"month": "2026-01", "publishes": 2, "storage_bytes": 1_500_000_000, "views": 1_000_002},
        "allow_agent_join": true,
        "versions_kept": null,
        "versions_days": null,
        "claim_url": "http://127.0.0.1:8080/claim/code",
    });
    expected.as_object_mut().unwrap().extend(short.as_object().unwrap().clone());
    let claim_url = "http://127.0.0.1:8080/claim/code".to_owned();
    assert_eq!(json_of(&AccountDetail::new(&summary, &Tariff::default(), Some(claim_url))), expected);
}

#[test]
fn claimed_account_has_null_expiry_and_no_claim_url() {
    let summary = summary(AccountStatus::Claimed);
    let detail = json_of(&AccountDetail::new(&summary, &Tariff::default(), None));
    assert_eq!(detail["status"], "claimed");
    for null in [&detail["expires_at"], &detail["account"]["expires_at"], &detail["limits"]["total_mb"]] {
        assert!(null.is_null());
    }
    assert!(detail.as_object().unwrap().contains_key("expires_at"));
    assert_eq!(detail.get("claim_url"), None);
    assert_eq!(detail["free_publishes_left"], 70);
}

#[test]
fn a_suspended_account_shows_since_when_and_why() {
    let mut summary = summary(AccountStatus::Claimed);
    summary.account.suspension = Some(domain::Suspension { at: NOW, reason: "Phishing".parse().unwrap() });
    let detail = json_of(&AccountDetail::new(&summary, &Tariff::default(), None));
    assert_eq!(detail["suspended"], json!({"at": "2026-01-31T12:00:00Z", "reason": "Phishing"}));
}

#[test]
fn usage_has_every_field_of_the_month() {
    assert_eq!(
        json_of(&Usage::new(&summary(AccountStatus::Claimed), &Tariff::default())),
        json!({
            "month": "2026-01",
            "publishes": {"used": 30, "free_limit": 100, "free_left": 70},
            "storage": {"bytes": 1_500_000_000, "gb": 1.5, "est_monthly_cost_usd": 0.025},
            "traffic": {"views": 1_000_002, "free_limit": 1_000_000, "overage_views": 2},
            "private_artifacts": {"count": 3, "monthly_cost_usd": 1.5},
            "credits_usd": -0.015,
            "status": "claimed",
        })
    );
}

#[test]
fn a_sign_up_shows_the_token_beside_the_account() {
    let secret = TokenSecret::generate(&Chance::seeded(1));
    let signed_up = service::SignedUp {
        account: account(AccountStatus::Provisional),
        token: secret.clone(),
        claim_url: "http://127.0.0.1:8080/claim/code".into(),
    };
    let shown = json_of(&SignUp::new(signed_up, &Tariff::default()));
    assert_eq!(shown["account"]["status"], "provisional");
    assert_eq!(shown["token"], secret.reveal());
    assert_eq!(shown["limits"], json!({"free_publishes": 5, "total_mb": 20}));
}

fn version_links(visibility: domain::Visibility) -> VersionLinks {
    let host = "my-page-a1b2".parse().unwrap();
    let artifact = ArtifactId::new(NOW, &Chance::seeded(2));
    VersionLinks {
        addresses: addresses(),
        key: LinkKey::new("secret"),
        artifact,
        host,
        visibility,
        link_generation: LinkGeneration::FIRST,
    }
}

#[test]
fn an_artifact_shows_its_live_version_and_each_version_its_own_status() {
    let version = |seq, moderation| domain::Version {
        id: VersionId::new(NOW, &Chance::seeded(u64::from(seq))),
        seq,
        total_bytes: 9,
        file_count: 1,
        created_via: domain::CreatedVia::Api,
        message: Some("Fix the typo".parse().unwrap()),
        created_at: NOW,
        moderation,
    };
    let versions = vec![version(2, ModerationStatus::Blocked), version(1, ModerationStatus::Pass)];
    let live = LiveVersion { id: versions[1].id, seq: 1, total_bytes: 7, moderation: ModerationStatus::Pass };
    let detail = service::ArtifactDetail {
        artifact: artifact(Some(live)),
        versions: domain::Paged { rows: versions, ..domain::Paged::empty() },
        moderation: service::ModerationNotice::plain(ModerationStatus::Pass),
        signed_url: None,
        version_links: version_links(domain::Visibility::Private),
    };
    let detail = json_of(&ArtifactDetail::new(detail, &addresses()));
    assert_eq!(detail["url"], "http://127.0.0.1:8081/site/my-page-a1b2/");
    assert_eq!(detail["visibility"], "unlisted");
    assert_eq!((&detail["version"], &detail["moderation_status"]), (&json!(1), &json!("pass")));
    let nothing = json!({"status": "pass", "rule": null, "file": null, "saw": null, "message": null});
    assert_eq!(detail["moderation"], nothing);
    assert_eq!(detail["created_at"], "2026-01-31T12:00:00Z");
    assert_eq!(detail.get("signed_url"), None);
    let url = detail["versions"][1]["url"].as_str().unwrap().to_owned();
    assert!(url.starts_with("http://127.0.0.1:8081/site/my-page-a1b2-"), "{url}");
    assert_ne!(detail["versions"][0]["url"], url);
    let signed = detail["versions"][1]["signed_url"].as_str().unwrap();
    assert!(signed.starts_with(&format!("{url}?sig=")), "{signed}");
    let versions = &detail["versions"];
    assert_eq!((&versions[0]["live"], &versions[0]["moderation_status"]), (&json!(false), &json!("blocked")));
    assert_eq!((&versions[1]["live"], &versions[1]["seq"]), (&json!(true), &json!(1)));
}

#[test]
fn an_artifact_with_staged_versions_only_has_no_live_version() {
    let shown = json_of(&Artifact::new(&artifact(None), &addresses()));
    assert_eq!((&shown["version"], &shown["moderation_status"]), (&Value::Null, &json!("pending")));
    assert_eq!(shown["title"], Value::Null);
}

#[test]
fn a_listed_artifact_has_its_title_its_last_change_and_the_views_of_the_month() {
    let live = LiveVersion {
        id: VersionId::from_ulid(1.into()),
        seq: 2,
        total_bytes: 7,
        moderation: ModerationStatus::Pass,
    };
    let rows = vec![artifact(Some(live)), artifact(None)];
    let views = [(rows[0].host.clone(), 12)].into();
    let paged = Paged { rows, ..Paged::empty() };
    let listed = ListedArtifact::page(paged, &views, &addresses()).map(|row| json_of(&row)).rows;
    assert_eq!((&listed[0]["title"], &listed[0]["views_month"]), (&json!("My page"), &json!(12)));
    assert_eq!(listed[0]["updated_at"], json!(NOW.rfc3339()));
    assert_eq!((&listed[1]["title"], &listed[1]["version"]), (&Value::Null, &Value::Null));
}

#[test]
fn an_account_shows_the_name_that_its_owner_gave_it() {
    let shown = json_of(&AccountDetail::new(&summary(AccountStatus::Claimed), &Tariff::default(), None));
    assert_eq!((&shown["name"], &shown["handle"]), (&json!("Design team"), &json!("acct_abc")));
}

#[test]
fn the_name_of_an_account_is_set_taken_away_or_refused() {
    let read = |body: Value| ChangeAccount::parse_from_json(Some(body)).ok().unwrap().read();
    let name = read(json!({ "name": " Design team " })).unwrap().name.unwrap().unwrap();
    assert_eq!(name.as_str(), "Design team");
    assert_eq!(read(json!({ "name": null })).unwrap().name, Some(None));
    assert_eq!(read(json!({ "allow_agent_join": true })).unwrap().name, None);
    for bad in [json!({}), json!({ "name": "" }), json!({ "name": "a\nb" })] {
        assert!(read(bad.clone()).is_err(), "{bad}");
    }
}

#[test]
fn a_publish_result_carries_the_receipt_only_when_it_was_paid_inline() {
    let receipt = Receipt { rail: "dev".into(), amount: Micro::new(5_000), id: "r1".into(), settled_at: NOW };
    let published = Published {
        account: AccountId::new(NOW, &Chance::seeded(1)),
        artifact: ArtifactId::new(NOW, &Chance::seeded(2)),
        host: "my-page-a1b2".parse().unwrap(),
        slug: "my-page".parse().unwrap(),
        version: VersionId::new(NOW, &Chance::seeded(3)),
        seq: 6,
        free_publishes_left: 0,
        balance: Micro::ZERO,
        expires_at: None,
        visibility: domain::Visibility::Public,
        link_generation: LinkGeneration::FIRST,
        receipt: Some(receipt),
        has_verdict: false,
    };
    let warning = domain::Warning {
        code: domain::WarningCode::Secret,
        path: "app.js".parse().unwrap(),
        line: Some(3),
        target: Some("a.png".into()),
        message: "this looks like a key".into(),
        hint: "revoke it".into(),
    };
    let mut publication = service::Publication {
        published,
        warnings: vec![warning],
        entry_page: None,
        version_links: version_links(domain::Visibility::Public),
    };
    let shown = json_of(&PublishResult::new(&publication, None, &addresses()));
    assert_eq!(
        shown,
        json!({
            "url": "http://127.0.0.1:8081/site/my-page-a1b2/",
            "host": "my-page-a1b2",
            "artifact_id": publication.published.artifact.to_string(),
            "version": 6,
            "version_url": publication.version_links.url(6),
            "account": {"free_publishes_left": 0, "credits_usd": 0.0, "expires_at": null},
            "receipt": {"rail": "dev", "amount_usd": 0.005, "id": "r1", "settled_at": "2026-01-31T12:00:00Z"},
            "warnings": [
                {"code": "secret", "path": "app.js", "line": 3, "target": "a.png", "message": "this looks like a key", "hint": "revoke it"},
            ],
        })
    );
    publication.published.receipt = None;
    publication.entry_page = "a report.html".parse().ok();
    let shown = json_of(&PublishResult::new(&publication, None, &addresses()));
    assert_eq!(shown["entry_url"], "http://127.0.0.1:8081/site/my-page-a1b2/a%20report.html");
    let shown = json_of(&PublishResult::new(&publication, Some("https://x/?sig=1".into()), &addresses()));
    assert_eq!((shown.get("receipt"), &shown["signed_url"]), (None, &json!("https://x/?sig=1")));
    assert_eq!(shown["entry_url"], "https://x/a%20report.html?sig=1");
}
