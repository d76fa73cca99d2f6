//! The documentation in a browser: the search with and without scripts, links to sections, and commands with
//! a token of one's own.

use handbill_tests::{Browser, Mode, PATIENCE, Scripts, World, eventually, program};

async fn world() -> World {
    World::with(Mode::Embedded, program!()).start().await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_search_finds_while_people_type() {
    let (world, browser) = (world().await, Browser::start().await);
    browser.open(&format!("{}/docs", world.base_url())).await;
    browser.fill("#q", "claim link").await;
    let results = "[...document.querySelectorAll('#docs-found a')].map(link => link.getAttribute('href'))";
    let wanted = "/docs/reference/account#create_claim_link";
    eventually(PATIENCE, "results are listed", async || {
        let found = browser.evaluate(results).await;
        found.as_array().is_some_and(|links| links.iter().any(|link| link == wanted)).then_some(())
    })
    .await;
    browser.inspect("docs-found").await;
    browser.follow(&format!("#docs-found a[href=\"{wanted}\"]")).await;
    assert_eq!(browser.path().await, "/docs/reference/account");
    assert!(browser.text(":target h2").await.contains("claim link"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_the_server_searches() {
    let (world, browser) = (world().await, Browser::start().await);
    browser.with_scripts(Scripts::Refused).await;
    browser.open(&format!("{}/docs/errors", world.base_url())).await;
    browser.fill("#q", "slug_taken").await;
    browser.follow(".docs-search button").await;
    assert_eq!(browser.path().await, "/docs/search");
    browser.follow(".found a").await;
    assert_eq!(browser.path().await, "/docs/errors");
    assert_eq!(browser.text(":target h2").await, "slug_taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_fills_the_commands_of_its_page_only() {
    let (world, browser) = (world().await, Browser::start().await);
    let token = world.agent().await.token().to_owned();
    let page = format!("{}/docs/reference/tokens", world.base_url());
    browser.open(&page).await;
    assert!(browser.text("#curl-list_tokens").await.contains("Bearer $HANDBILL_TOKEN"));
    browser.fill("#token", "svc_sk_tooshort").await;
    assert!(browser.text("#curl-list_tokens").await.contains("$HANDBILL_TOKEN"));
    browser.fill("#token", &token).await;
    assert!(browser.text("#curl-list_tokens").await.contains(&token));
    let stored = "localStorage.length + sessionStorage.length + document.cookie.length";
    assert_eq!(browser.evaluate(stored).await, 0);
    browser.open(&page).await;
    assert!(!browser.text("#curl-list_tokens").await.contains(&token));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_of_the_documentation_are_accessible() {
    let (world, browser) = (world().await, Browser::start().await);
    for (path, name) in [
        ("/docs", "docs-live"),
        ("/docs/mcp", "docs-mcp"),
        ("/docs/self-hosting", "docs-self-hosting"),
        ("/docs/reference/artifacts", "docs-artifacts"),
        ("/docs/reference/operator", "docs-operator"),
        ("/skill", "docs-skill-live"),
    ] {
        browser.open(&format!("{}{path}", world.base_url())).await;
        browser.inspect(name).await;
    }
}
