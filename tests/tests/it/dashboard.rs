//! The dashboard as its forms are posted: what each role sees and may, what is told beside a field, and that nobody
//! sees or changes another's account.

use handbill_tests::{Agent, Call, Human, Mood, Processor, Reply, in_both_modes, json};

use crate::expectations::{PAGE, PASSWORD, assert_page, page_saying, sound_ledger};
use crate::teams::{claimed_by, joined_as, person};

const BROWSER: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
/// The tabs of an account.
const TABS: [&str; 5] = ["", "/usage", "/credit", "/team", "/tokens"];

/// Somebody at an account's dashboard, in a browser.
struct Desk<'a> {
    person: &'a Human,
    handle: String,
}

impl<'a> Desk<'a> {
    fn of(person: &'a Human, agent: &Agent) -> Self {
        Self { person, handle: agent.handle() }
    }

    fn path(&self, below: &str) -> String {
        format!("/dashboard/{}{below}", self.handle)
    }

    fn get(&self, below: &str) -> Call {
        self.person.get(&self.path(below)).header("Accept", BROWSER)
    }

    /// A page of the account, which is there.
    async fn open(&self, below: &str) -> String {
        let page = self.get(below).await;
        assert_page(&page, 200);
        page.text()
    }

    fn post(&self, below: &str, fields: &[(&str, &str)]) -> Call {
        self.person.post(&self.path(below)).header("Accept", BROWSER).form(fields)
    }

    /// Posts a form that does what it says, and opens the page to which it leads.
    async fn submit(&self, below: &str, fields: &[(&str, &str)]) -> String {
        let done = self.post(below, fields).await.expect(302);
        let page = self.person.get(done.header("Location")).header("Accept", BROWSER).await;
        let page = match page.status {
            302 => self.person.get(page.header("Location")).header("Accept", BROWSER).await,
            _ => page,
        };
        assert_page(&page, 200);
        page.text()
    }
}

/// The page once more, with this told beside the field.
#[track_caller]
fn assert_fault(reply: &Reply, status: u16, field: &str, told: &str) {
    assert_page(reply, status);
    let text = reply.text();
    let beside = format!("<p class=\"fault\" id=\"{field}-fault\">{told}");
    assert!(text.contains(&beside), "{beside} is missing: {text}");
    assert!(text.contains("aria-invalid=\"true\"") && text.contains(&format!("{field}-fault\"")), "{text}");
}

/// The page once more, with this told above the form.
#[track_caller]
fn assert_warned(reply: &Reply, status: u16, told: &str) {
    assert_page(reply, status);
    assert!(reply.text().contains("role=\"alert\"") && reply.text().contains(told), "{reply:?}");
}

#[track_caller]
fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}

/// What stands between two texts.
#[track_caller]
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let start = text.find(before).unwrap_or_else(|| panic!("{before} is missing: {text}")) + before.len();
    &text[start..start + text[start..].find(after).expect("an end")]
}

/// Every address that takes a form, with one that would change something.
fn forms<'a>(member_id: &str, token_id: &str, code: &str) -> Vec<(String, Vec<(&'a str, &'a str)>)> {
    vec![
        ("/pages/my-page/activate".into(), vec![("version", "1")]),
        ("/pages/my-page/visibility".into(), vec![("visibility", "private")]),
        ("/pages/my-page/delete".into(), vec![]),
        ("/credit/top-up".into(), vec![("amount_usd", "5")]),
        ("/credit/checkout".into(), vec![("amount_usd", "5")]),
        ("/team/agent-join".into(), vec![("allow", "false")]),
        ("/team/invites".into(), vec![("role", "admin"), ("max_uses", "1"), ("ttl_hours", "1")]),
        (format!("/team/invites/{code}/revoke"), vec![]),
        (format!("/team/members/{member_id}/remove"), vec![]),
        ("/tokens/mint".into(), vec![("artifacts:read", "on")]),
        (format!("/tokens/{token_id}/revoke"), vec![]),
    ]
}

/// All that a form might change, in one text.
async fn state_of(agent: &Agent) -> String {
    let artifact = agent.artifact("my-page").await.expect(200);
    let account = agent.account().await.expect(200);
    let members = agent.members().await.expect(200);
    let tokens: Vec<String> =
        members.at("tokens").as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
    let invites = agent.invites().await.expect(200);
    format!(
        "{} {} {} {} {} {tokens:?} {}",
        artifact.at("version"),
        artifact.at("visibility"),
        account.at("credits_usd"),
        account.at("allow_agent_join"),
        members.at("members"),
        invites.text()
    )
}

in_both_modes! {
    async fn every_page_shows_the_account_to_its_people_alone(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", page_saying("one")).await.expect(201);
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let member = joined_as(&world, &owner, "mia", "member").await;
        let invite = owner.invite(&json!({})).await.expect(201).string("code");
        let (member_id, token_id) = (member.user_id().await, agent.members().await.string("tokens.0.id"));
        let questions = [
            "/pages/my-page".to_owned(),
            "/pages/my-page/delete".to_owned(),
            format!("/team/invites/{invite}/revoke"),
            format!("/team/members/{member_id}/remove"),
            format!("/tokens/{token_id}/revoke"),
        ];
        let paths: Vec<&str> = TABS.into_iter().chain(questions.iter().map(String::as_str)).collect();
        let at_home = Desk::of(&owner, &agent);
        for path in &paths {
            let text = at_home.open(path).await;
            assert_has(&text, &[&agent.handle(), "olga", "owner", "Sign out"]);
        }
        let first = owner.get("/dashboard").header("Accept", BROWSER).await.expect(302);
        assert_eq!(first.header("Location"), at_home.path(""));

        // Somebody else's account and one that is not there look the same.
        let (other_agent, other) = claimed_by(&world, "ben").await;
        let before = state_of(&agent).await;
        let elsewhere = Desk::of(&other, &agent);
        let nowhere = Desk { person: &other, handle: "acct_nobodyhasit0".into() };
        for path in &paths {
            let (refused, missing) = (elsewhere.get(path).await, nowhere.get(path).await);
            assert_page(&refused, 403);
            assert_eq!(refused.text().replace(&elsewhere.handle, &nowhere.handle), missing.text());
            // The way back is of the address that was asked for, so it tells nothing.
            let told = refused.text().replace(&elsewhere.path("/pages/my-page"), "");
            assert!(!told.contains("my-page"), "{refused:?}");
        }
        for (path, fields) in forms(&member_id, &token_id, &invite) {
            assert_page(&elsewhere.post(&path, &fields).await, 403);
            other.post(&elsewhere.path(&path)).form(&fields).await.refused(403, "forbidden");
        }
        // Nor is anything reached through an account of one's own.
        let own = Desk::of(&other, &other_agent);
        for path in &questions {
            assert_page(&own.get(path).await, 404);
        }
        for (path, fields) in forms(&member_id, &token_id, &invite) {
            if path.contains("my-page") || path.contains(&invite) || path.contains(&member_id) || path.contains(&token_id) {
                assert_page(&own.post(&path, &fields).await, 404);
            }
        }
        assert_eq!(state_of(&agent).await, before);

        // Who is signed out signs in first and comes back; a form is not sent along.
        let nobody = world.human();
        let signed_out = Desk::of(&nobody, &agent);
        for path in &paths {
            let sent = signed_out.get(path).await.expect(302);
            assert_eq!(sent.header("Location"), format!("/signin?next={}", signed_out.path(path)));
        }
        for (path, fields) in forms(&member_id, &token_id, &invite) {
            assert_page(&signed_out.post(&path, &fields).await, 401);
        }
        assert_eq!(state_of(&agent).await, before);
    }

    async fn no_form_is_taken_from_another_sites_page(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", page_saying("one")).await.expect(201);
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let member = joined_as(&world, &owner, "mia", "member").await;
        let invite = owner.invite(&json!({})).await.expect(201).string("code");
        let (member_id, token_id) = (member.user_id().await, agent.members().await.string("tokens.0.id"));
        let before = state_of(&agent).await;
        let serve_url = world.serve_url();
        for origin in [serve_url.as_str(), "https://evil.example", "null"] {
            let lured = owner.on_a_page_of(origin);
            let desk = Desk::of(&lured, &agent);
            for (path, fields) in forms(&member_id, &token_id, &invite) {
                let refused = desk.post(&path, &fields).await;
                assert_page(&refused, 403);
                assert!(refused.text().contains("another site"), "{refused:?}");
            }
        }
        assert_eq!(state_of(&agent).await, before);
        // And none by a link: where there is a question it is asked, elsewhere the page with the form is opened.
        let desk = Desk::of(&owner, &agent);
        for (path, _) in forms(&member_id, &token_id, &invite) {
            let opened = desk.get(&path).await;
            if opened.status == 302 {
                let page = path.rsplit_once('/').unwrap().0.trim_end_matches("/team/invites");
                assert_eq!(opened.header("Location"), desk.path(page), "{path}");
                desk.open(page).await;
            } else {
                assert_page(&opened, 200);
            }
        }
        assert_eq!(state_of(&agent).await, before);
    }

    async fn the_pages_are_listed_with_what_there_is_to_know(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let desk = Desk::of(&owner, &agent);
        assert_has(&desk.open("").await, &["no pages on this account", "/v1/publish"]);
        let published = agent.publish("my-page", PAGE).await.expect(201);
        agent.post("/v1/artifacts/my-page/versions?activate=false").field("html", PAGE).await.expect(201);
        agent.publish("our-plans", PAGE).await.expect(201);
        agent.set_visibility("our-plans", "private").paying("dev:0.5").await.expect(200);
        for _ in 0..3 {
            world.visitor().open(&published.string("url")).await.expect(200);
        }
        let list = handbill_tests::eventually(handbill_tests::PATIENCE, "the views are counted", async || {
            let list = desk.open("").await;
            list.contains("class=\"number\">3</td>").then_some(list)
        })
        .await;
        let size = format!("class=\"number\">{} bytes</td>", PAGE.len());
        assert_has(&list, &["my-page", "our-plans", "public", "private", &size, "?sig=", "class=\"number\">1</td>"]);
        let usage = desk.open("/usage").await;
        assert_has(&usage, &["Publishes that count", "of 100 free", "<svg", "3 in all, most on ", "<table>", "<td data-label=\"Views\" class=\"number\">3</td>"]);
        assert_has(&usage, &["$0.50 a month"]);
    }

    async fn any_version_is_made_live_again(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        let url = agent.publish("my-page", page_saying("one")).field("message", "First").await.expect(201).string("url");
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let desk = Desk::of(&member, &agent);
        let page = desk.open("/pages/my-page").await;
        assert_has(&page, &["First", "by the API", "Roll back", &url, "<iframe", "sandbox=\"allow-scripts\""]);
        assert!(!page.contains("Go forward"), "{page}");
        let framed = desk.get("/pages/my-page").await;
        let policy = framed.header("Content-Security-Policy");
        assert!(policy.ends_with(&format!("frame-src {}", world.serve_url())), "{policy}");

        let rolled_back = desk.submit("/pages/my-page/activate", &[("version", "1")]).await;
        assert_has(&rolled_back, &["Done: visitors see that version", "Go forward"]);
        assert_has(&world.visitor().open(&url).await.expect(200).text(), &["one"]);
        desk.submit("/pages/my-page/activate", &[("version", "2")]).await;
        assert_has(&world.visitor().open(&url).await.expect(200).text(), &["two"]);

        assert_page(&desk.post("/pages/my-page/activate", &[("version", "3")]).await, 404);
        for version in ["", "one", "-1", "99999999999"] {
            assert_page(&desk.post("/pages/my-page/activate", &[("version", version)]).await, 400);
        }
        assert_page(&desk.post("/pages/my-page/activate", &[]).await, 400);
        assert_page(&desk.post("/pages/no-page/activate", &[("version", "1")]).await, 404);
        assert_page(&desk.get("/pages/no-page").await, 404);
        assert_page(&desk.get("/pages/No_Page").await, 404);
        let missing = desk.get("/pages/no-page").await.text();
        assert_has(&missing, &["There is no such page", &format!("href=\"{}\"", desk.path(""))]);
    }

    async fn the_price_is_said_and_without_credit_the_way_leads_to_it(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let member = joined_as(&world, &owner, "mia", "member").await;
        agent.publish("my-page", page_saying("secret")).await.expect(201);
        let (desk, guest) = (Desk::of(&owner, &agent), Desk::of(&member, &agent));
        assert_has(&desk.open("/pages/my-page").await, &["Make it private for $0.50 a month", "Make it unlisted for $0.50"]);
        let private = [("visibility", "private")];
        owner.post(&desk.path("/pages/my-page/visibility")).form(&private).await.refused(402, "payment_required");
        let lacking = desk.submit("/pages/my-page/visibility", &private).await;
        assert_has(&lacking, &["not enough credit to make my-page private", "has $0.00: $0.50 is missing", "value=\"5\""]);
        assert_has(&guest.submit("/pages/my-page/visibility", &private).await, &["Ask the owner", "$0.50 is missing"]);
        assert_eq!(agent.artifact("my-page").await.string("visibility"), "public");

        // Who came for a page goes back to it.
        let errand = [("amount_usd", "5"), ("page", "my-page"), ("visibility", "private")];
        let back = desk.submit("/credit/top-up", &errand).await;
        assert_has(&back, &["<h1>my-page</h1>", "the credit is on the account"]);
        let enough = desk.open("/credit?page=my-page&visibility=private").await;
        assert_has(&enough, &["There is enough credit", "/pages/my-page\">Go back"]);

        let hidden = guest.submit("/pages/my-page/visibility", &private).await;
        let signed_url = agent.artifact("my-page").await.string("signed_url");
        assert_has(&hidden, &["Done: the page is private", &signed_url, "Make it public for free"]);
        assert_has(&world.visitor().open(&signed_url).await.expect(200).text(), &["secret"]);
        world.visitor().open(signed_url.split_once('?').unwrap().0).await.expect(403);
        let unlisted = desk.submit("/pages/my-page/visibility", &[("visibility", "unlisted")]).await;
        assert_has(&unlisted, &["Done: the page is unlisted", "Make it private for the same $0.50"]);
        let public = desk.submit("/pages/my-page/visibility", &[("visibility", "public")]).await;
        assert_has(&public, &["Done: the page is public", "Make it private: this month is paid, then $0.50 a month"]);
        let ledger = desk.open("/credit").await;
        assert_has(&ledger, &["$4.50", "−$0.50", "my-page off the public", "Credit, on the dev rail", "visibility:", "topup-dev:"]);
        for visibility in ["", "hidden", "Private"] {
            let refused = desk.post("/pages/my-page/visibility", &[("visibility", visibility)]).await;
            assert_page(&refused, 400);
        }
        // A wish that has come true wants nothing more.
        desk.submit("/pages/my-page/visibility", &private).await;
        let fulfilled = desk.open("/credit?page=my-page&visibility=private").await;
        assert!(!fulfilled.contains("There is"), "{fulfilled}");
        // What an address says beside that is nobody's word.
        for odd in ["/credit?page=../x&visibility=private", "/credit?page=no-page&visibility=private", "/credit?done=<b>"] {
            let text = desk.open(odd).await;
            assert!(!text.contains("no-page") && !text.contains("../x") && !text.contains("<b>"), "{text}");
        }
    }

    async fn a_page_is_deleted_after_a_question(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let url = agent.publish("my-page", PAGE).await.expect(201).string("url");
        let desk = Desk::of(&owner, &agent);
        let question = desk.open("/pages/my-page/delete").await;
        assert_has(&question, &["Delete my-page?", "stops working at once", "publishing my-page again gives a new address", "Keep it"]);
        world.visitor().open(&url).await.expect(200);
        let list = desk.submit("/pages/my-page/delete", &[]).await;
        assert_has(&list, &["Done: the page is deleted", "no pages on this account"]);
        world.visitor().open(&url).await.expect(404);
        assert_page(&desk.post("/pages/my-page/delete", &[]).await, 404);
        assert_page(&desk.get("/pages/my-page/delete").await, 404);
    }

    async fn credit_is_bought_by_its_owner_once_a_form(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let desk = Desk::of(&owner, &agent);
        let page = desk.open("/credit").await;
        assert_has(&page, &["No money has moved yet", "On the dev rail"]);
        assert!(!page.contains("By card"), "{page}");
        let key = between(&page, "name=\"key\" value=\"", "\"").to_owned();
        // A form that is sent twice buys once.
        for _ in 0..2 {
            let bought = desk.submit("/credit/top-up", &[("amount_usd", " $7.50 "), ("key", &key)]).await;
            assert_has(&bought, &["$7.50", "Credit, on the dev rail"]);
        }
        assert_eq!(sound_ledger(&world, &agent).await.len(), 1);
        let other = desk.post("/credit/top-up", &[("amount_usd", "8"), ("key", &key)]).await;
        assert_warned(&other, 409, "Idempotency-Key");
        for amount in ["", "0.99", "100.01", "-5", "five", "1e2", "5.0000001", "<b>"] {
            let refused = desk.post("/credit/top-up", &[("amount_usd", amount)]).await;
            assert_fault(&refused, 400, "dev-amount", "This must be from 1 to 100 dollars.");
            let typed = amount.replace('<', "&#60;").replace('>', "&#62;");
            assert!(refused.text().contains(&format!("value=\"{typed}\"")), "what was typed is gone: {refused:?}");
        }
        let guest = Desk::of(&admin, &agent);
        let seen = guest.open("/credit").await;
        assert_has(&seen, &["$7.50", "The owner of the account buys its credit", "Credit, on the dev rail"]);
        assert!(!seen.contains("name=\"amount_usd\""), "{seen}");
        assert_page(&guest.post("/credit/top-up", &[("amount_usd", "5")]).await, 403);
        assert_page(&guest.post("/credit/checkout", &[("amount_usd", "5")]).await, 501);
        assert_eq!(sound_ledger(&world, &agent).await.len(), 1);
    }

    #[given(with_card_processor)]
    #[settings("HANDBILL_DEV_MODE" = "false")]
    async fn where_it_is_no_game_credit_is_bought_by_card(world: World) {
        let (agent, owner) = (world.agent().await, world.human());
        owner.register("olga", PASSWORD).await.expect(201);
        owner.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        agent.publish("my-page", PAGE).await.expect(201);
        let desk = Desk::of(&owner, &agent);
        for tab in TABS {
            desk.open(tab).await;
        }
        let page = desk.open("/credit").await;
        assert_has(&page, &["By card", "$5 to $500"]);
        assert!(!page.contains("dev rail"), "{page}");
        assert_page(&desk.post("/credit/top-up", &[("amount_usd", "5")]).await, 402);
        for amount in ["", "4.99", "500.01", "5.001", "many"] {
            let refused = desk.post("/credit/checkout", &[("amount_usd", amount)]).await;
            assert_fault(&refused, 400, "card-amount", "This must be from 5 to 500, in whole cents.");
        }
        world.card().set_mood(Mood::Answers(500, "{}".into()));
        let failed = desk.post("/credit/checkout", &[("amount_usd", "20")]).await;
        assert_warned(&failed, 502, "card processor refused");
        world.card().set_mood(Mood::Opens);
        let wish = [("amount_usd", "20"), ("page", "my-page"), ("visibility", "private")];
        let opened = desk.post("/credit/checkout", &wish).await;
        assert_page(&opened, 200);
        let order = world.card().orders().pop().unwrap();
        // They come back to what they bought it for.
        let (back, base_url) = (desk.path("/credit?page=my-page&visibility=private"), world.base_url());
        assert_has(&opened.text(), &[&format!("href=\"{}\">Not now", back.replace('&', "&#38;"))]);
        assert_eq!(order.fields["cancel_url"], format!("{base_url}{back}"));
        assert_eq!(order.fields["success_url"], format!("{base_url}{back}&done=paid-by-card"));
        let unpaid = desk.open("/credit?page=my-page&visibility=private").await;
        assert_has(&unpaid, &["not enough credit to make my-page private"]);
        let paid = desk.open("/credit?page=my-page&visibility=private&done=paid-by-card").await;
        assert_has(&paid, &["The credit appears as soon as the processor confirms it."]);
        assert_eq!(order.fields["line_items[0][price_data][unit_amount]"], "2000");
        let text = opened.text();
        let session = between(&text, &format!("href=\"{}/pay/", world.card().url()), "\"");
        assert_has(&text, &["Pay $20.00 by card"]);
        assert!(desk.open("/credit").await.contains("No money has moved yet"));
        let account = &order.fields["metadata[account_id]"];
        world.processor().tell(&Processor::paid(session, account, 2_000)).await.expect(200);
        assert_has(&desk.open("/credit").await, &["$20.00", "Credit, by card", session]);
        desk.submit("/pages/my-page/visibility", &[("visibility", "private")]).await;
        assert_eq!(agent.artifact("my-page").await.string("visibility"), "private");
        let minted = desk.post("/tokens/mint", &[("artifacts:read", "on")]).await;
        assert_page(&minted, 200);
    }

    async fn people_are_invited_join_and_are_removed(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let desk = Desk::of(&owner, &agent);
        let fields = |uses, hours| [("role", "admin"), ("max_uses", uses), ("ttl_hours", hours)];
        for (uses, hours, field, told) in [
            ("0", "72", "max_uses", "This must be 1 to 100."),
            ("101", "72", "max_uses", "This must be 1 to 100."),
            ("many", "72", "max_uses", "This must be a whole number."),
            ("1", "721", "ttl_hours", "This must be 1 to 720."),
            ("1", "", "ttl_hours", "This must be a whole number."),
        ] {
            let refused = desk.post("/team/invites", &fields(uses, hours)).await;
            assert_fault(&refused, 400, field, told);
            assert_has(&refused.text(), &["value=\"admin\" selected"]);
        }
        let owner_s = [("role", "owner"), ("max_uses", "1"), ("ttl_hours", "1")];
        assert_fault(&desk.post("/team/invites", &owner_s).await, 400, "role", "This must be member or admin");
        let team = desk.submit("/team/invites", &fields(" 2 ", "24")).await;
        assert_has(&team, &["Done: the invite is made", "used 0 of 2 times", "Makes <strong>admins</strong>", "by olga"]);
        let url = between(&team, "<div class=\"copy\"><code id=\"invite-", "</code>").split_once("\">").unwrap().1.to_owned();
        let code = url.rsplit('/').next().unwrap().to_owned();

        let admin = person(&world, "adam").await;
        admin.join(&url).await.expect(302);
        let guest = Desk::of(&admin, &agent);
        assert_has(&guest.open("/team").await, &["adam", "(you)", &url, "used 1 of 2 times"]);
        let member = joined_as(&world, &owner, "mia", "member").await;
        let third = Desk::of(&member, &agent);
        let seen = third.open("/team").await;
        assert_has(&seen, &["olga", "Admins and the owner invite others", "Leave"]);
        assert!(!seen.contains(&code) && !seen.contains("name=\"max_uses\""), "{seen}");
        assert_page(&third.post("/team/invites", &fields("1", "1")).await, 403);
        assert_page(&third.get(&format!("/team/invites/{code}/revoke")).await, 403);
        assert_page(&third.post(&format!("/team/invites/{code}/revoke"), &[]).await, 403);

        let question = guest.open(&format!("/team/invites/{code}/revoke")).await;
        assert_has(&question, &["Revoke the invite?", "Nobody joins by its link any more"]);
        let team = guest.submit(&format!("/team/invites/{code}/revoke"), &[]).await;
        assert_has(&team, &["nobody joins by that invite", "Invites that are over", "revoked"]);
        person(&world, "late").await.join(&url).await.refused(409, "invite_revoked");

        // An admin removes a member, nobody the owner, and everybody else may leave.
        let (owner_id, admin_id, member_id) = (owner.user_id().await, admin.user_id().await, member.user_id().await);
        let remove = |id: &str| format!("/team/members/{id}/remove");
        assert_page(&third.post(&remove(&admin_id), &[]).await, 403);
        assert_page(&guest.post(&remove(&owner_id), &[]).await, 403);
        // Who may not answer a question is not asked it.
        for asked in [third.get(&remove(&admin_id)), third.get(&remove(&owner_id)), guest.get(&remove(&owner_id))] {
            let refused = asked.await;
            assert_page(&refused, 403);
            assert_has(&refused.text(), &[&format!("href=\"{}\"", guest.path("/team"))]);
        }
        assert_has(&guest.open(&remove(&member_id)).await, &["Remove mia?", "token", "new invite"]);
        let team = guest.submit(&remove(&member_id), &[]).await;
        assert!(team.contains("Done: they are off the account") && !team.contains("mia"), "{team}");
        assert_page(&third.get("").await, 403);
        assert_page(&guest.get(&remove(&member_id)).await, 404);
        assert_page(&guest.get(&remove("no-id")).await, 404);
        assert_has(&guest.open(&remove(&admin_id)).await, &["Leave ", "Stay"]);
        let left = guest.submit(&remove(&admin_id), &[]).await;
        assert_has(&left, &["you have left the account", "No account is yours yet"]);
        assert_page(&guest.get("").await, 403);
    }

    async fn the_owner_decides_whether_agents_join(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let admin = joined_as(&world, &owner, "adam", "admin").await;
        let code = owner.invite(&json!({ "max_uses": 9 })).await.expect(201).string("code");
        let desk = Desk::of(&owner, &agent);
        let closed = desk.submit("/team/agent-join", &[("allow", "false")]).await;
        assert_has(&closed, &["agents can no longer join", "Let agents join"]);
        world.stranger().join(&code).await.refused(403, "agent_join_disabled");
        let open = desk.submit("/team/agent-join", &[("allow", "true")]).await;
        assert_has(&open, &["agents may join with an invite", "Keep agents from joining"]);
        world.stranger().join(&code).await.expect(201);
        let guest = Desk::of(&admin, &agent);
        let seen = guest.open("/team").await;
        assert!(seen.contains("The owner decides") && !seen.contains("name=\"allow\""), "{seen}");
        assert_page(&guest.post("/team/agent-join", &[("allow", "false")]).await, 403);
        assert_page(&desk.post("/team/agent-join", &[("allow", "perhaps")]).await, 400);
        world.stranger().join(&code).await.expect(201);
    }

    async fn a_minted_token_is_shown_once_and_works_until_it_is_revoked(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.publish("other-page", PAGE).await.expect(201);
        let desk = Desk::of(&owner, &agent);
        let fields = [("name", "night bot"), ("artifacts:read", "on"), ("artifacts:write", "on"), ("page", "my-page"), ("days", "7")];
        let minted = desk.post("/tokens/mint", &fields).await;
        assert_page(&minted, 200);
        let text = minted.text();
        assert_has(&text, &["The token night bot is minted", "shown only here"]);
        let secret = between(&text, "<code id=\"secret\">", "</code>").to_owned();
        assert!(!desk.open("/tokens").await.contains("svc_sk_"));
        let bot = agent.with_token(&secret);
        bot.publish("my-page", page_saying("by the bot")).await.expect(201);
        bot.publish("other-page", PAGE).await.refused(403, "insufficient_scope");
        let listed = agent.tokens().await.expect(200);
        assert_eq!(listed.string("0.name"), "night bot");
        assert_eq!(listed.string("0.scopes"), "artifacts:write,artifacts:read");
        let days = crate::expectations::millis_from_now(&listed.string("0.expires_at")) / (24 * 3_600_000 - 60_000);
        assert_eq!(days, 7);
        let id = listed.string("0.id");
        let row = desk.open("/tokens").await;
        assert_has(&row, &["night bot", "<td data-label=\"Pages\">my-page</td>", "<td data-label=\"By\">olga</td>"]);

        assert_has(&desk.open(&format!("/tokens/{id}/revoke")).await, &["Revoke the token night bot?"]);
        let revoked = desk.submit(&format!("/tokens/{id}/revoke"), &[]).await;
        assert!(revoked.contains("Done: the token is revoked") && !revoked.contains("night bot"), "{revoked}");
        bot.artifacts().await.refused(401, "unauthorized");
        assert_page(&desk.get(&format!("/tokens/{id}/revoke")).await, 404);
        world.assert_no_secret_was_logged();
    }

    async fn nobody_hands_on_more_than_their_role_may(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let (admin, member) = (
            joined_as(&world, &owner, "adam", "admin").await,
            joined_as(&world, &owner, "mia", "member").await,
        );
        let desks = [&member, &admin, &owner].map(|person| Desk::of(person, &agent));
        for (desk, scopes) in desks.iter().zip([2, 3, 4]) {
            assert_eq!(desk.open("/tokens").await.matches("type=\"checkbox\"").count(), scopes);
        }
        let [third, guest, desk] = &desks;
        for (who, scope) in [(third, "tokens:manage"), (third, "account:manage"), (guest, "account:manage")] {
            let refused = who.post("/tokens/mint", &[("name", "greedy"), (scope, "on")]).await;
            assert_fault(&refused, 403, "scopes", "Your role on this account does not have all of that");
        }
        assert_fault(&third.post("/tokens/mint", &[("name", "x")]).await, 400, "scopes", "This needs at least one tick.");
        let read = ("artifacts:read", "on");
        let long = "n".repeat(101);
        for (field, value, told) in [
            ("name", long.as_str(), "This must be 1 to 100 characters"),
            ("days", "2", "This must be one of those that are offered."),
            ("page", "Not_A_Page", "This is no page of the account."),
        ] {
            assert_fault(&third.post("/tokens/mint", &[read, (field, value)]).await, 400, field, told);
        }
        let gone = third.post("/tokens/mint", &[read, ("page", "no-page")]).await;
        assert_fault(&gone, 404, "page", "There is no such page on the account");

        // A member sees who else has a token, and revokes their own alone.
        let of_member = third.post("/tokens/mint", &[read, ("name", "of mia")]).await;
        assert_page(&of_member, 200);
        let signup = agent.tokens().await.string("1.id");
        let seen = third.open("/tokens").await;
        assert_eq!(seen.matches("data-dialog=").count(), 1, "{seen}");
        assert_eq!(guest.open("/tokens").await.matches("data-dialog=").count(), 2);
        assert_page(&third.post(&format!("/tokens/{signup}/revoke"), &[]).await, 403);
        assert_page(&third.get(&format!("/tokens/{signup}/revoke")).await, 403);
        agent.artifacts().await.expect(200);
        let own = agent.tokens().await.string("0.id");
        third.submit(&format!("/tokens/{own}/revoke"), &[]).await;
        assert_page(&desk.get("/tokens/no-id/revoke").await, 404);
    }

    async fn who_has_several_accounts_chooses_among_them(world: World) {
        let (first, owner) = claimed_by(&world, "olga").await;
        let (second, other) = claimed_by(&world, "ben").await;
        joined_as(&world, &other, "olga", "member").await;
        let alone = Desk::of(&other, &second).open("").await;
        assert!(!alone.contains("Switch account"), "{alone}");
        for (agent, role) in [(&first, "owner"), (&second, "member")] {
            let desk = Desk::of(&owner, agent);
            let page = desk.open("/usage").await;
            assert_has(&page, &["Switch account", &first.handle(), &second.handle()]);
            let chosen = format!("<strong>{}</strong> <span class=\"label\">{role}</span>", agent.handle());
            assert_has(&page, &[&chosen]);
        }
        // The account in which the role is highest comes first, but for the one that they have just come by.
        let open = async |path: &str| owner.get(path).header("Accept", BROWSER).await;
        let invite = other.invite(&json!({})).await.expect(201);
        assert_eq!(owner.join(&invite.string("invite_url")).await.expect(302).header("Location"), "/dashboard");
        let sent = open("/dashboard").await.expect(302);
        assert_eq!(sent.header("Location"), format!("/dashboard/{}?done=joined", second.handle()));
        assert_has(&open(sent.header("Location")).await.expect(200).text(), &["You have joined."]);
        assert_eq!(owner.cookie("svc_arrival"), None);
        // A cookie that names somebody else's account leads nowhere near it.
        let (theirs, _) = claimed_by(&world, "cleo").await;
        let session = owner.cookie("svc_sess").unwrap();
        let made_up = format!("svc_sess={session}; svc_arrival=claimed.{}", theirs.handle());
        let sent = world.stranger().get("/dashboard").header("Cookie", made_up).await.expect(302);
        assert_eq!(sent.header("Location"), format!("/dashboard/{}", first.handle()));
        assert_eq!(open("/dashboard/").await.expect(302).header("Location"), format!("/dashboard/{}", first.handle()));
        let sent = owner.get("/dashboard").header("Accept", BROWSER).await.expect(302);
        assert_eq!(sent.header("Location"), format!("/dashboard/{}", first.handle()));
    }
}
