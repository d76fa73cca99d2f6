//! An operator suspends an account and lifts the suspension: what is refused meanwhile, what continues, and
//! what visitors see.

use std::future::IntoFuture;
use std::time::Duration;

use handbill_tests::{
    Agent, Call, Human, Method, Mode, PATIENCE, Processor, Value, World, eventually, in_both_modes, json,
};

use crate::admin::{OPERATOR_PASSWORD, sign_in};
use crate::checkout::CHECKOUT;
use crate::expectations::{PAGE, assert_serves, front_page, page_saying};
use crate::mcp::{failed, tool_result};
use crate::teams::{claimed_by, joined_as, person};
use crate::uploads::{address, stage};

const REASON: &str = "Phishing again, after a warning <of 3 May>.";
const BROWSER: &str = "text/html,application/xhtml+xml";
const PROVISIONAL_LIFETIME: Duration = Duration::from_secs(31 * 60);

/// An account with a page of two versions, a team, an invite and a staged upload.
struct Team<'w> {
    world: &'w World,
    agent: Agent,
    owner: Human,
    member: Human,
    member_id: String,
    token_id: String,
    invite: String,
    staged: Value,
}

impl<'w> Team<'w> {
    async fn gather(world: &'w World) -> Self {
        let (agent, owner) = claimed_by(world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        agent.publish("my-page", page_saying("two")).await.expect(201);
        let member = joined_as(world, &owner, "mia", "member").await;
        Self {
            world,
            member_id: member.user_id().await,
            token_id: agent.mint(&json!({})).await.expect(201).string("id"),
            invite: owner.invite(&json!({ "max_uses": 10 })).await.expect(201).string("code"),
            staged: stage(&agent).await,
            agent,
            owner,
            member,
        }
    }

    /// Every REST call that changes something.
    fn writes(&self) -> Vec<(&'static str, Call)> {
        let Self { agent, owner, member, .. } = self;
        vec![
            ("publish", agent.publish("another-page", PAGE)),
            ("publish as a person", owner.post("/v1/publish").field("html", PAGE)),
            ("publish with payment", agent.publish("another-page", PAGE).paying("dev:0.005")),
            ("publish with a key", agent.publish("another-page", PAGE).idempotency_key("one")),
            ("add a version", agent.add_version("my-page", PAGE)),
            ("activate", agent.activate("my-page", 1)),
            ("set the visibility", agent.set_visibility("my-page", "unlisted")),
            ("replace the private link", agent.rotate_private_link("my-page")),
            ("delete", agent.delete("my-page")),
            ("upload", address(self.world, &self.staged).field("html", PAGE)),
            ("mint a token", agent.mint(&json!({}))),
            ("mint a token as a person", member.mint(&json!({}))),
            ("revoke a token", agent.revoke_token(&self.token_id)),
            ("invite", owner.invite(&json!({}))),
            ("invite as an agent", agent.invite(&json!({}))),
            ("revoke an invite", owner.revoke_invite(&self.invite)),
            ("remove a member", owner.remove_member(&self.member_id)),
            ("leave", member.remove_member(&self.member_id)),
            ("switch joining", owner.allow_agent_join(false)),
            ("rotate the claim link", agent.rotate_claim_link()),
            ("buy credit", agent.buy_credit(5.0).paying("dev:5")),
            ("open a checkout", owner.post(CHECKOUT).json(&json!({ "amount_usd": 5 }))),
            ("join as an agent", self.world.stranger().join(&self.invite)),
        ]
    }

    /// Every dashboard form that changes something.
    fn forms(&self) -> Vec<Call> {
        let post = |below: &str| self.owner.post(&format!("/dashboard/{}{below}", self.agent.handle()));
        vec![
            post("/pages/my-page/activate").form(&[("version", "1")]),
            post("/pages/my-page/visibility").form(&[("visibility", "unlisted")]),
            post("/pages/my-page/private-link").form(&[]),
            post("/pages/my-page/delete").form(&[]),
            post("/credit/top-up").form(&[("amount_usd", "5")]),
            post("/credit/checkout").form(&[("amount_usd", "5")]),
            post("/team/agent-join").form(&[("allow", "false")]),
            post("/team/invites").form(&[("role", "member"), ("max_uses", "1"), ("ttl_hours", "1")]),
            post(&format!("/team/invites/{}/revoke", self.invite)).form(&[]),
            post(&format!("/team/members/{}/remove", self.member_id)).form(&[]),
            post("/tokens/mint").form(&[("artifacts:write", "on")]),
            post(&format!("/tokens/{}/revoke", self.token_id)).form(&[]),
        ]
    }

    /// Every MCP tool that changes something.
    fn tools(&self) -> Vec<Call> {
        let file = json!([{ "path": "index.html", "content": PAGE }]);
        let call = |tool, arguments| self.agent.call_tool(tool, &arguments);
        vec![
            call("publish_artifact", json!({ "slug": "another-page", "files": file })),
            call("stage_upload", json!({})),
            call("rollback_artifact", json!({ "slug": "my-page", "version": 1 })),
            call("delete_artifact", json!({ "slug": "my-page" })),
            call("create_invite", json!({})),
            call("create_claim_link", json!({})),
            call("add_credits", json!({ "amount_usd": 1, "payment_scheme": "dev" })),
        ]
    }

    /// The state of the account, which its members can read at any time.
    async fn read(&self) -> Vec<Value> {
        let agent = &self.agent;
        let paths = [
            "/v1/usage",
            "/v1/artifacts",
            "/v1/artifacts/my-page",
            "/v1/tokens",
            "/v1/account/members",
            "/v1/account/invites",
            "/v1/account/ledger",
        ];
        let mut seen = Vec::new();
        for path in paths {
            seen.push(without_what_changes_by_itself(agent.get(path).await.expect(200).json()));
        }
        seen
    }
}

in_both_modes! {
    #[given(with_card_processor)]
    async fn a_suspended_account_refuses_every_write_and_a_lift_restores_it(world: World) {
        let team = Team::gather(&world).await;
        let before = team.read().await;
        suspend(&world, &team.agent.handle()).await.expect(200);
        for (what, call) in team.writes() {
            let refused = call.await;
            assert_eq!((refused.status, refused.at("code")), (403, json!("account_suspended")), "{what}: {refused:?}");
            assert!(refused.string("hint").contains("GET /v1/account"), "{what}: {refused:?}");
        }
        for form in team.forms() {
            form.await.refused(403, "account_suspended");
        }
        for tool in team.tools() {
            failed(&tool.await, "account_suspended");
        }
        assert_eq!(team.read().await, before, "a refused write has changed something");

        lift(&world, &team.agent.handle()).await.expect(200);
        assert_eq!(team.read().await, before);
        team.agent.publish("another-page", PAGE).await.expect(201);
        address(&world, &team.staged).field("html", PAGE).await.expect(201);
        world.stranger().join(&team.invite).await.expect(201);
        team.owner.post(CHECKOUT).json(&json!({ "amount_usd": 5 })).await.expect(200);
        team.member.remove_member(&team.member_id).await.expect(200);
    }

    async fn members_and_agents_of_a_suspended_account_see_the_reason(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        assert_eq!(agent.account().await.expect(200).at("suspended"), json!(null));
        let suspended = suspend(&world, &agent.handle()).await.expect(200);
        assert_eq!(suspended.string("handle"), agent.handle());
        assert_eq!(suspended.string("suspended.reason"), REASON);
        for account in [agent.account().await, owner.account().await] {
            assert_eq!(account.expect(200).at("suspended"), suspended.at("suspended"));
        }
        let shown = tool_result(&agent.call_tool("get_account", &json!({})).await);
        assert_eq!(shown["suspended"], suspended.at("suspended"));

        let trail = agent.get("/v1/account/audit").await.expect(200);
        assert_eq!((trail.string("0.action"), trail.string("0.actor")), ("account.suspended".into(), "operator".into()));
        assert!(!trail.text().contains("Grace"), "{trail:?}");

        // Signing in again works as well.
        owner.logout().await.expect(200);
        owner.dev_login("olga").await.expect(200);
        let paths = ["", "/pages/my-page", "/usage", "/credit", "/team", "/tokens", "/audit"];
        let dashboard = |below: &str| owner.get(&format!("/dashboard/{}{below}", agent.handle())).header("Accept", BROWSER);
        for below in paths {
            let page = dashboard(below).await.expect(200).text();
            assert!(page.contains("This account is suspended"), "{below}: {page}");
            assert!(page.contains("after a warning &#60;of 3 May&#62;"), "{below}: {page}");
        }

        lift(&world, &agent.handle()).await.expect(200);
        assert_eq!(agent.account().await.expect(200).at("suspended"), json!(null));
        for below in paths {
            assert!(!dashboard(below).await.expect(200).text().contains("This account is suspended"), "{below}");
        }
        assert_eq!(agent.get("/v1/account/audit").await.expect(200).string("0.action"), "account.suspension_lifted");
    }

    async fn the_pages_of_a_suspended_account_answer_451_at_every_address(world: World) {
        let (agent, other, visitor) = (world.agent().await, world.agent().await, world.visitor());
        agent.buy_credit(5.0).paying("dev:5").await.expect(200);
        let files: [(&str, &[u8]); 2] = [("index.html", PAGE.as_bytes()), ("app.css", b"p{}")];
        let public = agent.publish_files("public", &files).await.expect(201);
        agent.publish("private", PAGE).await.expect(201);
        let private = agent.set_visibility("private", "private").await.expect(200);
        let others = other.publish("others", PAGE).await.expect(201);
        let (url, signed) = (public.string("url"), private.string("signed_url"));
        let first = front_page(&visitor, &public).await;
        assert_serves(&first, PAGE);
        let modified_at = first.header("Last-Modified").to_owned();
        visitor.open(&signed).await.expect(200);

        suspend(&world, &agent.handle()).await.expect(200);
        let closed = front_page(&visitor, &public).await.expect(451);
        assert!(closed.text().contains("suspended") && !closed.text().contains("Hello"), "{closed:?}");
        assert!(!closed.text().contains("Phishing"), "the reason is not for visitors: {closed:?}");
        assert_eq!(closed.header("Cache-Control"), "no-store");
        for address in [format!("{url}?version=1"), format!("{url}app.css"), format!("{url}nothing"), signed.clone()] {
            visitor.open(&address).await.expect(451);
        }
        visitor.call(Method::HEAD, &url).await.expect(451);
        for (name, value) in [
            ("If-None-Match", first.header("ETag").to_owned()),
            ("If-None-Match", "*".to_owned()),
            ("If-Modified-Since", modified_at),
            ("Range", "bytes=0-3".to_owned()),
        ] {
            visitor.open(&url).header(name, value).await.expect(451);
        }
        if world.mode() == Mode::Production {
            let edge = world.start_edge().await;
            visitor.at(&edge).open(&format!("/site/{}/", public.string("host"))).await.expect(451);
        }
        assert_serves(&front_page(&visitor, &others).await, PAGE);

        lift(&world, &agent.handle()).await.expect(200);
        assert_serves(&front_page(&visitor, &public).await, PAGE);
        visitor.open(&signed).await.expect(200);
    }

    async fn suspended_account_cannot_be_claimed_or_joined_and_is_purged_on_expiry(world: World) {
        let (agent, human) = (world.agent().await, person(&world, "hanna").await);
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let claim_url = agent.signup.as_ref().unwrap().string("claim_url");
        suspend(&world, &agent.handle()).await.expect(200);
        human.claim(&claim_url).await.refused(403, "account_suspended");
        let page = human.get(human.path_of(&claim_url)).header("Accept", BROWSER).await.expect(403);
        assert!(page.text().contains("suspended"), "{page:?}");
        agent.rotate_claim_link().await.refused(403, "account_suspended");

        let (host, _) = claimed_by(&world, "olga").await;
        let invite = host.invite(&json!({ "max_uses": 5 })).await.expect(201);
        let (code, invite_url) = (invite.string("code"), invite.string("invite_url"));
        suspend(&world, &host.handle()).await.expect(200);
        world.stranger().join(&code).await.refused(403, "account_suspended");
        human.join(&invite_url).await.refused(403, "account_suspended");
        human.get(human.path_of(&invite_url)).await.refused(403, "account_suspended");
        lift(&world, &host.handle()).await.expect(200);
        human.join(&invite_url).await.expect(302);
        assert_eq!(host.get("/v1/account/invites").await.expect(200).integer("0.uses"), 1);

        world.advance(PROVISIONAL_LIFETIME);
        front_page(&world.visitor(), &published).await.expect(410);
        agent.publish("my-page", PAGE).await.refused(403, "account_suspended");
        assert_eq!(world.operator().run_cleanup().await.expect(200).integer("purged"), 1);
        front_page(&world.visitor(), &published).await.expect(404);
    }

    async fn lifting_a_suspension_extends_a_provisional_account_by_its_duration(world: World) {
        let agent = world.agent().await;
        let published = agent.publish("my-page", PAGE).await.expect(201);
        suspend(&world, &agent.handle()).await.expect(200);
        world.advance(PROVISIONAL_LIFETIME);
        lift(&world, &agent.handle()).await.expect(200);
        front_page(&world.visitor(), &published).await.expect(200);
        agent.publish("my-page", PAGE).await.expect(201);
    }

    async fn account_audit_log_shows_a_suspension_without_the_operators_address(world: World) {
        let agent = world.agent().await;
        suspend(&world, &agent.handle()).await.expect(200);
        let trail = agent.get("/v1/account/audit").await.expect(200).json();
        let entry = trail.as_array().unwrap().iter().find(|entry| entry["action"] == "account.suspended");
        let entry = entry.expect("the suspension is in the trail");
        assert_eq!((&entry["actor"], &entry["address"]), (&json!("operator"), &Value::Null));
    }

    async fn publish_queued_before_a_suspension_is_refused(world: World) {
        let agent = world.agent().await;
        // By then the worker has stored the files, and only the ledger's commit is left.
        world.worker().restart_with(&[("HANDBILL_TEST_FAULTS", "publish.after_blob_put:pause_ms=6000")]).await;
        let publish = tokio::spawn(agent.publish("my-page", PAGE).into_future());
        a_publish_is_executed(&world).await;
        suspend(&world, &agent.handle()).await.expect(200);
        publish.await.unwrap().refused(403, "account_suspended");
        assert_eq!(agent.artifacts().await.expect(200).json(), json!([]));
        assert_eq!(agent.usage().await.expect(200).integer("publishes.used"), 0);
        lift(&world, &agent.handle()).await.expect(200);
        agent.publish("my-page", PAGE).await.expect(201);
    }

    #[given(with_card_processor)]
    async fn a_payment_by_card_is_credited_although_the_account_is_suspended(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let opened = owner.post(CHECKOUT).json(&json!({ "amount_usd": 20 })).await.expect(200);
        suspend(&world, &agent.handle()).await.expect(200);
        let paid = Processor::paid(&opened.string("session_id"), &agent.handle(), 2_000);
        let credited = world.processor().send_event(&paid).await.expect(200);
        assert_eq!(credited.json(), json!({ "received": true, "credited": true }));
        let grant = json!({ "account": agent.handle(), "amount_usd": 1, "reason": "Goodwill" });
        world.operator().post("/internal/credit").header("X-Operator", "Grace").json(&grant).await.expect(200);
        assert_eq!(agent.account().await.expect(200).number("credits_usd"), 21.0);
    }

    async fn a_leaked_token_of_a_suspended_account_can_be_revoked(world: World) {
        let agent = world.agent().await;
        suspend(&world, &agent.handle()).await.expect(200);
        world.stranger().post("/v1/tokens/revoke").json(&json!({ "token": agent.token() })).await.expect(200);
        agent.account().await.refused(401, "unauthorized");
    }

    async fn suspension_needs_an_operator_name_and_a_reason(world: World) {
        let agent = world.agent().await;
        let path = format!("/internal/accounts/{}/suspend", agent.handle());
        let body = json!({ "reason": REASON });
        agent.post(&path).json(&body).await.refused(404, "not_found");
        let post = |path: &str| world.operator().post(path).header("X-Operator", "Grace");
        world.operator().post(&path).json(&body).await.refused(400, "invalid_request").naming("X-Operator");
        for reason in ["", " \n", "a\u{0}b", &"x".repeat(2_001)] {
            post(&path).json(&json!({ "reason": reason })).await.refused(400, "invalid_request").naming("reason");
        }
        post(&path).json(&json!({})).await.refused(400, "invalid_body").naming("reason");
        for unknown in ["acct_nobody", "nobody", "01K0000000000000000000000A"] {
            post(&format!("/internal/accounts/{unknown}/suspend")).json(&body).await.refused(404, "not_found").naming("account");
            post(&format!("/internal/accounts/{unknown}/lift")).await.refused(404, "not_found").naming("account");
        }
        agent.publish("my-page", PAGE).await.expect(201);

        let first = suspend(&world, &agent.handle()).await.expect(200);
        world.advance(Duration::from_secs(60));
        let again = post(&path).json(&json!({ "reason": "Malware" })).await.expect(200);
        assert_eq!(again.string("suspended.reason"), "Malware");
        assert_eq!(again.at("suspended.at"), first.at("suspended.at"), "it is suspended since the first time");
        for _ in 0..2 {
            let lifted = lift(&world, &agent.handle()).await.expect(200);
            assert_eq!(lifted.json(), json!({ "handle": agent.handle(), "suspended": null }));
        }
        let trail = agent.get("/v1/account/audit").await.expect(200).text();
        assert_eq!(trail.matches("account.suspension_lifted").count(), 1, "{trail}");
        assert!(world.api().log().contains("operator.name=Grace"), "{}", world.api().log());
    }

    #[settings("HANDBILL_SECRETS__OPERATOR_PASSWORD" = OPERATOR_PASSWORD)]
    async fn an_account_is_suspended_from_the_page_of_a_case(world: World) {
        let (agent, ada) = (world.agent().await, world.human());
        let published = agent.publish("my-page", PAGE).await.expect(201);
        sign_in(&ada, "Ada", OPERATOR_PASSWORD).await.expect(302);
        let case = format!("/admin/moderation/{}", published.string("host"));
        let form = format!("{case}/account");
        let handle = agent.handle();
        let press = |action: &str, reason: &str| {
            let fields = [("action", action), ("account", handle.as_str()), ("reason", reason)];
            ada.post(&form).header("Accept", BROWSER).form(&fields)
        };
        let page = ada.get(&case).header("Accept", BROWSER).await.expect(200).text();
        assert!(page.contains("Suspend account"), "{page}");
        let refused = press("suspend", " ").await.expect(400);
        assert!(refused.text().contains("This is empty."), "{refused:?}");
        ada.on_a_page_of("http://evil.example").post(&form).form(&[("action", "suspend")]).await.expect(403);
        front_page(&world.visitor(), &published).await.expect(200);

        let done = press("suspend", REASON).await.expect(302);
        let page = ada.get(done.header("Location")).header("Accept", BROWSER).await.expect(200).text();
        assert!(page.contains("suspended") && page.contains("Lift suspension"), "{page}");
        front_page(&world.visitor(), &published).await.expect(451);
        assert_eq!(agent.account().await.expect(200).string("suspended.reason"), REASON);
        press("lift", "").await.expect(302);
        front_page(&world.visitor(), &published).await.expect(200);
        world.human().post(&form).form(&[("action", "suspend")]).await.expect(302);
        assert_eq!(agent.account().await.expect(200).at("suspended"), json!(null));
    }

    async fn account_is_suspended_from_the_command_line(world: World) {
        let agent = world.agent().await;
        let handle = agent.handle();
        let published = agent.publish("my-page", PAGE).await.expect(201);
        let suspended =
            world.command(&["admin", "suspend", &handle, "--reason", REASON, "--as", "Grace"], &[]).await;
        assert!(suspended.status.success() && suspended.output.contains("Suspended"), "{suspended:?}");
        agent.publish("my-page", PAGE).await.refused(403, "account_suspended");
        // An edge without Redis notices it before its lease expires.
        let becomes = async |status| {
            eventually(PATIENCE, "the edge has received the notice", async || {
                (front_page(&world.visitor(), &published).await.status == status).then_some(())
            })
            .await;
        };
        becomes(451).await;
        let lifted = world.command(&["admin", "lift", &handle, "--as", "Grace", "--json"], &[]).await;
        assert!(lifted.status.success() && lifted.output.contains("\"suspended\":null"), "{lifted:?}");
        agent.publish("my-page", PAGE).await.expect(201);
        becomes(200).await;
        let unreasoned = world.command(&["admin", "suspend", &handle, "--reason", " "], &[]).await;
        assert_eq!(unreasoned.status.code(), Some(2), "{unreasoned:?}");
        let unknown = world.command(&["admin", "lift", "acct_nobody"], &[]).await;
        assert_eq!(unknown.status.code(), Some(1), "{unknown:?}");
        assert_eq!(agent.account().await.expect(200).at("suspended"), json!(null));
    }
}

pub async fn a_publish_is_executed(world: &World) {
    let running = "/internal/queues/publish/jobs?state=running";
    eventually(PATIENCE, "a publish is executed", async || {
        let running = world.operator().call(Method::GET, running).await;
        (running.expect(200).at("items") != json!([])).then_some(())
    })
    .await;
}

/// A body without what changes by reading, or after the responses.
fn without_what_changes_by_itself(mut body: Value) -> Value {
    match &mut body {
        Value::Object(fields) => {
            fields.retain(|name, _| {
                !["last_used_at", "moderation", "moderation_status"].contains(&name.as_str())
            });
            fields.values_mut().for_each(|field| *field = without_what_changes_by_itself(field.take()));
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| *item = without_what_changes_by_itself(item.take()));
        }
        _ => {}
    }
    body
}

pub fn suspend(world: &World, handle: &str) -> Call {
    let call = world.operator().post(&format!("/internal/accounts/{handle}/suspend"));
    call.header("X-Operator", "Grace").json(&json!({ "reason": REASON }))
}

pub fn lift(world: &World, handle: &str) -> Call {
    world.operator().post(&format!("/internal/accounts/{handle}/lift")).header("X-Operator", "Grace")
}
