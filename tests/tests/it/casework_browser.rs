//! Keyboard shortcuts for moderators in a browser: each does the same as its button, but not while somebody
//! types.

use handbill_tests::{Browser, Mode, PATIENCE, Value, World, eventually, program};

use crate::casework::in_review;
use crate::moderation_queue::review_item;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keyboard_shortcuts_navigate_the_queue_and_decide() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let mut hosts = Vec::new();
    for slug in ["first", "second", "third"] {
        hosts.push(in_review(&agent, slug).await);
        world.advance(std::time::Duration::from_secs(1));
    }
    let browser = Browser::start().await;
    let list = format!("account={}", agent.handle());
    browser.open(&format!("{}/admin/moderation?{list}", world.base_url())).await;
    browser.follow("tbody tr:first-child th a").await;
    assert_is_case(&browser, &hosts[0]).await;

    press_and_leave(&browser, "j").await;
    assert_is_case(&browser, &hosts[1]).await;
    press_and_leave(&browser, "k").await;
    assert_is_case(&browser, &hosts[0]).await;

    press(&browser, "body", "?").await;
    assert_eq!(browser.evaluate("document.querySelector('#keys').open").await, Value::Bool(true));
    browser.inspect("admin-keys").await;
    // While the dialog is open, a key does not decide.
    press(&browser, "#keys", "b").await;
    browser.click("#keys button").await;
    browser.fill("#note", "bpjk?").await;
    assert_eq!(browser.evaluate("document.querySelector('#note').value").await, "bpjk?");
    assert_is_case(&browser, &hosts[0]).await;
    assert_eq!(status(&world, &hosts[0]).await, "review");

    press_and_leave(&browser, "b").await;
    assert_is_case(&browser, &hosts[1]).await;
    assert!(browser.text(".notice").await.contains(&format!("{} is blocked", hosts[0])));
    assert_eq!(status(&world, &hosts[0]).await, "blocked");
    press_and_leave(&browser, "p").await;
    assert_is_case(&browser, &hosts[2]).await;
    assert_eq!(status(&world, &hosts[1]).await, "pass");

    // In the list, one checkbox selects all.
    browser.open(&format!("{}/admin/moderation?{list}", world.base_url())).await;
    browser.click("[data-ticks]").await;
    assert_eq!(browser.evaluate("document.querySelectorAll('[name=page]:checked').length").await, 1);
    browser.follow("button[value=pass]").await;
    assert!(browser.text(".notice").await.contains("Passed: 1 page."));
    assert_eq!(status(&world, &hosts[2]).await, "pass");
}

async fn status(world: &World, host: &str) -> String {
    review_item(world, host).await.expect(200).string("live.moderation_status")
}

async fn assert_is_case(browser: &Browser, host: &str) {
    assert_eq!(browser.path().await, format!("/admin/moderation/{host}"));
}

/// Presses a key in the element for a CSS selector.
async fn press(browser: &Browser, selector: &str, key: &str) {
    let found = browser.client().find(fantoccini::Locator::Css(selector)).await.expect("where to press");
    found.send_keys(key).await.expect("a key pressed");
}

/// Presses a key and waits for the page that it leads to.
async fn press_and_leave(browser: &Browser, key: &str) {
    browser.evaluate("void (window.isLeft = true)").await;
    press(browser, "body", key).await;
    eventually(PATIENCE, &format!("{key} leads to a page"), async || {
        let script = "return window.isLeft === undefined && document.readyState === 'complete'";
        let is_there = browser.client().execute(script, vec![]).await;
        matches!(is_there, Ok(Value::Bool(true))).then_some(())
    })
    .await;
}
