//! Spec 5: the scope that each call needs. A call that is missing in the table fails the first test here.

use std::collections::BTreeSet;
use std::time::Duration;

use handbill_tests::{Agent, Call, Method, Reply, in_both_modes, json};

use crate::expectations::PAGE;
use crate::teams::claimed_by;

const READ: &str = "artifacts:read";
const WRITE: &str = "artifacts:write";
const TOKENS: &str = "tokens:manage";
const ACCOUNT: &str = "account:manage";
const ALL: [&str; 4] = [WRITE, READ, TOKENS, ACCOUNT];

/// The effect of a call on the account.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    Reads,
    Changes,
}

use Effect::{Changes, Reads};

/// One kind of call: its path in the document, with a query if it needs one, its scope, and a valid body.
struct Kind {
    method: Method,
    path: &'static str,
    scope: &'static str,
    effect: Effect,
    body: Body,
}

#[derive(Clone)]
enum Body {
    None,
    Page,
    Json(&'static str),
}

fn kinds() -> Vec<Kind> {
    use Method as M;
    let kind = |method, path, scope, effect, body| Kind { method, path, scope, effect, body };
    // A call that removes the artifact comes last.
    vec![
        kind(M::POST, "/v1/publish", WRITE, Changes, Body::Page),
        kind(M::GET, "/v1/artifacts", READ, Reads, Body::None),
        kind(M::GET, "/v1/artifacts/{slug}", READ, Reads, Body::None),
        kind(M::GET, "/v1/artifacts/{slug}/files", READ, Reads, Body::None),
        kind(M::GET, "/v1/artifacts/{slug}/files/{path}", READ, Reads, Body::None),
        kind(M::GET, "/v1/artifacts/{slug}/archive", READ, Reads, Body::None),
        kind(M::GET, "/v1/artifacts/{slug}/diff?from=1", READ, Reads, Body::None),
        kind(M::PATCH, "/v1/artifacts/{slug}", WRITE, Changes, Body::Json(r#"{"visibility":"public"}"#)),
        kind(M::POST, "/v1/artifacts/{slug}/versions", WRITE, Changes, Body::Page),
        kind(M::POST, "/v1/artifacts/{slug}/activate", WRITE, Changes, Body::Json(r#"{"version":1}"#)),
        kind(M::POST, "/v1/artifacts/{slug}/private-link", WRITE, Changes, Body::None),
        kind(M::GET, "/v1/account", READ, Reads, Body::None),
        kind(M::GET, "/v1/usage", READ, Reads, Body::None),
        kind(M::PATCH, "/v1/account", ACCOUNT, Changes, Body::Json(r#"{"allow_agent_join":true}"#)),
        kind(M::POST, "/v1/account/claim-link", ACCOUNT, Changes, Body::None),
        kind(M::POST, "/v1/account/invites", ACCOUNT, Changes, Body::None),
        kind(M::GET, "/v1/account/invites", ACCOUNT, Reads, Body::None),
        kind(M::DELETE, "/v1/account/invites/{code}", ACCOUNT, Changes, Body::None),
        kind(M::GET, "/v1/account/audit", ACCOUNT, Reads, Body::None),
        kind(M::GET, "/v1/account/ledger", ACCOUNT, Reads, Body::None),
        kind(M::GET, "/v1/account/members", ACCOUNT, Reads, Body::None),
        kind(M::DELETE, "/v1/account/members/{user_id}", ACCOUNT, Changes, Body::None),
        kind(M::GET, "/v1/tokens", TOKENS, Reads, Body::None),
        kind(M::POST, "/v1/tokens", TOKENS, Changes, Body::None),
        kind(M::DELETE, "/v1/tokens/{id}", TOKENS, Changes, Body::None),
        kind(M::POST, "/v1/credits", ACCOUNT, Changes, Body::Json(r#"{"amount_usd":1}"#)),
        kind(M::DELETE, "/v1/artifacts/{slug}/versions/{seq}", WRITE, Changes, Body::None),
        kind(M::DELETE, "/v1/artifacts/{slug}", WRITE, Changes, Body::None),
        kind(M::POST, "/v1/artifacts/{slug}/restore", WRITE, Changes, Body::None),
    ]
}

impl Kind {
    /// The call by this agent, on the artifact of this slug.
    fn by(&self, agent: &Agent, slug: &str) -> Call {
        const NOBODY: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        let path = self.path.replace("{slug}", slug).replace("{code}", "0123456789abcdefghijABCD");
        let path = path
            .replace("{user_id}", NOBODY)
            .replace("{id}", NOBODY)
            .replace("{path}", "index.html")
            .replace("{seq}", "2");
        let call = agent.call(self.method.clone(), &path);
        match &self.body {
            Body::None => call,
            Body::Page if self.path == "/v1/publish" => {
                call.field("slug", slug.to_owned()).field("html", PAGE)
            }
            Body::Page => call.field("html", PAGE),
            Body::Json(body) => call.raw("application/json", *body),
        }
    }

    fn names_an_artifact(&self) -> bool {
        self.path.contains("{slug}") || self.path == "/v1/publish"
    }
}

#[track_caller]
fn assert_refused(reply: Reply, code: &str) -> Reply {
    reply.refused(403, code)
}

in_both_modes! {
    async fn scope_table_lists_every_call_with_a_token(world: World) {
        let document = world.stranger().get("/openapi.json").await.expect(200).json();
        let mut documented = BTreeSet::new();
        for (path, item) in document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/v1/")) {
            for (method, operation) in item.as_object().unwrap() {
                let takes_a_token = operation["security"]
                    .as_array()
                    .is_some_and(|schemes| schemes.iter().any(|scheme| scheme.get("token").is_some()));
                if takes_a_token {
                    documented.insert(format!("{} {path}", method.to_uppercase()));
                }
            }
        }
        // Checkout accepts no token, and only refers to another call.
        documented.remove("POST /v1/credits/checkout");
        // An export needs three scopes. The tests of exports cover it.
        documented.remove("GET /v1/account/export");
        // An appeal needs a page that has not passed. The tests of appeals cover it.
        documented.remove("POST /v1/artifacts/{slug}/appeal");
        let without_query = |path: &str| path.split('?').next().unwrap_or_default().to_owned();
        let listed: BTreeSet<_> =
            kinds().iter().map(|kind| format!("{} {}", kind.method, without_query(kind.path))).collect();
        assert_eq!(listed, documented);
    }

    async fn missing_scope_is_refused_and_named(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        for lacking in ALL {
            let rest: Vec<_> = ALL.into_iter().filter(|scope| *scope != lacking).collect();
            let lesser = agent.minted(&json!({ "scopes": rest.join(",") })).await;
            for kind in kinds().iter().filter(|kind| kind.scope == lacking) {
                assert_refused(kind.by(&lesser, "my-page").await, "insufficient_scope").naming(lacking);
            }
        }
        // Without the scope, an invalid id is not looked up.
        let lesser = agent.minted(&json!({ "scopes": READ })).await;
        for path in ["/v1/tokens/x", "/v1/account/members/x", "/v1/account/invites/x"] {
            assert_refused(lesser.call(Method::DELETE, path).await, "insufficient_scope");
            agent.call(Method::DELETE, path).await.refused(404, "not_found");
        }
        // With only this scope, no call is refused for a scope.
        for scope in ALL {
            let just = agent.minted(&json!({ "scopes": scope })).await;
            for kind in kinds().iter().filter(|kind| kind.scope == scope && kind.method != Method::DELETE) {
                let reply = kind.by(&just, "my-page").await;
                assert!(reply.status != 400 && !reply.text().contains("insufficient_scope"), "{reply:?}");
            }
        }
        assert_eq!(agent.artifact("my-page").await.expect(200).string("visibility"), "public");
    }

    async fn a_pinned_token_works_on_its_own_artifact_only(world: World) {
        let (agent, owner) = claimed_by(&world, "olga").await;
        let mine = agent.publish("my-page", PAGE).await.expect(201).string("artifact_id");
        agent.publish("other-page", PAGE).await.expect(201);
        let pinned = agent.minted(&json!({ "artifact_id": mine })).await;
        for kind in kinds().iter().filter(|kind| kind.names_an_artifact()) {
            assert_refused(kind.by(&pinned, "other-page").await, "insufficient_scope").naming("pinned");
        }
        // It does not learn which other slugs exist: the whole response is the same.
        for kind in kinds().iter().filter(|kind| kind.names_an_artifact()) {
            let there = assert_refused(kind.by(&pinned, "other-page").await, "insufficient_scope");
            let not_there = assert_refused(kind.by(&pinned, "no-such-page").await, "insufficient_scope");
            assert_eq!(there.json(), not_there.json(), "{} {}", kind.method, kind.path);
        }
        for kind in kinds().iter().filter(|kind| kind.scope == ACCOUNT) {
            assert_refused(kind.by(&pinned, "my-page").await, "insufficient_scope");
        }
        let listed = pinned.artifacts().await.expect(200).json();
        assert_eq!(listed.as_array().unwrap().len(), 1);
        assert_eq!(listed[0]["id"], mine);
        pinned.account().await.expect(200);
        pinned.usage().await.expect(200);
        pinned.publish("my-page", PAGE).await.expect(201);
        pinned.activate("my-page", 1).await.expect(200);
        pinned.delete("my-page").await.expect(200);
        // A new artifact of the same name is another one.
        agent.publish("my-page", PAGE).await.expect(201);
        pinned.artifact("my-page").await.refused(403, "insufficient_scope");
        assert_eq!(owner.account().await.expect(200).at("allow_agent_join"), true);
    }

    async fn invited_agent_works_only_on_artifacts(world: World) {
        let (agent, _) = claimed_by(&world, "olga").await;
        agent.publish("my-page", PAGE).await.expect(201);
        let code = agent.invite(&json!({})).await.expect(201).string("code");
        let invited = world.stranger().joined(&code).await;
        for kind in kinds() {
            let reply = kind.by(&invited, "my-page").await;
            if [TOKENS, ACCOUNT].contains(&kind.scope) {
                assert_refused(reply, "insufficient_scope").naming(kind.scope);
            } else {
                // A public page has no private link to replace.
                let is_allowed = (200..300).contains(&reply.status) || reply.text().contains("not_private");
                assert!(is_allowed, "{reply:?}");
            }
        }
    }

    async fn an_expired_account_is_read_and_never_changed(world: World) {
        let agent = world.agent().await;
        agent.publish("my-page", PAGE).await.expect(201);
        world.advance(Duration::from_secs(31 * 60));
        for kind in kinds() {
            let reply = kind.by(&agent, "my-page").await;
            match kind.effect {
                Reads => drop(reply.expect(200)),
                Changes => drop(assert_refused(reply, "account_expired")),
            }
        }
        assert_eq!(agent.artifacts().await.expect(200).json().as_array().unwrap().len(), 1);
    }

    async fn calls_without_a_valid_token_are_refused(world: World) {
        let stranger = world.stranger();
        let unknown = stranger.with_token("svc_sk_0123456789abcdefghijABCDEFGHIJxy");
        for agent in [&stranger, &unknown] {
            for kind in kinds() {
                let refused = kind.by(agent, "my-page").await.refused(401, "unauthorized");
                assert!(refused.string("hint").contains("POST /v1/signup"), "{refused:?}");
            }
        }
    }
}
