//! The list of pages in a browser: a page is shown before it is opened, links are copied, and pages are
//! changed together, with and without scripts.

use handbill_tests::{
    Agent, Browser, Mode, PATIENCE, Screen, Scripts, Value, World, eventually, json, program,
};

use crate::expectations::{PASSWORD, page_saying};

/// A signed-in person at the list of an account with two pages.
pub(crate) async fn at_the_list(world: &World, scripts: Scripts) -> (Agent, Browser, String) {
    let agent = world.agent().await;
    for slug in ["one-page", "two-page"] {
        agent.publish(slug, page_saying(slug)).await.expect(201);
    }
    let person = world.human();
    person.register("ada", PASSWORD).await.expect(201);
    person.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    browser.open(&format!("{}/dashboard", world.base_url())).await;
    browser.fill("#username", "ada").await;
    browser.fill("#password", PASSWORD).await;
    browser.follow("button[value=sign_in]").await;
    let list = format!("{}{}", world.base_url(), browser.path().await);
    (agent, browser, list)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_is_previewed_while_it_is_pointed_at_and_no_view_is_counted() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (agent, browser, _) = at_the_list(&world, Scripts::Run).await;
    let frames = "document.querySelectorAll('iframe').length";
    assert_eq!(browser.evaluate(frames).await, json!(0));
    let point = "document.querySelector('[data-preview]')\
                 .dispatchEvent(new PointerEvent('pointerenter', { pointerType: 'mouse' }))";
    browser.evaluate(point).await;
    let shown = "document.querySelector('.peek:not([hidden]) iframe')?.src ?? ''";
    let source = eventually(PATIENCE, "the preview is shown", async || {
        let source = browser.evaluate(shown).await;
        source.as_str().filter(|source| !source.is_empty()).map(str::to_owned)
    })
    .await;
    let newest = agent.artifact("two-page").await.expect(200);
    assert_eq!(json!(source), newest.at("versions.0.url"));
    browser.evaluate("document.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))").await;
    assert_eq!(browser.evaluate(frames).await, json!(0));
    // With the keyboard alone.
    browser.evaluate("document.querySelectorAll('[data-preview]')[1].focus({ focusVisible: true })").await;
    eventually(PATIENCE, "the preview of the next page is shown", async || {
        (browser.evaluate(frames).await == json!(1)).then_some(())
    })
    .await;
    let list = agent.artifacts().await.expect(200).json();
    assert!(list.as_array().unwrap().iter().all(|page| page["views_month"] == 0), "{list}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn preview_beside_the_facts_of_a_page_has_the_width_of_a_desktop() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (_, browser, list) = at_the_list(&world, Scripts::Refused).await;
    browser.show_on(Screen::Desktop).await;
    browser.open(&format!("{list}/pages/one-page")).await;
    let widths = "(() => { const frame = document.querySelector('iframe'), column = frame.parentElement;\
         const widths = [frame.getBoundingClientRect().width, frame.offsetWidth];\
         return widths.map((width) => Math.round(10 * width / column.clientWidth)); })()";
    assert_eq!(browser.evaluate(widths).await, json!([10, 20]), "twice the width at half scale");
    let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth";
    assert_eq!(browser.evaluate(overflow).await, json!(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_found_and_deleted_together_with_scripts() {
    find_and_delete(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_are_found_and_deleted_together_without_scripts() {
    find_and_delete(Scripts::Refused).await;
}

async fn find_and_delete(scripts: Scripts) {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (agent, browser, list) = at_the_list(&world, scripts).await;
    let can_copy = browser.evaluate("document.querySelector('[data-copy-link]').hidden").await;
    assert_eq!(can_copy, Value::Bool(scripts == Scripts::Refused));
    browser.fill("#q", "two").await;
    browser.follow(".find button").await;
    assert_eq!(browser.text(".pages .what a").await, "two-page");
    browser.open(&list).await;
    // Changes are offered when there is something to change.
    let offered = "getComputedStyle(document.querySelector('.changes')).display !== 'none'";
    assert_eq!(browser.evaluate(offered).await, json!(false));
    match scripts {
        Scripts::Run => browser.click("[data-ticks=page]").await,
        Scripts::Refused => {
            browser.click("[name=page][value=one-page]").await;
            browser.click("[name=page][value=two-page]").await;
        }
    }
    assert_eq!(browser.evaluate(offered).await, json!(true));
    browser.follow("button[value=delete]").await;
    assert_eq!(browser.text("h1").await, "Delete 2 pages?");
    browser.follow("main button.danger").await;
    assert!(browser.text(".notice").await.contains("Pages deleted"));
    for slug in ["one-page", "two-page"] {
        agent.artifact(slug).await.refused(404, "not_found");
    }
}
