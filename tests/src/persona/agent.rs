//! The agent: a program that sends its token with every call. Except for its signup, it does not check
//! responses.

use reqwest::{Client, Method};
use serde_json::{Value, json};

use super::calls::calls_of_the_team;
use crate::{Call, Process, Reply, World};

#[derive(Clone, Debug)]
pub struct Agent {
    client: Client,
    base_url: String,
    token: Option<String>,
    /// The response to its signup.
    pub signup: Option<Reply>,
}

impl Agent {
    calls_of_the_team!();

    /// An agent with a new provisional account.
    pub async fn sign_up(world: &World) -> Self {
        let stranger = Self::stranger(world);
        let signup = stranger.post("/v1/signup").await.expect(201);
        Self { token: Some(signup.string("token")), signup: Some(signup), ..stranger }
    }

    /// An agent with no token.
    pub fn stranger(world: &World) -> Self {
        Self { client: world.client(), base_url: world.base_url(), token: None, signup: None }
    }

    /// The same agent with this token, well-formed or not.
    pub fn with_token(&self, token: &str) -> Self {
        Self { token: Some(token.to_owned()), ..self.clone() }
    }

    /// The same agent, calling another process of the control plane.
    pub fn at(&self, api: &Process) -> Self {
        Self { base_url: api.url().to_owned(), ..self.clone() }
    }

    pub fn token(&self) -> &str {
        self.token.as_deref().expect("an agent with a token")
    }

    #[track_caller]
    pub fn handle(&self) -> String {
        self.signup.as_ref().expect("an agent that signed up").string("account.handle")
    }

    pub fn publish(&self, slug: &str, html: impl Into<String>) -> Call {
        self.post("/v1/publish").field("slug", slug.to_owned()).field("html", html.into())
    }

    pub fn publish_files(&self, slug: &str, files: &[(&str, &[u8])]) -> Call {
        let call = self.post("/v1/publish").field("slug", slug.to_owned());
        files.iter().fold(call, |call, (path, content)| call.file(path, content.to_vec()))
    }

    pub fn add_version(&self, slug: &str, html: impl Into<String>) -> Call {
        self.post(&format!("/v1/artifacts/{slug}/versions")).field("html", html.into())
    }

    pub fn set_visibility(&self, slug: &str, visibility: &str) -> Call {
        let call = self.call(Method::PATCH, &format!("/v1/artifacts/{slug}"));
        call.json(&json!({ "visibility": visibility }))
    }

    pub fn buy_credit(&self, amount_usd: f64) -> Call {
        self.post("/v1/credits").json(&json!({ "amount_usd": amount_usd }))
    }

    pub fn usage(&self) -> Call {
        self.get("/v1/usage")
    }

    pub fn artifacts(&self) -> Call {
        self.get("/v1/artifacts")
    }

    pub fn artifact(&self, slug: &str) -> Call {
        self.get(&format!("/v1/artifacts/{slug}"))
    }

    pub fn activate(&self, slug: &str, version: i64) -> Call {
        self.post(&format!("/v1/artifacts/{slug}/activate")).json(&json!({ "version": version }))
    }

    pub fn delete(&self, slug: &str) -> Call {
        self.call(Method::DELETE, &format!("/v1/artifacts/{slug}"))
    }

    /// Mints a token. Returns an agent with it.
    pub async fn minted(&self, terms: &Value) -> Self {
        let minted = self.mint(terms).await.expect(201);
        self.with_token(&minted.string("token"))
    }

    pub fn join(&self, code: &str) -> Call {
        self.post("/v1/account/join").json(&json!({ "code": code }))
    }

    /// Redeems an invite code. Returns an agent with the token.
    pub async fn joined(&self, code: &str) -> Self {
        let joined = self.join(code).await.expect(201);
        self.with_token(&joined.string("token"))
    }

    pub fn rotate_private_link(&self, slug: &str) -> Call {
        self.post(&format!("/v1/artifacts/{slug}/private-link"))
    }

    pub fn rotate_claim_link(&self) -> Call {
        self.post("/v1/account/claim-link")
    }

    pub fn mcp(&self, message: &Value) -> Call {
        self.post("/mcp").json(message)
    }

    /// Sends a request to the MCP endpoint.
    pub fn ask_mcp(&self, method: &str, params: &Value) -> Call {
        self.mcp(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }))
    }

    /// Calls a tool of the MCP endpoint.
    pub fn call_tool(&self, tool: &str, arguments: &Value) -> Call {
        self.ask_mcp("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }

    pub fn call(&self, method: Method, path: &str) -> Call {
        let call = Call::new(&self.client, method, format!("{}{path}", self.base_url));
        match &self.token {
            Some(token) => call.header("Authorization", format!("Bearer {token}")),
            None => call,
        }
    }
}
