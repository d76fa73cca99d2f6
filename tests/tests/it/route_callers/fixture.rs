//! The account of the calls with everything that can be called, and all callers.

use std::time::Duration;

use domain::Time;
use handbill_tests::{Agent, Call, Human, Method, PATIENCE, Reply, Value, World, eventually, json};

use super::callers::{Caller, Kind, lesser_tokens};
use super::rules::{Mode, Rule};
use crate::expectations::{PAGE, PASSWORD};

/// The artifact of the calls. No other account has one of this name.
const SLUG: &str = "olgas-own-page";
/// The username of the person who signs in by a call of the table.
const USERNAME: &str = "lea";
/// Longer than a provisional account lasts, and than the token with an expiry.
const LONG: Duration = Duration::from_secs(31 * 60);
const SOON_MILLIS: i64 = 5 * 60 * 1000;
/// A queue that no call of the table waits for, and the job in it.
const QUEUE: &str = "upkeep";
const SCHEDULE: &str = "sweep-scans";

pub struct RouteFixture<'w> {
    world: &'w World,
    mode: Mode,
    /// A token with every scope on the account.
    agent: Agent,
    owner: Human,
    host: String,
    invite: String,
    callers: Vec<Caller>,
    /// Texts that identify the account.
    marks: Vec<String>,
    /// Makes each name unique.
    counter: u32,
}

/// A call with everything that a response may echo.
pub struct Called {
    pub reply: Reply,
    sent: String,
}

impl<'w> RouteFixture<'w> {
    pub async fn furnish(world: &'w World, mode: Mode) -> Self {
        let (agent, expired) = (world.agent().await, world.agent().await);
        let owner = signed_in(world, mode, "olga").await;
        claim(&owner, &agent).await;
        let published = agent.publish(SLUG, PAGE).await.expect(201);
        let other = agent.publish("olgas-other-page", PAGE).await.expect(201);
        let invite = agent.invite(&json!({ "max_uses": 100 })).await.expect(201).string("code");
        let mut callers = vec![Caller::nobody()];
        callers.extend(bad_tokens(world, &agent).await);
        callers.push(Caller::with_token("an expired account", Kind::ExpiredAccount, expired.token()));
        callers.extend(lesser_tokens(&agent, &other.string("artifact_id")).await);
        world.advance(LONG);
        callers.extend(people(world, mode, &agent, &owner).await);
        callers.extend(strangers(world, mode, &agent.handle()).await);
        callers.extend(operators());
        world.human().register(USERNAME, PASSWORD).await.expect(201);
        let host = published.string("host");
        let mut fixture =
            Self { world, mode, agent, owner, host, invite, callers, marks: vec![], counter: 0 };
        fixture.marks = fixture.marks_of_account().await;
        fixture.scans_are_done().await;
        fixture
    }

    pub fn callers(&self) -> Vec<Caller> {
        self.callers.clone()
    }

    /// The path of an existing object, which is new for calls that may remove it.
    pub async fn target(&mut self, rule: &Rule) -> String {
        self.counter += 1;
        let (_, path) = rule.method_and_path();
        if path == "/auth/dev" {
            return format!("{path}?user=dev-{}", self.counter);
        }
        let mut target = Vec::new();
        for part in path.split('/') {
            target.push(if part.starts_with('{') { self.thing(rule, part).await } else { part.to_owned() });
        }
        let query = if path.ends_with("/diff") { "?from=1" } else { "" };
        target.join("/") + query
    }

    /// The value for a part of a path.
    async fn thing(&mut self, rule: &Rule, part: &str) -> String {
        let (method, path) = rule.method_and_path();
        let of_the_account = match part {
            "{slug}" if method == Method::DELETE => {
                let slug = format!("olgas-page-{}", self.counter);
                self.agent.publish(&slug, PAGE).await.expect(201);
                slug
            }
            "{slug}" if path.starts_with("/v1/moderation/") => self.host.clone(),
            "{slug}" => SLUG.to_owned(),
            "{host}" => self.host.clone(),
            "{code}" if path.starts_with("/claim/") => fresh_claim_code(self.world).await,
            "{code}" if path.starts_with("/invite/") => self.invite.clone(),
            "{code}" => self.agent.invite(&json!({})).await.expect(201).string("code"),
            "{id}" if path.starts_with("/internal/queues/") => return self.job_done().await,
            "{id}" => self.agent.mint(&json!({})).await.expect(201).string("id"),
            "{user_id}" => {
                let name = format!("guest-{}", self.counter);
                joined(self.world, self.mode, &self.agent, &name, "member").await.user_id().await
            }
            "{handle}" => self.agent.handle(),
            "{ticket}" => fresh_ticket(self.world).await,
            "{sha256}" => return "0".repeat(64),
            "{path}" => return "index.html".to_owned(),
            "{seq}" => return "1".to_owned(),
            "{page}" => return "contents.md".to_owned(),
            "{queue}" => return QUEUE.to_owned(),
            "{schedule}" => return SCHEDULE.to_owned(),
            unknown => panic!("define {unknown} of {path} in route_callers/fixture.rs"),
        };
        self.marks.push(of_the_account.clone());
        of_the_account
    }

    async fn job_done(&self) -> String {
        let jobs = format!("/internal/queues/{QUEUE}/jobs?state=done");
        self.world.operator().call(Method::GET, &jobs).await.expect(200).string("items.0.id")
    }

    pub async fn call(&self, rule: &Rule, caller: &Caller, target: &str) -> Called {
        let (method, _) = rule.method_and_path();
        let (call, body) = self.with_body(rule.call, caller.call(self.world, method, target));
        Called { reply: call.await, sent: format!("{target} {body}") }
    }

    /// Adds a valid body to the call, and returns it also as text.
    fn with_body(&self, name: &str, call: Call) -> (Call, String) {
        let person = format!("person-{}", self.counter);
        let body = match name {
            "POST /v1/publish" => {
                return (call.field("slug", "published").field("html", PAGE), String::new());
            }
            "POST /v1/artifacts/{slug}/versions"
            | "POST /v1/uploads/{ticket}"
            | "PUT /v1/uploads/{ticket}" => {
                return (call.field("html", PAGE), String::new());
            }
            "POST /auth/register" => json!({ "username": person, "password": PASSWORD }),
            "POST /auth/login" | "POST /signin" => json!({ "username": USERNAME, "password": PASSWORD }),
            "POST /v1/tokens/revoke" => json!({ "token": format!("svc_sk_{}", "A".repeat(32)) }),
            "POST /v1/account/join" => json!({ "code": self.invite }),
            "POST /mcp" => json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" }),
            "POST /v1/reports" | "POST /report" | "POST /internal/views" => json!({ "host": self.host }),
            "POST /internal/credit" => {
                json!({ "account": self.agent.handle(), "amount_usd": 1, "reason": "A test" })
            }
            "POST /internal/accounts/{handle}/suspend" => json!({ "reason": "A test" }),
            "POST /v1/artifacts/{slug}/activate" => json!({ "version": 1 }),
            "POST /v1/artifacts/{slug}/appeal" => json!({ "message": "It is a drill." }),
            "PATCH /v1/artifacts/{slug}" => json!({ "visibility": "public" }),
            "PATCH /v1/account" => json!({ "allow_agent_join": true }),
            "POST /v1/credits" | "POST /v1/credits/checkout" => json!({ "amount_usd": 5 }),
            "POST /v1/moderation/{slug}" | "POST /internal/moderation/{host}" => json!({ "action": "pass" }),
            "POST /webhooks/card-processor" => json!({ "type": "checkout.session.completed" }),
            _ => return (call, String::new()),
        };
        let call = call.json(&body);
        let unsigned = format!("t={},v1=00", self.world.now_seconds());
        let call = if name.starts_with("POST /webhooks/") {
            call.header("Card-Processor-Signature", unsigned)
        } else {
            call
        };
        (call, body.to_string())
    }

    /// The account as its members see it, without what changes by itself.
    pub async fn seen_from_inside(&self) -> Vec<Value> {
        let agent = &self.agent;
        let calls = [
            agent.account(),
            agent.usage(),
            agent.artifacts(),
            agent.artifact(SLUG),
            agent.invites(),
            agent.members(),
            agent.tokens(),
        ];
        let mut seen = Vec::new();
        for call in calls {
            let mut body = call.await.expect(200).json();
            without_what_comes_by_itself(&mut body);
            seen.push(body);
        }
        seen
    }

    /// A response to an outsider contains nothing that identifies the account, unless the caller sent it.
    pub fn assert_nothing_is_revealed(&self, called: &Called, caller: &Caller) {
        let answer = format!("{:?} {}", called.reply.headers, called.reply.text());
        for mark in self.marks.iter().filter(|mark| !called.sent.contains(*mark)) {
            assert!(!answer.contains(mark), "{} learns {mark}: {:?}", caller.name, called.reply);
        }
    }

    async fn marks_of_account(&self) -> Vec<String> {
        let mut marks = vec![SLUG.to_owned(), self.invite.clone(), self.owner.user_id().await];
        let account = self.agent.account().await.expect(200);
        marks.extend([account.string("id"), account.string("handle")]);
        for (list, field) in [(self.agent.artifacts(), "id"), (self.agent.tokens(), "id")] {
            let list = list.await.expect(200).json();
            let ids = list.as_array().unwrap().iter().filter_map(|one| one[field].as_str());
            marks.extend(ids.map(str::to_owned));
        }
        let team = self.agent.members().await.expect(200).at("members");
        let ids = team.as_array().unwrap().iter().filter_map(|one| one["user_id"].as_str());
        marks.extend(ids.map(str::to_owned));
        marks
    }

    async fn scans_are_done(&self) {
        eventually(PATIENCE, "the page is scanned", async || {
            let artifact = self.agent.artifact(SLUG).await.expect(200);
            (artifact.string("moderation_status") == "pass").then_some(())
        })
        .await;
    }
}

fn without_what_comes_by_itself(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["last_used_at", "moderation", "moderation_status"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_what_comes_by_itself);
        }
        Value::Array(values) => values.iter_mut().for_each(without_what_comes_by_itself),
        _ => {}
    }
}

async fn bad_tokens(world: &World, agent: &Agent) -> Vec<Caller> {
    let unknown = "svc_sk_0123456789abcdefghijABCDEFGHIJxy";
    let revoked = agent.mint(&json!({})).await.expect(201);
    agent.revoke_token(&revoked.string("id")).await.expect(200);
    let soon = Time::from_millis(world.now_seconds() * 1000 + SOON_MILLIS).rfc3339();
    let lapsed = agent.minted(&json!({ "expires_at": soon })).await;
    vec![
        Caller::with_token("an unknown token", Kind::BadToken, unknown),
        Caller::with_token("what is no token", Kind::BadToken, "nonsense"),
        Caller::with_token("a revoked token", Kind::BadToken, &revoked.string("token")),
        Caller::with_token("a token that has ended", Kind::BadToken, lapsed.token()),
    ]
}

async fn people(world: &World, mode: Mode, agent: &Agent, owner: &Human) -> Vec<Caller> {
    let (own, foreign) = (world.base_url(), world.serve_url());
    let admin = joined(world, mode, agent, "adam", "admin").await;
    let member = joined(world, mode, agent, "mia", "member").await;
    vec![
        Caller::with_session("a member", Kind::Member, &member, &own),
        Caller::with_session("an admin", Kind::Admin, &admin, &own),
        Caller::with_session("a page of the edge", Kind::OnForeignPage, owner, &foreign),
        Caller::with_session("a page of no origin", Kind::OnForeignPage, owner, "null"),
        Caller::with_session("the owner", Kind::Owner, owner, &own),
    ]
}

/// People and agents of other accounts or without one, who name the account or do not.
async fn strangers(world: &World, mode: Mode, handle: &str) -> Vec<Caller> {
    let (own, other) = (world.base_url(), world.agent().await);
    let [alone, neighbour] = [signed_in(world, mode, "noel").await, signed_in(world, mode, "nora").await];
    claim(&neighbour, &other).await;
    let naming = Caller::with_session("who names the account", Kind::Stranger, &neighbour, &own);
    vec![
        Caller::with_token("another account", Kind::OtherAccount, other.token()),
        Caller::with_token(
            "another account's token that names the account",
            Kind::OtherAccount,
            other.token(),
        )
        .for_account(handle),
        Caller::with_session("a stranger", Kind::Stranger, &alone, &own),
        naming.for_account(handle),
    ]
}

fn operators() -> Vec<Caller> {
    let secret = World::SIGNING_SECRET;
    vec![
        Caller::with_secret("a wrong secret", Kind::NoOperator, "wrong"),
        Caller::with_secret("a part of the secret", Kind::NoOperator, &secret[1..]),
        Caller::with_secret("the operator", Kind::Operator, secret),
    ]
}

async fn signed_in(world: &World, mode: Mode, name: &str) -> Human {
    let human = world.human();
    match mode {
        Mode::Dev => human.dev_login(name).await.expect(200),
        Mode::Closed => human.register(name, PASSWORD).await.expect(201),
    };
    human
}

async fn joined(world: &World, mode: Mode, agent: &Agent, name: &str, role: &str) -> Human {
    let invite = agent.invite(&json!({ "role": role })).await.expect(201);
    let human = signed_in(world, mode, name).await;
    human.join(&invite.string("invite_url")).await.expect(302);
    human
}

async fn claim(human: &Human, agent: &Agent) {
    human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
}

/// The code of a claim link, of an unclaimed account.
async fn fresh_claim_code(world: &World) -> String {
    let url = world.agent().await.signup.as_ref().unwrap().string("claim_url");
    url.rsplit('/').next().expect("a link").to_owned()
}

/// The last part of an upload address of a separate agent.
async fn fresh_ticket(world: &World) -> String {
    let staged = world.agent().await.call_tool("stage_upload", &json!({})).await.expect(200);
    let url = staged.string("result.structuredContent.url");
    url.rsplit('/').next().expect("an address").to_owned()
}
