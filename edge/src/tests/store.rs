//! With the real database: published pages are found, and changes are visible at once.

use domain::{
    Account, AccountId, AccountStatus, Activation, Chance, CreatedVia, Host, LedgerOperation, Maker,
    Manifest, ManifestFile, Micro, ModerationStatus, Origin, Outcome, PublishOperation, PublishOrder,
    Retention, Route, SweepNumber, Target, Tariff, VersionId, Via, WrittenBundle,
};
use futures::future::join_all;
use store::{Change, Layout, NewContent, NewToken, RouteReader, Terms};
use tokio::time::Instant;

use super::harness::{EdgeHarness, Method, NOW, route};
use crate::follow::LogFollower;
use crate::sites::Sites;

async fn account(harness: &EdgeHarness, chance: &Chance) -> AccountId {
    let account = Account {
        id: AccountId::new(NOW, chance),
        handle: "acct_x".into(),
        name: None,
        status: AccountStatus::Claimed,
        expires_at: None,
        claim_code: "code".into(),
        balance: Micro::new(0),
        allow_agent_join: true,
        provisional_publishes: 0,
        storage_bytes: 0,
        created_at: NOW,
        suspension: None,
        retention: Retention::default(),
    };
    let token = NewToken::first_of(&account, "hash".into(), chance);
    harness.store.accounts().create(&account, &token).await.unwrap();
    account.id
}

fn change(account: AccountId, chance: &Chance) -> Change<'_> {
    let (by, origin) = (Maker { user: None, token: None }, Origin { via: Via::Api, address: None });
    Change { account, by, origin, now: NOW, chance }
}

async fn publish(harness: &EdgeHarness, account: AccountId, chance: &Chance, text: &str) -> Host {
    let files = vec![harness.file("index.html", text.to_owned()).await];
    publish_stored(harness, account, chance, (VersionId::new(NOW, chance), files, None)).await
}

type StoredFiles = (VersionId, Vec<ManifestFile>, Option<WrittenBundle>);

/// Settles the publish of files that are stored.
async fn publish_stored(
    harness: &EdgeHarness,
    account: AccountId,
    chance: &Chance,
    files: StoredFiles,
) -> Host {
    publish_as(harness, account, chance, "my-page", files).await
}

async fn publish_as(
    harness: &EdgeHarness,
    account: AccountId,
    chance: &Chance,
    slug: &str,
    (version, files, bundle): StoredFiles,
) -> Host {
    let operation = PublishOperation {
        order: PublishOrder {
            account,
            version,
            slug: slug.parse().unwrap(),
            target: Target::NewOrExisting,
            activation: Activation::Live,
            pinned_to: None,
            payment: None,
            created_via: CreatedVia::Api,
            message: None,
            created_by: None,
            deadline: None,
            is_provisional: None,
            called_by: None,
        },
        manifest: Manifest::new(files),
        title: None,
        bundle,
        blobs_as_of: SweepNumber::default(),
        verdict: None,
    };
    let terms = Terms { tariff: Tariff::default(), chance: chance.clone(), now: NOW };
    let outcomes = harness
        .store
        .settle(account, &[LedgerOperation::Publish(Box::new(operation))], &terms)
        .await
        .unwrap();
    match outcomes.into_iter().next() {
        Some(Outcome::Published(published)) => published.host,
        other => panic!("not published: {other:?}"),
    }
}

#[tokio::test]
async fn change_is_visible_as_soon_as_the_edges_are_notified() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let host = publish(&harness, account, &chance, "one").await;
    let target = format!("/site/{host}/");
    let visit = || harness.knock(Method::GET, &target, &[("host", "127.0.0.1")]);
    assert_eq!(visit().await.text(), "one");
    for number in 0..20 {
        let text = format!("version {number}");
        publish(&harness, account, &chance, &text).await;
        harness.bus.notify_edges(std::slice::from_ref(&host)).await;
        assert_eq!(visit().await.text(), text);
    }
    harness.store.artifacts().delete(&change(account, &chance), &"my-page".parse().unwrap()).await.unwrap();
    harness.bus.notify_edges(std::slice::from_ref(&host)).await;
    assert_eq!(visit().await.status, 404);
    harness.edge.leave().await;
}

#[tokio::test]
async fn temporarily_unavailable_page_gets_503_and_recovers() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let host = publish(&harness, account, &chance, "one").await;
    let file = harness.file("index.html", "one").await;
    harness.blobs.delete_blob(file.hash).await.unwrap();
    let target = format!("/site/{host}/");
    let seen = harness.knock(Method::GET, &target, &[("host", "127.0.0.1")]).await;
    assert_eq!((seen.status, seen.says("retry-after")), (503, Some("2")));
    assert_eq!(seen.says("cache-control"), Some("no-store"));
    harness.file("index.html", "one").await;
    assert_eq!(harness.knock(Method::GET, &target, &[("host", "127.0.0.1")]).await.text(), "one");
    harness.store.close().await.unwrap();
    harness.bus.notify_edges(&[host]).await;
    assert_eq!(harness.knock(Method::GET, &target, &[("host", "127.0.0.1")]).await.status, 503);
}

#[tokio::test]
async fn cached_routes_are_confirmed_until_the_log_lists_them() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let host = publish(&harness, account, &chance, "one").await;
    let unknown: Host = "nobody-here-0000".parse().unwrap();
    let (sites, mut follower) = (Sites::new(1 << 20), LogFollower::default());
    let visit = async || {
        for host in [&host, &unknown] {
            sites.fetch(host, |_| false, harness.store.routes().find(host)).await.unwrap();
        }
    };
    let confirmed_since = |moment| {
        let is_known = |host| sites.recall(host, |confirmed_at| confirmed_at >= moment).is_some();
        (is_known(&host), is_known(&unknown))
    };
    visit().await;
    let moment = Instant::now();
    for _ in 0..2 {
        follower.read(&sites, &harness.store).await.unwrap();
        assert_eq!(confirmed_since(moment), (false, false), "read before the log was followed");
    }
    visit().await;
    let moment = Instant::now();
    assert_eq!(confirmed_since(moment), (false, false));
    follower.read(&sites, &harness.store).await.unwrap();
    assert_eq!(confirmed_since(moment), (true, true));

    // The edge got no notice of these and must find out itself.
    publish(&harness, account, &chance, "two").await;
    follower.read(&sites, &harness.store).await.unwrap();
    assert_eq!(confirmed_since(moment), (false, true));
    visit().await;
    harness.store.artifacts().delete(&change(account, &chance), &"my-page".parse().unwrap()).await.unwrap();
    follower.read(&sites, &harness.store).await.unwrap();
    assert_eq!(confirmed_since(moment), (false, true));
}

#[tokio::test]
async fn a_route_that_changes_while_it_is_read_is_not_confirmed() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let host = publish(&harness, account, &chance, "one").await;
    let (sites, mut follower) = (Sites::new(1 << 20), LogFollower::default());
    follower.read(&sites, &harness.store).await.unwrap();
    let read = async {
        let route = harness.store.routes().find(&host).await;
        publish(&harness, account, &chance, "two").await;
        follower.read(&sites, &harness.store).await.unwrap();
        route
    };
    sites.fetch(&host, |_| false, read).await.unwrap().unwrap();
    assert!(sites.recall(&host, |_| true).is_none());

    // The same while a new log is read for the first time.
    let mut follower = LogFollower::default();
    let read = async {
        let route = harness.store.routes().find(&host).await;
        publish(&harness, account, &chance, "three").await;
        follower.read(&sites, &harness.store).await.unwrap();
        route
    };
    sites.fetch(&host, |_| false, read).await.unwrap().unwrap();
    let moment = Instant::now();
    follower.read(&sites, &harness.store).await.unwrap();
    assert!(sites.recall(&host, |confirmed_at| confirmed_at >= moment).is_none());
}

#[tokio::test]
async fn a_host_that_is_dropped_during_a_shared_read_does_not_enter_the_cache() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let host = publish(&harness, account, &chance, "one").await;
    let others: Vec<Host> =
        (0..50).map(|number| format!("nobody-here-{number:04}").parse().unwrap()).collect();
    let (sites, reader) = (Sites::new(1 << 20), RouteReader::start(harness.store.clone()));
    let is_dropped_meanwhile = async {
        let route = reader.find(&host).await;
        publish(&harness, account, &chance, "two").await;
        sites.drop_host(&host);
        route
    };
    let visits = others.iter().map(|other| sites.fetch(other, |_| false, reader.find(other)));
    let (dropped, others_found) =
        tokio::join!(sites.fetch(&host, |_| false, is_dropped_meanwhile), join_all(visits));
    let stale = dropped.unwrap().unwrap();
    assert!(others_found.into_iter().all(|found| found.unwrap().is_none()));
    assert!(!sites.is_known(&host) && others.iter().all(|other| sites.is_known(other)));
    let fresh = sites.fetch(&host, |_| false, reader.find(&host)).await.unwrap().unwrap();
    assert_ne!(fresh.route.version, stale.route.version);
}

#[tokio::test]
async fn concurrent_visits_of_sites_that_are_not_cached_each_get_their_own_site() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let mut texts = Vec::new();
    for number in 0..10 {
        let text = format!("page {number}");
        let files = vec![harness.file("index.html", text.clone()).await];
        let version = VersionId::new(NOW, &chance);
        let slug = format!("page-{number}");
        texts.push((publish_as(&harness, account, &chance, &slug, (version, files, None)).await, text));
    }
    let visits = (0..60).map(async |number| {
        let (host, text) = &texts[number % texts.len()];
        let target = format!("/site/{host}/");
        assert_eq!(harness.knock(Method::GET, &target, &[("host", "127.0.0.1")]).await.text(), text);
        let nobody = format!("/site/nobody-{number:04}/");
        assert_eq!(harness.knock(Method::GET, &nobody, &[("host", "127.0.0.1")]).await.status, 404);
    });
    join_all(visits).await;
}

#[tokio::test]
async fn a_page_that_waits_for_its_scan_is_not_confirmed() {
    let harness = EdgeHarness::build().await;
    let (sites, mut follower) = (Sites::new(1 << 20), LogFollower::default());
    follower.read(&sites, &harness.store).await.unwrap();
    let published = route(vec![]);
    let pending = Route {
        host: "pending-a1b2".parse().unwrap(),
        moderation: ModerationStatus::Pending,
        expires_at: Some(NOW),
        ..published.clone()
    };
    for route in [&published, &pending] {
        sites.fetch(&route.host, |_| false, async { Ok(Some(route.clone())) }).await.unwrap();
    }
    let moment = Instant::now();
    follower.read(&sites, &harness.store).await.unwrap();
    let is_confirmed = |route: &Route| sites.recall(&route.host, |at| at >= moment).is_some();
    assert!(is_confirmed(&published) && !is_confirmed(&pending));
}

#[tokio::test]
async fn a_content_in_a_bundle_is_served_and_found_again_where_it_was_moved() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let texts =
        [("index.html", "<p>one".repeat(200)), ("a.txt", "two ".repeat(200)), ("b.txt", "three".repeat(200))];
    let mut contents = Vec::new();
    let mut files = Vec::new();
    for (path, text) in &texts {
        // The harness stores it in its own object.
        let file = harness.file(path, text.clone()).await;
        harness.blobs.delete_blob(file.hash).await.unwrap();
        let layout = Layout::of(text.as_bytes(), &file.content_type).unwrap();
        contents.push(NewContent { hash: file.hash, bytes: text.clone().into(), layout });
        files.push(file);
    }
    let version = VersionId::new(NOW, &chance);
    let bundle = harness.blobs.put_bundle(version.into(), &contents).await.unwrap().unwrap();
    for (file, blob) in files.iter_mut().zip(&bundle.contents) {
        assert_eq!(file.variants, blob.variants);
        file.bundled = blob.bundled;
    }
    let host = publish_stored(&harness, account, &chance, (version, files, Some(bundle.written))).await;
    let local = ("host", "127.0.0.1");
    let visit = async |path: &str, headers: &[(&str, &str)]| {
        harness.knock(Method::GET, &format!("/site/{host}/{path}"), headers).await
    };
    assert_eq!(visit("", &[local]).await.text(), texts[0].1);
    let part = visit("a.txt", &[local, ("range", "bytes=4-10")]).await;
    assert_eq!((part.status, part.text()), (206, "two two"));
    let encoded = visit("a.txt", &[local, ("accept-encoding", "gzip")]).await;
    assert_eq!(encoded.says("content-encoding"), Some("gzip"));

    harness.blobs.delete_bundle(bundle.id()).await.unwrap();
    assert_eq!(visit("b.txt", &[local]).await.status, 503);
    let moved = harness.file("b.txt", texts[2].1.clone()).await;
    harness.store.blob_index().mark_restored(moved.hash, None, NOW).await.unwrap();
    assert_eq!(visit("b.txt", &[local]).await.text(), texts[2].1);
    assert_eq!(
        visit("b.txt", &[local, ("accept-encoding", "br")]).await.says("content-encoding"),
        Some("br")
    );
}
