//! The pages for people in a browser, with and without scripts: from an agent's link to a claimed account, a
//! second person who joins, and every state of a link.

use std::process::Command;
use std::time::Duration;

use handbill_tests::{
    Agent, Browser, Mode, PATIENCE, Screen, Scripts, Value, World, eventually, json, program,
};

use crate::expectations::{PAGE, PASSWORD, assert_serves};
use crate::teams::claimed_by;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_claims_an_agents_account_and_another_joins() {
    from_claim_to_join(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_person_claims_an_agents_account_and_another_joins() {
    from_claim_to_join(Scripts::Refused).await;
}

async fn from_claim_to_join(scripts: Scripts) {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let published = agent.publish("my-page", PAGE).await.expect(201).string("url");
    // As another visitor, because a browser caches what it has shown for a minute.
    assert_serves(&world.visitor().open(&published).await, PAGE);
    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    claim(&browser, &agent, &published, scripts).await;

    let owner = world.human();
    owner.login("ada", PASSWORD).await.expect(200);
    let invite = owner.invite(&json!({ "role": "member" })).await.expect(201).string("invite_url");
    join(&world, &invite, &agent.handle(), scripts).await;
    let team = owner.members().await.expect(200);
    assert_eq!(
        (team.string("members.0.username"), team.string("members.1.username")),
        ("ada".into(), "bea".into())
    );
}

/// Opens the claim link, creates a user account after one mistake, claims, and sees the page without its
/// badge.
async fn claim(browser: &Browser, agent: &Agent, published: &str, scripts: Scripts) {
    let with = suffix(scripts);
    let claim_url = agent.account().await.expect(200).string("claim_url");
    browser.open(&claim_url).await;
    let text = browser.text("main").await;
    assert!(text.contains(&agent.handle()) && text.contains("my-page"), "{text}");
    time_runs(browser, scripts).await;
    browser.inspect(&format!("claim{with}")).await;

    claim_as_new(browser, "Ada", "weak").await;
    assert_eq!(browser.status().await, 400);
    assert!(browser.title().await.starts_with("Error: "));
    assert!(browser.text("#password-fault").await.contains("10 to 200 characters"));
    assert_eq!(browser.evaluate("document.querySelector('#username').value").await, "Ada");
    assert_eq!(browser.evaluate("document.querySelector('#password').value").await, "");
    browser.inspect(&format!("claim-weak-password{with}")).await;

    // A mistyped username does not create a new owner.
    browser.click("[name=action][value=sign_in]").await;
    assert_eq!(browser.text("#claim button").await, "Sign in and claim");
    let purpose = browser.evaluate("document.querySelector('#password').autocomplete").await;
    let expected = if scripts == Scripts::Run { "current-password" } else { "new-password" };
    assert_eq!(purpose, expected);
    browser.fill("#username", "Adaa").await;
    browser.fill("#password", PASSWORD).await;
    browser.follow("#claim button").await;
    assert_eq!(browser.status().await, 401);
    assert_eq!(browser.evaluate("document.querySelector('[value=sign_in]').checked").await, true);
    browser.inspect(&format!("claim-wrong{with}")).await;
    claim_as_new(browser, "Ada", PASSWORD).await;
    assert!(browser.path().await.ends_with("/welcome"), "{}", browser.path().await);
    browser.inspect(&format!("welcome{with}")).await;
    assert!(browser.path().await.starts_with("/dashboard"));
    assert!(browser.text("main").await.contains("my-page"));
    browser.open(published).await;
    assert_eq!(browser.text("body").await, "Hello");

    browser.open(&claim_url).await;
    assert_eq!(browser.status().await, 409);
    browser.inspect(&format!("claim-already-claimed{with}")).await;
    browser.follow("main .button").await;
    assert!(browser.path().await.starts_with("/dashboard"));
}

/// The time in the server's text, or a running clock.
async fn time_runs(browser: &Browser, scripts: Scripts) {
    let first = browser.text("main time").await;
    match scripts {
        Scripts::Refused => assert_eq!(first, "29 minutes"),
        Scripts::Run => {
            assert!(first.starts_with("29:") || first == "30:00", "{first}");
            eventually(PATIENCE, "the time runs", async || {
                (browser.text("main time").await != first).then_some(())
            })
            .await;
        }
    }
}

/// A second person in a browser of their own opens the invite, creates a user account on the way, and joins.
async fn join(world: &World, invite_url: &str, handle: &str, scripts: Scripts) {
    let with = suffix(scripts);
    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    browser.open(invite_url).await;
    assert_eq!(browser.text("h1").await, "Join ada");
    let text = browser.text("main").await;
    assert!(text.contains(handle) && text.contains("ada invites you"), "{text}");
    browser.inspect(&format!("invite{with}")).await;
    browser.follow("main .button").await;
    browser.inspect(&format!("signin{with}")).await;
    browser.fill("#new-username", "bea").await;
    browser.fill("#new-password", PASSWORD).await;
    browser.follow("button[value=register]").await;
    assert!(invite_url.ends_with(&browser.path().await), "back at the invite");
    browser.inspect(&format!("invite-signed-in{with}")).await;
    browser.follow("main form button").await;
    assert!(browser.path().await.starts_with("/dashboard"));
    assert!(browser.text("main").await.contains("my-page"));

    browser.open(&format!("{}/signin?next=/report", world.base_url())).await;
    assert!(browser.text(".notice").await.contains("bea"));
    browser.inspect(&format!("signin-signed-in{with}")).await;
    browser.follow(".notice a").await;
    assert_eq!(browser.path().await, "/report");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_published_from_the_front_page() {
    from_front_page(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_a_page_is_published_from_the_front_page() {
    from_front_page(Scripts::Refused).await;
}

async fn from_front_page(scripts: Scripts) {
    let with = suffix(scripts);
    let world = World::with(Mode::Embedded, program!()).start().await;
    let browser = Browser::start().await;
    browser.with_scripts(scripts).await;
    browser.open(&world.base_url()).await;
    browser.inspect(&format!("home{with}")).await;
    let copy = browser.evaluate("!document.querySelector('[data-copy]').hidden").await;
    assert_eq!(copy, json!(scripts == Scripts::Run), "there is a button to copy if it can copy");

    browser.click("details summary").await;
    browser.fill("#html", "<h1>From the field</h1>").await;
    browser.follow("form.paste button").await;
    assert_eq!(browser.status().await, 200);
    browser.inspect(&format!("published{with}")).await;
    let (url, token) = (browser.text("#url").await, browser.text("#token").await);
    let claim_url = browser.text("#claim-url").await;
    if scripts == Scripts::Run {
        browser.click("[data-copy=token]").await;
        eventually(PATIENCE, "the token was copied", async || {
            let reported = browser.text("[data-copy=token]").await;
            (reported == "Copied" || reported == "Selected").then_some(())
        })
        .await;
        eventually(PATIENCE, "the button says again what it copies", async || {
            let hidden =
                browser.evaluate("document.querySelector('[data-copy=token] .unseen')?.textContent").await;
            (hidden == json!(" the token")).then_some(())
        })
        .await;
    }
    let result = format!("{}{}", world.base_url(), browser.path().await);
    browser.open(&result).await;
    let text = browser.text("main").await;
    assert!(text.contains("was shown once") && !text.contains("svc_sk_"), "{text}");
    assert_eq!(
        (browser.text("#url").await, browser.text("#claim-url").await),
        (url.clone(), claim_url.clone())
    );
    browser.inspect(&format!("published-again{with}")).await;
    let agent = world.stranger().with_token(&token);
    let slug = agent.artifacts().await.expect(200).string("0.slug");
    assert_eq!(agent.artifact(&slug).await.expect(200).string("versions.0.created_via"), "web");
    agent.publish(&slug, "<h1>By the token</h1>").await.expect(201);
    browser.open(&url).await;
    assert!(browser.text("body").await.contains("By the token"));
    browser.open(&claim_url).await;
    assert_eq!(browser.status().await, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sample_page_is_published_with_one_click() {
    for scripts in [Scripts::Run, Scripts::Refused] {
        let world = World::with(Mode::Embedded, program!()).start().await;
        let browser = Browser::start().await;
        browser.with_scripts(scripts).await;
        browser.open(&world.base_url()).await;
        browser.follow("form.sample button").await;
        assert!(browser.path().await.starts_with("/published/"));
        assert!(browser.text(".glance").await.contains("Sales in the third quarter"));
        let url = browser.text("#url").await;
        browser.open(&url).await;
        assert_eq!(browser.text("h1").await, "Sales in the third quarter");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claim_button_is_visible_on_a_phone_without_scrolling() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    let browser = Browser::start().await;
    browser.show_on(Screen::Phone).await;
    browser.open(&agent.account().await.expect(200).string("claim_url")).await;
    let end =
        browser.evaluate("document.querySelector('#claim button').getBoundingClientRect().bottom").await;
    assert!(end.as_f64().unwrap() <= 844.0, "the button ends at {end}");
    let preview = browser.evaluate("document.querySelector('.frame').getBoundingClientRect().bottom").await;
    assert!(preview.as_f64() < end.as_f64(), "the page comes first");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn curl_command_on_the_front_page_works_unchanged() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let browser = Browser::start().await;
    browser.open(&world.base_url()).await;
    let command = browser.text("#curl").await;
    let done =
        Command::new("sh").args(["-c", &command]).current_dir(world.folder()).output().expect("a shell");
    let answer = String::from_utf8_lossy(&done.stdout).into_owned();
    let answer: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("{done:?}"));
    browser.open(answer["url"].as_str().expect("a page's address")).await;
    assert_eq!(browser.text("h1").await, "Hello");
    let kept =
        std::fs::read_to_string(world.folder().join("handbill.json")).expect("what the signup answered");
    assert!(kept.contains("claim_url") && kept.contains("svc_sk_"), "{kept}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_is_reported() {
    for scripts in [Scripts::Run, Scripts::Refused] {
        let with = suffix(scripts);
        let world = World::with(Mode::Embedded, program!()).start().await;
        let published = world.agent().await.publish("my-page", PAGE).await.expect(201);
        let browser = Browser::start().await;
        browser.with_scripts(scripts).await;
        browser.open(&format!("{}/report?host={}", world.base_url(), published.string("host"))).await;
        browser.inspect(&format!("report{with}")).await;
        browser.fill("#host", "no-such-page-0000").await;
        browser.fill("#reason", "It asks for my password.").await;
        browser.follow("main form button").await;
        assert_eq!(browser.status().await, 404);
        assert!(browser.text("#host-fault").await.contains("No page has this name"));
        browser.inspect(&format!("report-unknown{with}")).await;
        // The whole address works as well as the host, and the typed text stays in the form.
        browser.fill("#host", &published.string("url")).await;
        browser.follow("main form button").await;
        assert_eq!((browser.status().await, browser.path().await.as_str()), (200, "/report/thanks"));
        assert_eq!(browser.text("h1").await, "Thank you");
        browser.inspect(&format!("reported{with}")).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unusable_link_says_why_and_shows_the_next_step() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let (_, owner) = claimed_by(&world, "olga").await;
    let made = async |terms| owner.invite(&terms).await.expect(201).string("invite_url");
    let (used_up, revoked) = (made(json!({})).await, made(json!({})).await);
    let expired = made(json!({ "ttl_hours": 1 })).await;
    world.stranger().join(code_of(&used_up)).await.expect(201);
    owner.revoke_invite(code_of(&revoked)).await.expect(200);
    let unclaimed = world.agent().await.account().await.expect(200).string("claim_url");
    world.advance(61 * MINUTE);

    let browser = Browser::start().await;
    let nowhere = |path: &str| format!("{}{path}", world.base_url());
    for (address, status, name, onward) in [
        (unclaimed, 410, "claim-expired", "/"),
        (nowhere("/claim/0123456789abcdefghijABCDEFGHIJxy"), 404, "claim-unknown", "/"),
        (used_up, 409, "invite-used-up", "/signin"),
        (revoked, 409, "invite-revoked", "/signin"),
        (expired, 409, "invite-expired", "/signin"),
        (nowhere("/invite/0123456789abcdefghijABCD"), 404, "invite-unknown", "/"),
    ] {
        browser.open(&address).await;
        assert_eq!(browser.status().await, status, "{name}");
        browser.inspect(name).await;
        browser.follow("main .button").await;
        assert_eq!((browser.status().await, browser.path().await.as_str()), (200, onward), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expired_countdown_reloads_the_page() {
    let lifetime = ("HANDBILL_LIMITS__PROVISIONAL_LIFETIME", "6s");
    let world = World::with(Mode::Embedded, program!()).env(lifetime.0, lifetime.1).start().await;
    let browser = Browser::start().await;
    let claim_url = world.agent().await.account().await.expect(200).string("claim_url");
    browser.open(&claim_url).await;
    assert_eq!(browser.status().await, 200);
    eventually(PATIENCE, "the page says that the account has expired", async || {
        browser.title().await.contains("expired").then_some(())
    })
    .await;
    let shown = world.logs().lines().filter(|line| is_claim_shown(line)).count();
    assert_eq!(shown, 2, "it was opened once, and asked once more when the time was up");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn refused_sign_in_shows_the_reason_beside_the_field() {
    let setup = World::with(Mode::Embedded, program!());
    let world = setup.env("HANDBILL_LIMITS__LOGINS_PER_MINUTE", "2").start().await;
    world.human().register("ada", PASSWORD).await.expect(201);
    let browser = Browser::start().await;
    browser.with_scripts(Scripts::Refused).await;
    browser.open(&format!("{}/signin?next=/report", world.base_url())).await;

    create(&browser, "ada", PASSWORD).await;
    assert!(browser.text("#new-username-fault").await.contains("taken"));
    browser.inspect("signin-username-taken").await;
    create(&browser, "bea", "password").await;
    let reported = browser.text("#new-password-fault").await;
    assert!(
        reported.contains("10 to 200") && reported.contains("two of") && reported.contains("common"),
        "{reported}"
    );
    browser.inspect("signin-weak-password").await;
    create(&browser, "b!", PASSWORD).await;
    assert!(browser.text("#new-username-fault").await.contains("3 to 30"));

    let mut reported = Vec::new();
    for username in ["ada", "nobody"] {
        sign_in(&browser, username, "wrong horse battery").await;
        assert_eq!(browser.status().await, 401);
        reported.push(browser.text("#password-fault").await);
    }
    assert_eq!(reported[0], reported[1], "the response must not reveal whether a name exists");
    browser.inspect("signin-wrong").await;
    sign_in(&browser, "ada", PASSWORD).await;
    assert_eq!(browser.status().await, 429);
    assert!(browser.text("[role=alert]").await.contains(" seconds"));
    browser.inspect("signin-rate-limited").await;
    world.advance(MINUTE);
    // After all of that the destination is still known.
    sign_in(&browser, "ada", PASSWORD).await;
    assert_eq!((browser.status().await, browser.path().await.as_str()), (200, "/report"));
}

/// Sends the form of a claim page with a new user account.
async fn claim_as_new(browser: &Browser, username: &str, password: &str) {
    browser.click("[name=action][value=register]").await;
    assert_eq!(browser.text("#claim button").await, "Create account and claim");
    browser.fill("#username", username).await;
    browser.fill("#password", password).await;
    browser.follow("#claim button").await;
}

async fn create(browser: &Browser, username: &str, password: &str) {
    browser.fill("#new-username", username).await;
    browser.fill("#new-password", password).await;
    browser.follow("button[value=register]").await;
}

async fn sign_in(browser: &Browser, username: &str, password: &str) {
    browser.fill("#username", username).await;
    browser.fill("#password", password).await;
    browser.follow("button[value=sign_in]").await;
}

/// Whether a log line is about a GET of a claim page.
fn is_claim_shown(line: &str) -> bool {
    line.contains("request answered") && line.contains("GET") && line.contains("/claim/")
}

fn code_of(address: &str) -> &str {
    address.rsplit('/').next().expect("a code")
}

/// The suffix of the screenshots' names.
fn suffix(scripts: Scripts) -> &'static str {
    if scripts == Scripts::Run { "" } else { "-no-script" }
}
