//! The moderation queue in a browser, with and without scripts: from signing in to a decision and its audit
//! entry.

use handbill_tests::{Browser, Mode, PATIENCE, Scripts, Value, World, eventually, json, program};

use crate::admin::OPERATOR_PASSWORD;
use crate::expectations::front_page;
use crate::moderation::becomes;
use crate::moderation_queue::{DOUBTFUL, report};

/// A page that the scan sends to review, with a style, an image, a script, and an image from another site.
const DRESSED: &str = "<html><head><link rel=\"stylesheet\" href=\"css/a.css\"></head><body><h1>PayPal</h1>\
    <img src=\"dot.svg\" alt=\"\"><img src=\"http://127.0.0.1:9/elsewhere.png\" alt=\"\">\
    <form><input type=\"password\" name=\"p\"></form><script>document.body.className = 'ran'</script></body></html>";
const DOT: &[u8] = b"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"7\" height=\"7\"/>";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moderator_processes_the_review_queue() {
    work_off(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_moderator_processes_the_review_queue() {
    work_off(Scripts::Refused).await;
}

async fn work_off(scripts: Scripts) {
    let setup = World::with(Mode::Embedded, program!());
    let world = setup.env("HANDBILL_SECRETS__OPERATOR_PASSWORD", OPERATOR_PASSWORD).start().await;
    let (agent, other) = (world.agent().await, world.agent().await);
    let files: [(&str, &[u8]); 3] =
        [("index.html", DRESSED.as_bytes()), ("css/a.css", b"h1 { color: rgb(1, 2, 3) }"), ("dot.svg", DOT)];
    let published = agent.publish_files("my-page", &files).await.expect(201);
    let copy = other.publish_files("a-copy", &files).await.expect(201);
    let plain = other.publish("plain", DOUBTFUL).await.expect(201);
    for (agent, slug) in [(&agent, "my-page"), (&other, "a-copy"), (&other, "plain")] {
        becomes(agent, slug, "review").await;
    }
    let host = published.string("host");
    report(&world, &host, "It looks like my bank.\nIt is not.").await.expect(201);

    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    sign_in(&browser, &world).await;
    // The reported page is first.
    assert_eq!(browser.text("tbody th a").await, host);
    inspect(&browser, scripts, "queue").await;
    browser.follow("tbody tr:first-child th a").await;
    assert_eq!(browser.path().await, format!("/admin/moderation/{host}"));
    let page = browser.text("main").await;
    for seen in ["asks for a password near a phishing lure", "It looks like my bank.", &copy.string("host")] {
        assert!(page.contains(seen), "{page}");
    }
    view_case(&browser).await;
    inspect(&browser, scripts, "page").await;

    browser.fill("#note", "A copy of PayPal.").await;
    browser.click("input[name=elsewhere]").await;
    browser.follow("button[value=block]").await;
    let notice = browser.text(".notice").await;
    assert!(notice.contains(&format!("{host} is blocked")) && notice.contains("1 other page"), "{notice}");
    for blocked in [&published, &copy] {
        front_page(&world.visitor(), blocked).await.expect(451);
    }
    // The next case opens.
    assert_eq!(browser.path().await, format!("/admin/moderation/{}", plain.string("host")));
    browser.follow("button[value=pass]").await;
    assert!(browser.text("main").await.contains("Nothing to review"));
    inspect(&browser, scripts, "queue-none").await;

    browser.follow(".states a:nth-child(2)").await;
    assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length").await, 2);
    inspect(&browser, scripts, "queue-blocked").await;
    browser.follow(".tabs a:nth-child(2)").await;
    let log = browser.text("table").await;
    assert!(log.contains("Ada Lovelace") && log.contains("A copy of PayPal."), "{log}");
    assert_eq!(browser.evaluate("document.querySelectorAll('tbody tr').length").await, 3);
    inspect(&browser, scripts, "audit").await;
    browser.follow(".who button").await;
    assert_eq!(browser.path().await, "/admin/signin");
    browser.open(&format!("{}/admin/moderation/{host}", world.base_url())).await;
    assert_eq!(browser.path().await, "/admin/signin");
}

/// Is redirected to the sign-in page, mistypes the password, and is returned to the requested page.
async fn sign_in(browser: &Browser, world: &World) {
    browser.open(&format!("{}/admin/moderation", world.base_url())).await;
    assert_eq!(browser.path().await, "/admin/signin");
    browser.inspect("admin-signin").await;
    browser.fill("#name", "Ada Lovelace").await;
    browser.fill("#password", "wrong").await;
    browser.follow("main form button").await;
    assert_eq!(browser.status().await, 401);
    assert_eq!(browser.text("#password-fault").await, "Wrong name or password.");
    browser.inspect("admin-signin-wrong").await;
    browser.fill("#password", OPERATOR_PASSWORD).await;
    browser.follow("main form button").await;
    assert_eq!(browser.path().await, "/admin/moderation");
    assert!(browser.text(".masthead").await.contains("Ada Lovelace"));
}

/// The frame shows the page as visitors see it, without its active parts. Then its source.
async fn view_case(browser: &Browser) {
    in_frame(browser, "h1").await;
    let dressed = "getComputedStyle(document.querySelector('h1')).color";
    assert_eq!(browser.evaluate(dressed).await, "rgb(1, 2, 3)", "the page's own style");
    let pictures = "[...document.images].map(one => one.naturalWidth)";
    assert_eq!(browser.evaluate(pictures).await, json!([7, 0]), "the page's own picture alone");
    assert_eq!(browser.evaluate("document.body.className").await, "", "no script ran");
    out_of_frame(browser).await;

    browser.click("tbody tr td a[href*='/source/']").await;
    in_frame(browser, "pre").await;
    let shown = browser.evaluate("document.body.textContent").await;
    assert!(matches!(&shown, Value::String(text) if text.contains("<script>")), "{shown}");
    out_of_frame(browser).await;
}

async fn in_frame(browser: &Browser, selector: &str) {
    eventually(PATIENCE, &format!("{selector} in the frame"), async || {
        browser.client().enter_frame(0).await.ok()?;
        let script = format!("document.readyState === 'complete' && !!document.querySelector('{selector}')");
        if browser.evaluate(&script).await == Value::Bool(true) {
            return Some(());
        }
        out_of_frame(browser).await;
        None
    })
    .await;
}

async fn out_of_frame(browser: &Browser) {
    browser.client().enter_parent_frame().await.expect("the page around the frame");
}

/// The pages look the same without scripts, so that only those with scripts are inspected.
async fn inspect(browser: &Browser, scripts: Scripts, name: &str) {
    if scripts == Scripts::Run {
        browser.inspect(&format!("admin-{name}")).await;
    }
}
