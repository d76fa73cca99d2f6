//! With the real database: published pages are found, and changes are visible at once.

use domain::{
    Account, AccountId, AccountStatus, Activation, Chance, CreatedVia, Host, LedgerOperation, Maker,
    Manifest, Micro, Origin, Outcome, PublishOperation, PublishOrder, SweepNumber, Target, Tariff, VersionId,
    Via,
};
use store::{Change, NewToken, Terms};

use super::harness::{EdgeHarness, Method, NOW};

async fn account(harness: &EdgeHarness, chance: &Chance) -> AccountId {
    let account = Account {
        id: AccountId::new(NOW, chance),
        handle: "acct_x".into(),
        status: AccountStatus::Claimed,
        expires_at: None,
        claim_code: "code".into(),
        balance: Micro::new(0),
        allow_agent_join: true,
        provisional_publishes: 0,
        storage_bytes: 0,
        created_at: NOW,
        suspension: None,
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
    let operation = PublishOperation {
        order: PublishOrder {
            account,
            version: VersionId::new(NOW, chance),
            slug: "my-page".parse().unwrap(),
            target: Target::NewOrExisting,
            activation: Activation::Live,
            pinned_to: None,
            payment: None,
            created_via: CreatedVia::Api,
            message: None,
            created_by: None,
            deadline: None,
            called_by: None,
        },
        manifest: Manifest::new(vec![harness.file("index.html", text.to_owned()).await]),
        blobs_as_of: SweepNumber::default(),
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
async fn a_change_is_seen_as_soon_as_the_edges_were_told() {
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
async fn a_page_that_cannot_be_had_just_now_says_so_and_is_had_later() {
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
async fn a_route_in_use_is_believed_anew_only_while_it_stands_in_the_store() {
    let (harness, chance) = (EdgeHarness::build().await, Chance::seeded(7));
    let account = account(&harness, &chance).await;
    let host = publish(&harness, account, &chance, "one").await;
    let target = format!("/site/{host}/");
    let visit = || harness.knock(Method::GET, &target, &[("host", "127.0.0.1")]);
    let sites = &harness.edge.inner.sites;
    let is_known_since = |moment| sites.recall(&host, |stood_at| stood_at >= moment).is_some();
    let freshen_now = async || {
        visit().await;
        let now = tokio::time::Instant::now();
        crate::freshen::freshen(sites, &harness.store).await;
        now
    };
    visit().await;
    let now = freshen_now().await;
    assert!(sites.in_use().is_empty(), "nobody came since");
    assert!(is_known_since(now));

    // The edge got no notice of this and must find out itself.
    let stood_before = freshen_now().await;
    publish(&harness, account, &chance, "two").await;
    let now = freshen_now().await;
    assert!(is_known_since(stood_before) && !is_known_since(now));
    harness.store.artifacts().delete(&change(account, &chance), &"my-page".parse().unwrap()).await.unwrap();
    let now = freshen_now().await;
    assert!(!is_known_since(now));
}
