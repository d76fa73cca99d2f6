//! The dashboard in a browser, with and without scripts: what a person does with an account once it is theirs.

use handbill_tests::{
    Agent, Browser, Human, Mode, PATIENCE, Scripts, Value, World, eventually, json, program,
};

use crate::expectations::{PAGE, PASSWORD, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::teams::claimed_by;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_looks_after_pages_credit_team_and_tokens() {
    look_after(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_a_person_looks_after_pages_credit_team_and_tokens() {
    look_after(Scripts::Refused).await;
}

/// Somebody in a browser of their own, with an account's dashboard before them.
struct BrowserSession {
    browser: Browser,
    dashboard: String,
    scripts: Scripts,
}

impl BrowserSession {
    /// Signs in and goes to the dashboard, by the pages alone.
    async fn take(world: &World, person: &str, scripts: Scripts) -> Self {
        let browser = Browser::start().await;
        browser.with_scripts(scripts).await;
        browser.open(&format!("{}/dashboard", world.base_url())).await;
        browser.fill("#username", person).await;
        browser.fill("#password", PASSWORD).await;
        browser.follow("button[value=sign_in]").await;
        let dashboard = format!("{}{}", world.base_url(), browser.path().await);
        Self { browser, dashboard, scripts }
    }

    async fn open(&self, below: &str) {
        self.browser.open(&format!("{}{below}", self.dashboard)).await;
        assert_eq!(self.browser.status().await, 200, "{below}");
    }

    /// Goes to a tab by its link.
    async fn turn_to(&self, tab: &str) {
        let number = ["Pages", "Usage", "Credit", "Team", "Tokens"].iter().position(|name| *name == tab);
        self.browser.follow(&format!(".tabs a:nth-child({})", number.expect("a tab") + 1)).await;
        assert_eq!(self.browser.text("[aria-current=page]").await, tab);
    }

    /// Answers the question behind a link with yes: in its dialog, or on its page where no scripts run.
    async fn confirm(&self, link: &str, name: &str) {
        match self.scripts {
            Scripts::Run => {
                self.browser.click(link).await;
                self.assert_yes_is_not_at_hand().await;
                self.inspect(&format!("{name}-dialog")).await;
                self.browser.follow("dialog[open] button.danger").await;
            }
            Scripts::Refused => {
                self.browser.follow(link).await;
                self.browser.inspect(&format!("dashboard-{name}")).await;
                self.browser.follow("main button.danger").await;
            }
        }
    }

    /// A question opens on the answer that takes nothing away, and tells what the other one does.
    async fn assert_yes_is_not_at_hand(&self) {
        let focused = "document.activeElement.matches('dialog[open] button.second')";
        assert_eq!(self.browser.evaluate(focused).await, Value::Bool(true));
        let described = "document.getElementById(document.querySelector('dialog[open]')\
                         .getAttribute('aria-describedby')).textContent.length > 20";
        assert_eq!(self.browser.evaluate(described).await, Value::Bool(true));
    }

    /// Without scripts the pages are the same, so they are inspected with them alone.
    async fn inspect(&self, name: &str) {
        if self.scripts == Scripts::Run {
            self.browser.inspect(&format!("dashboard-{name}")).await;
        }
    }

    async fn notice(&self) -> String {
        self.browser.text(".notice").await
    }
}

async fn look_after(scripts: Scripts) {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    let url = agent.publish("my-page", page_saying("first")).await.expect(201).string("url");
    agent.publish("my-page", page_saying("second")).field("message", "Say it better").await.expect(201);
    sign_up(&world, "bea").await;
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);

    let (_, other_owner) = claimed_by(&world, "cleo").await;
    let elsewhere = other_owner.invite(&json!({})).await.expect(201);
    owner.join(&elsewhere.string("invite_url")).await.expect(302);

    let seat = BrowserSession::take(&world, "ada", scripts).await;
    assert!(seat.dashboard.ends_with(&agent.handle()), "{}", seat.dashboard);
    roll_back(&seat, &agent, &url).await;
    let signed_url = make_private(&seat, &agent).await;
    open_signed_link(&world, &seat, &signed_url, &url).await;
    let guest = invite(&world, &seat, &agent).await;
    hand_out_a_token(&seat, &agent).await;
    remove(&seat, &guest).await;
    delete(&seat, &agent).await;
    seat.turn_to("Usage").await;
    seat.inspect("usage").await;
    seat.browser.click("main details:not(.switcher) summary").await;
    let today = seat.browser.text("tbody tr:first-child").await;
    assert_eq!(today.split_whitespace().last(), Some("2"), "two publishes today: {today}");
    seat.inspect("usage-table").await;
    switch_account(&seat).await;
    seat.browser.follow(".who button").await;
    assert_eq!(seat.browser.path().await, "/signin");
}

/// Goes to the other account, where another role has other buttons.
async fn switch_account(seat: &BrowserSession) {
    seat.browser.click(".switcher summary").await;
    seat.inspect("switcher").await;
    seat.browser.follow(".switcher a:not([aria-current])").await;
    let account = seat.browser.text(".account strong + .label").await;
    assert_eq!((seat.browser.status().await, account.as_str()), (200, "member"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_a_page_stands_beside_it() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    agent.publish("bad-page", SEED_PHRASE_FORM).await.expect(201);
    becomes(&agent, "bad-page", "blocked").await;
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let seat = BrowserSession::take(&world, "ada", Scripts::Run).await;
    assert!(seat.browser.text("table").await.contains("blocked"));
    seat.inspect("pages-blocked").await;
    seat.open("/pages/bad-page").await;
    assert!(seat.browser.text("main").await.contains("This version is not served."));
    seat.inspect("page-blocked").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_is_led_to_the_card_processor() {
    let world = World::with(Mode::Embedded, program!()).with_card_processor().start().await;
    let agent = world.agent().await;
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let seat = BrowserSession::take(&world, "ada", Scripts::Run).await;
    seat.turn_to("Credit").await;
    seat.inspect("credit-rails").await;
    seat.browser.fill("#card-amount", "20").await;
    seat.browser.follow("form[action$=checkout] button").await;
    seat.inspect("checkout").await;
    assert_eq!(seat.browser.text("h1").await, "Pay $20.00 by card");
    let link = seat.browser.evaluate("document.querySelector('main .button').href").await;
    let at_processor = format!("{}/pay/", world.card().url());
    assert!(link.as_str().is_some_and(|link| link.starts_with(&at_processor)), "{link}");
}

/// Somebody who has a sign-in.
async fn sign_up(world: &World, username: &str) -> Human {
    let person = world.human();
    person.register(username, PASSWORD).await.expect(201);
    person
}

async fn roll_back(seat: &BrowserSession, agent: &Agent, url: &str) {
    seat.inspect("pages").await;
    seat.browser.follow("tbody th a").await;
    seat.inspect("page").await;
    let framed = seat.browser.evaluate("document.querySelector('iframe').src").await;
    assert_eq!(framed, json!(format!("{url}?version=2")));
    assert_eq!(preview_of(&seat.browser).await, "second");
    seat.browser.follow("tbody tr:nth-child(2) button").await;
    assert!(seat.notice().await.contains("The version is live"));
    assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), 1);
    let live = seat.browser.text("tbody tr:nth-child(2) th").await;
    assert_eq!(live.split_whitespace().collect::<Vec<_>>(), ["1", "live"]);
    let forward = seat.browser.text("tbody tr:nth-child(1) button").await;
    assert!(forward.starts_with("Make live"), "{forward}");
    assert_eq!(preview_of(&seat.browser).await, "first");
    seat.inspect("page-rolled-back").await;
}

/// The text of the page in the frame, which loads when it comes into sight.
async fn preview_of(browser: &Browser) -> String {
    browser.evaluate("document.querySelector('iframe').scrollIntoView()").await;
    let client = browser.client();
    eventually(PATIENCE, "the preview is there", async || {
        client.clone().enter_frame(0).await.ok()?;
        let text = browser.text("body").await;
        client.clone().enter_parent_frame().await.expect("the dashboard");
        (!text.is_empty()).then_some(text)
    })
    .await
}

/// Reads the price, buys the credit that is missing, and makes the page private.
async fn make_private(seat: &BrowserSession, agent: &Agent) -> String {
    let button = ".choose:has(input[value=private]) button";
    assert_eq!(seat.browser.text(button).await, "Make private ($0.50 a month)");
    seat.browser.follow(button).await;
    assert!(seat.browser.path().await.ends_with("/credit"));
    assert!(seat.browser.text("[role=alert]").await.contains("you need $0.50 more"));
    seat.inspect("credit-missing").await;
    seat.browser.fill("#dev-amount", "0.2").await;
    seat.browser.follow("form[action$=top-up] button").await;
    assert_eq!(seat.browser.status().await, 400);
    assert!(seat.browser.text("#dev-amount-fault").await.contains("from 1 to 100"));
    seat.inspect("credit-refused").await;
    seat.browser.fill("#dev-amount", "5").await;
    seat.browser.follow("form[action$=top-up] button").await;
    assert!(seat.notice().await.contains("Credit added"));
    seat.browser.follow(button).await;
    assert!(seat.notice().await.contains("The page is now private"));
    seat.inspect("page-private").await;
    let shown = seat.browser.text("#address").await;
    assert_eq!(shown, agent.artifact("my-page").await.expect(200).string("signed_url"));
    seat.turn_to("Credit").await;
    assert!(seat.browser.text(".figures").await.contains("$4.50"));
    seat.inspect("credit").await;
    shown
}

/// Who has the signed link sees the page; the bare address shows nothing of it.
async fn open_signed_link(world: &World, seat: &BrowserSession, signed_url: &str, url: &str) {
    seat.open("/pages/my-page").await;
    let copies = seat.browser.evaluate("!document.querySelector('[data-copy=address]').hidden").await;
    assert_eq!(copies, json!(seat.scripts == Scripts::Run), "there is a button to copy if it can copy");
    let visitor = Browser::start().await;
    visitor.with_scripts(seat.scripts).await;
    visitor.open(signed_url).await;
    assert_eq!((visitor.status().await, visitor.text("body").await.as_str()), (200, "first"));
    visitor.open(url).await;
    assert_eq!(visitor.status().await, 403);
    visitor.open(&format!("{}/pages/my-page", seat.dashboard)).await;
    assert_eq!(visitor.path().await, "/signin", "{}", world.base_url());
}

/// Invites, at the second try, and a second person joins by the link.
async fn invite(world: &World, seat: &BrowserSession, agent: &Agent) -> BrowserSession {
    seat.turn_to("Team").await;
    seat.inspect("team").await;
    seat.browser.fill("#max_uses", "1000").await;
    seat.browser.follow("form[action$=invites] button").await;
    assert_eq!(seat.browser.status().await, 400);
    assert_eq!(seat.browser.text("#max_uses-fault").await, "This must be 1 to 100.");
    seat.inspect("team-refused").await;
    seat.browser.fill("#max_uses", "2").await;
    seat.browser.follow("form[action$=invites] button").await;
    assert!(seat.notice().await.contains("Invite created"));
    seat.inspect("team-invited").await;
    let link = seat.browser.text(".invite code").await;

    let guest = BrowserSession::take(world, "bea", seat.scripts).await;
    assert_eq!(guest.browser.path().await, "/dashboard");
    guest.inspect("none").await;
    guest.browser.open(&link).await;
    guest.browser.follow("main form button").await;
    assert!(guest.browser.text(".account").await.contains(&agent.handle()));
    let guest = BrowserSession { dashboard: seat.dashboard.clone(), ..guest };
    for tab in ["Credit", "Team", "Tokens"] {
        guest.turn_to(tab).await;
        guest.inspect(&format!("{}-of-a-member", tab.to_lowercase())).await;
    }
    seat.open("/team").await;
    seat.confirm(".invite [data-dialog]", "invite-revoke").await;
    assert!(seat.notice().await.contains("Invite revoked"));
    guest
}

async fn hand_out_a_token(seat: &BrowserSession, agent: &Agent) {
    seat.turn_to("Tokens").await;
    seat.inspect("tokens").await;
    if seat.scripts == Scripts::Run {
        let is_spent = "(form => {
            const button = form.querySelector('button');
            form.addEventListener('submit', event => event.preventDefault(), { once: true });
            button.click();
            const isSpent = button.disabled;
            button.disabled = false;
            return isSpent;
        })(document.querySelector('form[action$=mint]'))";
        assert_eq!(
            seat.browser.evaluate(is_spent).await,
            json!(true),
            "a second press would mint a second token"
        );
    }
    for scope in ["artifacts:write", "artifacts:read"] {
        seat.browser.click(&format!("[name='{scope}']")).await;
    }
    seat.browser.fill("#name", "deploy bot").await;
    seat.browser.follow("form[action$=mint] button").await;
    assert_eq!(seat.browser.status().await, 400);
    assert_eq!(seat.browser.text("#scopes-fault").await, "This needs at least one scope.");
    if seat.scripts == Scripts::Run {
        let focused = seat.browser.evaluate("document.activeElement.name").await;
        assert_eq!(focused, json!("artifacts:write"), "one goes on at the first tick");
    }
    seat.inspect("tokens-refused").await;
    for scope in ["artifacts:read", "tokens:manage"] {
        seat.browser.click(&format!("[name='{scope}']")).await;
    }
    seat.browser.follow("form[action$=mint] button").await;
    seat.inspect("tokens-minted").await;
    let bot = agent.with_token(&seat.browser.text("#secret").await);
    bot.artifacts().await.expect(200);
    let minted_by_bot = bot.minted(&json!({ "scopes": "artifacts:read" })).await;
    seat.turn_to("Tokens").await;
    assert_eq!(seat.browser.evaluate("document.body.innerText.includes('svc_sk_')").await, json!(false));
    seat.confirm("tbody tr:nth-child(2) [data-dialog]", "token-revoke").await;
    assert!(seat.notice().await.contains("Token revoked, with the tokens"));
    for ended in [&bot, &minted_by_bot] {
        ended.artifacts().await.refused(401, "unauthorized");
    }
}

/// The second person is removed, and loses the account at once.
async fn remove(seat: &BrowserSession, guest: &BrowserSession) {
    guest.open("").await;
    seat.turn_to("Team").await;
    seat.confirm("tbody tr:nth-child(2) [data-dialog]", "member-remove").await;
    assert!(seat.notice().await.contains("Member removed"));
    assert!(!seat.browser.text("main").await.contains("bea"));
    guest.browser.open(&guest.dashboard).await;
    assert_eq!(guest.browser.status().await, 403);
    guest.inspect("of-nobody").await;
    guest.browser.follow("main .button").await;
    assert_eq!(guest.browser.path().await, "/dashboard");
}

/// Somebody who thinks better of it keeps the page; then it is deleted.
async fn delete(seat: &BrowserSession, agent: &Agent) {
    seat.open("/pages/my-page").await;
    match seat.scripts {
        Scripts::Run => {
            seat.browser.click("[data-dialog=delete]").await;
            seat.browser.click("dialog[open] button.second").await;
            let is_open = seat.browser.evaluate("document.querySelector('dialog').open").await;
            assert_eq!(is_open, Value::Bool(false));
        }
        Scripts::Refused => {
            seat.browser.follow("[data-dialog=delete]").await;
            seat.browser.follow("main .button.second").await;
        }
    }
    agent.artifact("my-page").await.expect(200);
    seat.confirm("[data-dialog=delete]", "page-delete").await;
    assert!(seat.notice().await.contains("Page deleted"));
    seat.inspect("pages-none").await;
    agent.artifact("my-page").await.refused(404, "not_found");
}
