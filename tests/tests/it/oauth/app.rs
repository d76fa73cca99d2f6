//! An app that connects, as third-party clients do.

use handbill_tests::{Agent, Human, Reply, World, json};
use reqwest::Url;

/// The pair of RFC 7636, appendix B.
pub const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
pub const CHALLENGE: &str = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";
pub const REDIRECT: &str = "http://127.0.0.1:7777/callback";
pub const STATE: &str = "the state & more";

/// A registered app.
pub struct App {
    pub id: String,
    base_url: String,
    http: Agent,
}

impl App {
    pub async fn register(world: &World) -> Self {
        let http = world.stranger();
        let terms =
            json!({ "client_name": "Test App", "redirect_uris": [REDIRECT, "https://app.example/cb"] });
        let registered = http.post("/oauth/register").json(&terms).await.expect(201);
        Self { id: registered.string("client_id"), base_url: world.base_url(), http }
    }

    /// The parameters of its request, with changes. An empty value removes one.
    pub fn request(&self, changes: &[(&str, &str)]) -> String {
        let mcp = format!("{}/mcp", self.base_url);
        let mut parameters = vec![
            ("response_type", "code"),
            ("client_id", &self.id),
            ("redirect_uri", REDIRECT),
            ("code_challenge", CHALLENGE),
            ("code_challenge_method", "S256"),
            ("state", STATE),
            ("resource", &mcp),
        ];
        for (name, value) in changes {
            parameters.retain(|(known, _)| known != name);
            parameters.push((name, value));
        }
        parameters.retain(|(_, value)| !value.is_empty());
        let url = Url::parse_with_params("http://app/oauth/authorize", parameters).unwrap();
        format!("{}?{}", url.path(), url.query().unwrap())
    }

    /// Presses a button of the consent page.
    pub async fn pressed(
        &self,
        human: &Human,
        decision: &str,
        account: &str,
        changes: &[(&str, &str)],
    ) -> Reply {
        human.post(&self.request(changes)).form(&[("decision", decision), ("account", account)]).await
    }

    /// The code after a person's consent.
    pub async fn code(&self, human: &Human, account: &str) -> String {
        self.code_with(human, account, &[]).await
    }

    pub async fn code_with(&self, human: &Human, account: &str, changes: &[(&str, &str)]) -> String {
        let allowed = self.pressed(human, "allow", account, changes).await.expect(302);
        parameter(allowed.header("Location"), "code").expect("a code")
    }

    /// Exchanges a code, with changed parameters.
    pub async fn exchange(&self, code: &str, changes: &[(&str, &str)]) -> Reply {
        let mut parameters = vec![
            ("grant_type", "authorization_code"),
            ("client_id", &self.id),
            ("code", code),
            ("redirect_uri", REDIRECT),
            ("code_verifier", VERIFIER),
        ];
        for (name, value) in changes {
            parameters.retain(|(known, _)| known != name);
            parameters.push((name, value));
        }
        self.http.post("/oauth/token").form(&parameters).await
    }

    pub async fn refresh(&self, refresh_token: &str) -> Reply {
        let parameters =
            [("grant_type", "refresh_token"), ("client_id", &self.id), ("refresh_token", refresh_token)];
        self.http.post("/oauth/token").form(&parameters).await
    }

    /// An agent with an access token.
    pub fn with(&self, tokens: &Reply) -> Agent {
        self.http.with_token(&tokens.string("access_token"))
    }

    /// Whether the token works.
    pub async fn works(&self, tokens: &Reply) -> bool {
        let status = self.with(tokens).account().await.status;
        assert!(status == 200 || status == 401, "{status}");
        status == 200
    }
}

/// A person with a claimed account: the person, the account's handle, and its first agent.
pub struct Owner {
    pub human: Human,
    pub handle: String,
    pub agent: Agent,
}

impl Owner {
    pub async fn new(world: &World, username: &str) -> Self {
        let (agent, human) = (world.agent().await, world.human());
        human.dev_login(username).await.expect(200);
        human.claim(&agent.signup.as_ref().unwrap().string("claim_url")).await.expect(200);
        let handle = agent.account().await.expect(200).string("account.handle");
        Self { human, handle, agent }
    }

    /// Makes a person a member of the account.
    pub async fn admit(&self, human: &Human) {
        let terms = json!({ "role": "member", "max_uses": 1, "ttl_hours": 1 });
        let invite = self.human.invite(&terms).await.expect(201);
        human.join(&invite.string("invite_url")).await.expect(302);
    }
}

/// A parameter of an address.
pub fn parameter(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    url.query_pairs().find(|(known, _)| known == name).map(|(_, value)| value.into_owned())
}

/// The error of OAuth.
#[track_caller]
pub fn refused(reply: &Reply, error: &str) {
    assert_eq!((reply.status, reply.string("error").as_str()), (400, error), "{reply:?}");
    assert!(!reply.string("error_description").is_empty(), "{reply:?}");
    assert_eq!(reply.header("Cache-Control"), "no-store");
}
