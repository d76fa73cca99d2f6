//! `handbill publish --private` and `handbill private-link`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use handbill_tests::{Agent, Mode, Visitor, World, in_both_modes, program};

use super::shell::{Shell, world};
use crate::expectations::{PAGE, assert_serves, page_saying};

in_both_modes! {
    // Each step of the command takes long enough to be observed.
    #[settings("HANDBILL_TEST_FAULTS" = "settle.before_commit:pause_ms=300")]
    async fn new_page_is_never_public_while_it_is_published_privately(world: World) {
        let agent = world.agent().await;
        let shell = Shell::new(&world).env("HANDBILL_TOKEN", agent.token());
        shell.write("page.html", PAGE);
        let is_over = Arc::new(AtomicBool::new(false));
        let watching = tokio::spawn(watch(agent.clone(), world.visitor(), is_over.clone()));
        let published =
            shell.run(&["publish", "page.html", "--slug", "my-page", "--private", "--yes"]).await.ok();
        is_over.store(true, Ordering::Relaxed);
        let seen = watching.await.unwrap();
        assert!(seen.contains(&404) && !seen.contains(&200), "{seen:?}");
        assert_serves(&world.visitor().open(&published.line()).await, PAGE);
        let charged = world.ledger().await;
        let months = charged.iter().filter(|entry| entry.reason.starts_with("visibility:"));
        assert_eq!(months.count(), 1, "{charged:?}");
    }
}

/// The status of a page at its plain URL, again and again from its first version on.
async fn watch(agent: Agent, visitor: Visitor, is_over: Arc<AtomicBool>) -> Vec<u16> {
    let mut seen = Vec::new();
    while !is_over.load(Ordering::Relaxed) {
        let page = agent.artifact("my-page").await;
        if page.status == 200 {
            seen.push(visitor.open(&page.string("url")).await.status);
        }
    }
    seen
}

#[tokio::test]
async fn a_new_page_is_published_privately_once_the_price_is_confirmed() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let publish = ["publish", "page.html", "--slug", "my-page", "--private"];
    let unasked = shell.run(&publish).await.failed(5);
    assert!(unasked.err.contains("$0.50 a month"), "{unasked:?}");
    shell.run(&[&publish[..], &["--max-price", "0.49"]].concat()).await.failed(5);
    assert_eq!(shell.run(&["list", "--json"]).await.ok().json(), handbill_tests::json!([]));
    let published = shell.run(&[&publish[..], &["--max-price", "0.50"]].concat()).await.ok();
    let signed = published.line();
    assert!(signed.contains("?sig=") && published.err.contains("is now private"), "{published:?}");
    assert_serves(&world.visitor().open(&signed).await, PAGE);
    let (plain, _) = signed.split_once('?').unwrap();
    assert_eq!(world.visitor().open(plain).await.status, 403);
    shell.write("page.html", page_saying("second"));
    // The page is private already, which costs nothing more.
    let again = shell.run(&publish).await.ok();
    assert_serves(&world.visitor().open(&again.line()).await, &page_saying("second"));
    let json = shell.run(&["publish", "page.html", "--private", "--yes", "--json"]).await.ok().json();
    assert_eq!(json["visibility"], "private");
    assert_serves(&world.visitor().open(json["signed_url"].as_str().unwrap()).await, &page_saying("second"));
}

#[tokio::test]
async fn a_public_page_becomes_private_before_its_new_version_is_published() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let url = shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok().line();
    shell.write("page.html", page_saying("second"));
    let published =
        shell.run(&["publish", "page.html", "--slug", "my-page", "--private", "--yes"]).await.ok();
    assert_eq!(world.visitor().open(&url).await.status, 403);
    assert_serves(&world.visitor().open(&published.line()).await, &page_saying("second"));
}

#[tokio::test]
async fn max_price_limits_the_publish_and_the_month_together() {
    let world = World::with(Mode::Embedded, program!());
    let world = world.env("HANDBILL_LIMITS__PROVISIONAL_FREE_PUBLISHES", "0").start().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    let publish = ["publish", "page.html", "--slug", "my-page", "--private"];
    let refused = shell.run(&[&publish[..], &["--max-price", "0.50", "--json"]].concat()).await.failed(5);
    let error = refused.error();
    assert!(error["message"].as_str().unwrap().contains("so it was deleted"), "{refused:?}");
    assert_eq!(shell.run(&["list", "--json"]).await.ok().json(), handbill_tests::json!([]));
    let signed = shell.run(&[&publish[..], &["--max-price", "0.505"]].concat()).await.ok().line();
    assert_serves(&world.visitor().open(&signed).await, PAGE);
}

#[tokio::test]
async fn link_of_a_private_page_is_replaced_once_confirmed() {
    let world = world().await;
    let shell = Shell::signed_up(&world).await;
    shell.write("page.html", PAGE);
    shell.run(&["publish", "page.html", "--slug", "my-page"]).await.ok();
    let public = shell.run(&["private-link", "my-page", "--yes"]).await.failed(1);
    assert!(public.err.contains("handbill visibility SLUG private"), "{public:?}");
    let old = shell.run(&["visibility", "my-page", "private", "--yes"]).await.ok().line();
    shell.run(&["private-link", "my-page"]).await.failed(2);
    assert_serves(&world.visitor().open(&old).await, PAGE);
    let new = shell.run(&["private-link", "my-page", "--yes"]).await.ok();
    assert!(new.err.contains("no longer works"), "{new:?}");
    assert_eq!(world.visitor().open(&old).await.status, 403);
    assert_serves(&world.visitor().open(&new.line()).await, PAGE);
}
