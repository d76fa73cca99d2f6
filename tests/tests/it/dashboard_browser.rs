//! The dashboard in a browser, with and without scripts: what a person does with a claimed account.

use handbill_tests::{
    Agent, Browser, Human, Mode, PATIENCE, Scripts, Value, World, eventually, json, program,
};

use crate::expectations::{PAGE, PASSWORD, page_saying};
use crate::moderation::{SEED_PHRASE_FORM, becomes};
use crate::teams::claimed_by;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_manages_pages_credit_team_and_tokens() {
    manage(Scripts::Run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_scripts_person_manages_pages_credit_team_and_tokens() {
    manage(Scripts::Refused).await;
}

/// A person with a browser, at an account's dashboard.
pub(crate) struct BrowserSession {
    pub(crate) browser: Browser,
    dashboard: String,
    scripts: Scripts,
}

impl BrowserSession {
    /// Signs in and opens the dashboard by links alone.
    pub(crate) async fn take(world: &World, person: &str, scripts: Scripts) -> Self {
        let browser = Browser::start().await;
        browser.with_scripts(scripts).await;
        browser.open(&format!("{}/dashboard", world.base_url())).await;
        browser.fill("#username", person).await;
        browser.fill("#password", PASSWORD).await;
        browser.follow("button[value=sign_in]").await;
        let dashboard = format!("{}{}", world.base_url(), browser.path().await);
        Self { browser, dashboard, scripts }
    }

    pub(crate) async fn open(&self, below: &str) {
        self.browser.open(&format!("{}{below}", self.dashboard)).await;
        assert_eq!(self.browser.status().await, 200, "{below}");
    }

    /// Opens a tab by its link.
    async fn open_tab(&self, tab: &str) {
        let number = ["Pages", "Usage", "Credit", "Team", "Tokens"].iter().position(|name| *name == tab);
        self.browser.follow(&format!(".tabs a:nth-child({})", number.expect("a tab") + 1)).await;
        assert_eq!(self.browser.text("[aria-current=page]").await, tab);
    }

    /// Confirms the question behind a link: in its dialog, or without scripts on its page.
    pub(crate) async fn confirm(&self, link: &str, name: &str) {
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

    /// The focus of a confirmation is on the safe button, and the text describes the consequence.
    async fn assert_yes_is_not_at_hand(&self) {
        let focused = "document.activeElement.matches('dialog[open] button.second')";
        assert_eq!(self.browser.evaluate(focused).await, Value::Bool(true));
        let described = "document.getElementById(document.querySelector('dialog[open]')\
                         .getAttribute('aria-describedby')).textContent.length > 20";
        assert_eq!(self.browser.evaluate(described).await, Value::Bool(true));
    }

    /// The pages look the same without scripts, so that only those with scripts are inspected.
    pub(crate) async fn inspect(&self, name: &str) {
        if self.scripts == Scripts::Run {
            self.browser.inspect(&format!("dashboard-{name}")).await;
        }
    }

    pub(crate) async fn notice(&self) -> String {
        self.browser.text(".notice").await
    }
}

async fn manage(scripts: Scripts) {
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

    let session = BrowserSession::take(&world, "ada", scripts).await;
    assert!(session.dashboard.ends_with(&agent.handle()), "{}", session.dashboard);
    roll_back(&session, &agent, &url).await;
    let signed_url = make_private(&session, &agent).await;
    open_signed_link(&world, &session, &signed_url, &url).await;
    let guest = invite(&world, &session, &agent).await;
    hand_out_a_token(&session, &agent).await;
    remove(&session, &guest).await;
    delete(&session, &agent).await;
    session.open_tab("Usage").await;
    session.inspect("usage").await;
    session.browser.click("main details:not(.switcher) summary").await;
    let today = session.browser.text("details tbody tr:first-child").await;
    assert_eq!(today.split_whitespace().last(), Some("2"), "two publishes today: {today}");
    session.inspect("usage-table").await;
    switch_account(&session).await;
    session.browser.follow(".who button").await;
    assert_eq!(session.browser.path().await, "/signin");
}

/// Switches to the other account, where another role has other buttons.
async fn switch_account(session: &BrowserSession) {
    session.browser.click(".switcher summary").await;
    session.inspect("switcher").await;
    session.browser.follow(".switcher a:not([aria-current])").await;
    let account = session.browser.text(".account strong + .label").await;
    assert_eq!((session.browser.status().await, account.as_str()), (200, "member"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn moderation_status_is_shown_beside_its_page() {
    let world = World::with(Mode::Embedded, program!()).start().await;
    let agent = world.agent().await;
    agent.publish("my-page", PAGE).await.expect(201);
    agent.publish("bad-page", SEED_PHRASE_FORM).await.expect(201);
    becomes(&agent, "bad-page", "blocked").await;
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let session = BrowserSession::take(&world, "ada", Scripts::Run).await;
    assert!(session.browser.text(".pages").await.contains("blocked"));
    session.inspect("pages-blocked").await;
    session.open("/pages/bad-page").await;
    assert!(session.browser.text("main").await.contains("This version is not served."));
    session.inspect("page-blocked").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn person_is_sent_to_the_card_processor() {
    let world = World::with(Mode::Embedded, program!()).with_card_processor().start().await;
    let agent = world.agent().await;
    let owner = sign_up(&world, "ada").await;
    owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
    let session = BrowserSession::take(&world, "ada", Scripts::Run).await;
    session.open_tab("Credit").await;
    session.inspect("credit-rails").await;
    session.browser.click("form[action$=checkout] [value=other]").await;
    session.browser.fill("#card-amount", "20").await;
    session.browser.follow("form[action$=checkout] button").await;
    session.inspect("checkout").await;
    assert_eq!(session.browser.text("h1").await, "Pay $20.00 by card");
    let link = session.browser.evaluate("document.querySelector('main .button').href").await;
    let at_processor = format!("{}/pay/", world.card().url());
    assert!(link.as_str().is_some_and(|link| link.starts_with(&at_processor)), "{link}");
}

/// Creates a user account.
pub(crate) async fn sign_up(world: &World, username: &str) -> Human {
    let person = world.human();
    person.register(username, PASSWORD).await.expect(201);
    person
}

async fn roll_back(session: &BrowserSession, agent: &Agent, url: &str) {
    session.inspect("pages").await;
    session.browser.follow(".pages .what a").await;
    session.inspect("page").await;
    let framed = session.browser.evaluate("document.querySelector('iframe').src").await;
    let live = agent.artifact("my-page").await.expect(200).string("versions.0.url");
    assert_eq!(framed, json!(live), "the version's address, because views of it are not counted");
    assert_ne!(live, url);
    assert_eq!(preview_of(&session.browser).await, "second");
    look_at_changes(session).await;
    session.browser.follow("tbody tr:nth-child(2) button").await;
    assert!(session.notice().await.contains("The version is live"));
    assert_eq!(agent.artifact("my-page").await.expect(200).integer("version"), 1);
    let live = session.browser.text("tbody tr:nth-child(2) th").await;
    assert_eq!(live.split_whitespace().collect::<Vec<_>>(), ["1", "live"]);
    let forward = session.browser.text("tbody tr:nth-child(1) button").await;
    assert!(forward.starts_with("Make live"), "{forward}");
    assert_eq!(preview_of(&session.browser).await, "first");
    session.inspect("page-rolled-back").await;
}

/// Opens the changes of the second version by their link, and compares the other way round.
async fn look_at_changes(session: &BrowserSession) {
    session.browser.follow("tbody tr:first-child a[href*=changes]").await;
    assert_eq!(session.browser.status().await, 200);
    assert!(session.browser.text("caption").await.contains("1 changed"));
    let diff = session.browser.text("pre.diff").await;
    assert!(diff.contains("+++ b/index.html") && diff.contains("first") && diff.contains("second"), "{diff}");
    session.inspect("changes").await;
    session.browser.fill("#from", "live").await;
    session.browser.fill("#to", "1").await;
    session.browser.follow("form[action$=changes] button").await;
    let heading = session.browser.text("main").await;
    assert!(heading.contains("From version 2 to version 1"), "{heading}");
    session.open("/pages/my-page").await;
}

/// The text of the page in the frame, which loads when it scrolls into view.
async fn preview_of(browser: &Browser) -> String {
    browser.evaluate("document.querySelector('iframe').scrollIntoView()").await;
    let client = browser.client();
    eventually(PATIENCE, "the preview has loaded", async || {
        client.clone().enter_frame(0).await.ok()?;
        let text = browser.text("body").await;
        client.clone().enter_parent_frame().await.expect("the dashboard");
        (!text.is_empty()).then_some(text)
    })
    .await
}

/// Reads the price, buys the missing credit, and makes the page private.
async fn make_private(session: &BrowserSession, agent: &Agent) -> String {
    let (private, button) = ("[name=visibility][value=private]", "form[action$=visibility] button");
    assert!(session.browser.text("#price").await.contains("cost $0.50 a month"));
    session.browser.click(private).await;
    session.browser.follow(button).await;
    assert!(session.browser.path().await.ends_with("/credit"));
    assert!(session.browser.text("[role=alert]").await.contains("you need $0.50 more"));
    session.inspect("credit-missing").await;
    let offered = session.browser.evaluate("document.querySelector('[name=offer]:checked').value").await;
    assert_eq!(offered, json!("5"));
    session.browser.click("[name=offer][value=other]").await;
    session.browser.fill("#dev-amount", "0.2").await;
    session.browser.follow("form[action$=top-up] button").await;
    assert_eq!(session.browser.status().await, 400);
    assert!(session.browser.text("#dev-amount-fault").await.contains("from 1 to 100"));
    session.inspect("credit-refused").await;
    session.browser.fill("#dev-amount", "5").await;
    session.browser.follow("form[action$=top-up] button").await;
    assert!(session.notice().await.contains("Credit added"));
    session.browser.click(private).await;
    session.browser.follow(button).await;
    assert!(session.notice().await.contains("The page is now private"));
    session.inspect("page-private").await;
    let shown = session.browser.text("#address").await;
    assert_eq!(shown, agent.artifact("my-page").await.expect(200).string("signed_url"));
    let shown = replace_link(session, agent, &shown).await;
    session.open_tab("Credit").await;
    assert!(session.browser.text(".figures").await.contains("$4.50"));
    session.inspect("credit").await;
    shown
}

/// Replaces the link of the open page after a confirmation, and returns the new one.
async fn replace_link(session: &BrowserSession, agent: &Agent, old: &str) -> String {
    session.confirm("[data-dialog=private-link]", "link-replace").await;
    assert!(session.notice().await.contains("Link replaced"));
    let new = session.browser.text("#address").await;
    assert_ne!(new, old);
    assert_eq!(new, agent.artifact("my-page").await.expect(200).string("signed_url"));
    new
}

/// The signed link shows the page. The bare address shows nothing of it.
async fn open_signed_link(world: &World, session: &BrowserSession, signed_url: &str, url: &str) {
    session.open("/pages/my-page").await;
    let copies = session.browser.evaluate("!document.querySelector('[data-copy=address]').hidden").await;
    assert_eq!(copies, json!(session.scripts == Scripts::Run), "there is a button to copy if it can copy");
    let visitor = Browser::start().await;
    visitor.with_scripts(session.scripts).await;
    visitor.open(signed_url).await;
    assert_eq!((visitor.status().await, visitor.text("body").await.as_str()), (200, "first"));
    visitor.open(url).await;
    assert_eq!(visitor.status().await, 403);
    visitor.open(&format!("{}/pages/my-page", session.dashboard)).await;
    assert_eq!(visitor.path().await, "/signin", "{}", world.base_url());
}

/// Invites after one mistake, and a second person joins by the link.
async fn invite(world: &World, session: &BrowserSession, agent: &Agent) -> BrowserSession {
    session.open_tab("Team").await;
    session.inspect("team").await;
    session.browser.fill("#max_uses", "1000").await;
    session.browser.follow("form[action$=invites] button").await;
    assert_eq!(session.browser.status().await, 400);
    assert_eq!(session.browser.text("#max_uses-fault").await, "This must be 1 to 100.");
    session.inspect("team-refused").await;
    session.browser.fill("#max_uses", "2").await;
    session.browser.follow("form[action$=invites] button").await;
    assert!(session.notice().await.contains("Invite created"));
    session.inspect("team-invited").await;
    let link = session.browser.text(".invite code").await;

    let guest = BrowserSession::take(world, "bea", session.scripts).await;
    assert_eq!(guest.browser.path().await, "/dashboard");
    guest.inspect("none").await;
    guest.browser.open(&link).await;
    guest.browser.follow("main form button").await;
    assert!(guest.browser.text(".account").await.contains(&agent.handle()));
    let guest = BrowserSession { dashboard: session.dashboard.clone(), ..guest };
    for tab in ["Credit", "Team", "Tokens"] {
        guest.open_tab(tab).await;
        guest.inspect(&format!("{}-of-a-member", tab.to_lowercase())).await;
    }
    session.open("/team").await;
    session.confirm(".invite [data-dialog]", "invite-revoke").await;
    assert!(session.notice().await.contains("Invite revoked"));
    guest
}

async fn hand_out_a_token(session: &BrowserSession, agent: &Agent) {
    session.open_tab("Tokens").await;
    session.inspect("tokens").await;
    if session.scripts == Scripts::Run {
        let is_spent = "(form => {
            const button = form.querySelector('button');
            form.addEventListener('submit', event => event.preventDefault(), { once: true });
            button.click();
            const isSpent = button.disabled;
            button.disabled = false;
            return isSpent;
        })(document.querySelector('form[action$=mint]'))";
        assert_eq!(
            session.browser.evaluate(is_spent).await,
            json!(true),
            "a second press would mint a second token"
        );
    }
    session.browser.click("[name=preset][value=custom]").await;
    for scope in ["artifacts:write", "artifacts:read"] {
        session.browser.click(&format!("[name='{scope}']")).await;
    }
    session.browser.fill("#name", "deploy bot").await;
    session.browser.follow("form[action$=mint] button").await;
    assert_eq!(session.browser.status().await, 400);
    assert_eq!(session.browser.text("#scopes-fault").await, "This needs at least one scope.");
    if session.scripts == Scripts::Run {
        let focused = session.browser.evaluate("document.activeElement.name").await;
        assert_eq!(focused, json!("artifacts:write"), "one goes on at the first tick");
    }
    session.inspect("tokens-refused").await;
    for scope in ["artifacts:read", "tokens:manage"] {
        session.browser.click(&format!("[name='{scope}']")).await;
    }
    session.browser.follow("form[action$=mint] button").await;
    session.inspect("tokens-minted").await;
    let secret = session.browser.text("#secret").await;
    let bot = agent.with_token(&secret);
    bot.artifacts().await.expect(200);
    let minted_by_bot = bot.minted(&json!({ "scopes": "artifacts:read" })).await;
    session.open_tab("Tokens").await;
    let shown = session.browser.evaluate(&format!("document.body.innerText.includes('{secret}')")).await;
    assert_eq!(shown, json!(false));
    session.confirm("tbody tr:nth-child(2) [data-dialog]", "token-revoke").await;
    assert!(session.notice().await.contains("Token revoked, with the tokens"));
    for ended in [&bot, &minted_by_bot] {
        ended.artifacts().await.refused(401, "unauthorized");
    }
}

/// The second person is removed, and loses access at once.
async fn remove(session: &BrowserSession, guest: &BrowserSession) {
    guest.open("").await;
    session.open_tab("Team").await;
    session.confirm("tbody tr:nth-child(2) [data-dialog]", "member-remove").await;
    assert!(session.notice().await.contains("Member removed"));
    assert!(!session.browser.text("main").await.contains("bea"));
    guest.browser.open(&guest.dashboard).await;
    assert_eq!(guest.browser.status().await, 403);
    guest.inspect("of-nobody").await;
    guest.browser.follow("main .button").await;
    assert_eq!(guest.browser.path().await, "/dashboard");
}

/// Cancelling keeps the page. Then it is deleted.
async fn delete(session: &BrowserSession, agent: &Agent) {
    session.open("/pages/my-page").await;
    match session.scripts {
        Scripts::Run => {
            session.browser.click("[data-dialog=delete]").await;
            session.browser.click("dialog[open] button.second").await;
            let is_open = session.browser.evaluate("document.querySelector('dialog').open").await;
            assert_eq!(is_open, Value::Bool(false));
        }
        Scripts::Refused => {
            session.browser.follow("[data-dialog=delete]").await;
            session.browser.follow("main .button.second").await;
        }
    }
    agent.artifact("my-page").await.expect(200);
    session.confirm("[data-dialog=delete]", "page-delete").await;
    assert!(session.notice().await.contains("Page deleted"));
    session.inspect("pages-none").await;
    agent.artifact("my-page").await.refused(404, "not_found");
}
