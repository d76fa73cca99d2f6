//! The human: a person with a browser, which keeps cookies and sends its origin with every change.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use reqwest::{Client, Method};
use serde_json::json;

use super::calls::calls_of_the_team;
use crate::{Call, Process, Reply, World};

/// A person with a browser's cookies and origin.
#[derive(Clone, Debug)]
pub struct Human {
    client: Client,
    base_url: String,
    origin: String,
    cookies: Arc<Mutex<BTreeMap<String, String>>>,
}

impl Human {
    calls_of_the_team!();

    /// A person on the service's own pages, not signed in.
    pub fn new(world: &World) -> Self {
        let base_url = world.base_url();
        Self { client: world.client(), origin: base_url.clone(), base_url, cookies: Arc::default() }
    }

    /// The same person with the same cookies, on a page of another origin.
    pub fn on_a_page_of(&self, origin: &str) -> Self {
        Self { origin: origin.to_owned(), ..self.clone() }
    }

    /// The same person with the same cookies, at another process of the control plane.
    pub fn at(&self, api: &Process) -> Self {
        Self { base_url: api.url().to_owned(), origin: api.url().to_owned(), ..self.clone() }
    }

    pub fn register(&self, username: &str, password: &str) -> Call {
        self.post("/auth/register").json(&json!({ "username": username, "password": password }))
    }

    pub fn login(&self, username: &str, password: &str) -> Call {
        self.post("/auth/login").json(&json!({ "username": username, "password": password }))
    }

    /// Signs in without a password, as dev mode allows.
    pub fn dev_login(&self, username: &str) -> Call {
        self.get(&format!("/auth/dev?user={username}"))
    }

    pub fn logout(&self) -> Call {
        self.post("/auth/logout")
    }

    pub fn me(&self) -> Call {
        self.get("/auth/me")
    }

    /// Posts the form of a claim link as this person, and asks for a JSON response.
    pub fn claim(&self, claim_url: &str) -> Call {
        self.post(self.path_of(claim_url)).header("Accept", "application/json")
    }

    /// This person's id.
    pub async fn user_id(&self) -> String {
        self.me().await.expect(200).string("user.id")
    }

    /// Presses the button of an invite's page.
    pub fn join(&self, invite_url: &str) -> Call {
        self.post(self.path_of(invite_url))
    }

    /// The path of an address from a response of the service.
    pub fn path_of<'a>(&self, address: &'a str) -> &'a str {
        let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
        rest.find('/').map_or("/", |slash| &rest[slash..])
    }

    pub fn cookie(&self, name: &str) -> Option<String> {
        self.cookies.lock().unwrap().get(name).cloned()
    }

    // Browsers send the origin with every method except GET and HEAD.
    pub fn call(&self, method: Method, path: &str) -> Call {
        let is_safe = method == Method::GET || method == Method::HEAD;
        let cookies = self.cookies.clone();
        let call = Call::new(&self.client, method, format!("{}{path}", self.base_url));
        let call = if is_safe { call } else { call.header("Origin", self.origin.clone()) };
        let call = match self.cookie_header() {
            Some(header) => call.header("Cookie", header),
            None => call,
        };
        call.when_answered(Arc::new(move |reply| keep_cookies(&mut cookies.lock().unwrap(), reply)))
    }

    fn cookie_header(&self) -> Option<String> {
        let cookies = self.cookies.lock().unwrap();
        let pairs: Vec<_> = cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }
}

fn keep_cookies(cookies: &mut BTreeMap<String, String>, reply: &Reply) {
    let set = reply.headers.get_all("set-cookie").iter().filter_map(|value| value.to_str().ok());
    for cookie in set {
        let mut parts = cookie.split(';').map(str::trim);
        let Some((name, value)) = parts.next().and_then(|pair| pair.split_once('=')) else { continue };
        let is_cleared = value.is_empty() || parts.any(|part| part.eq_ignore_ascii_case("max-age=0"));
        if is_cleared {
            cookies.remove(name);
        } else {
            cookies.insert(name.to_owned(), value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply_setting(cookies: &[&str]) -> Reply {
        let mut headers = reqwest::header::HeaderMap::new();
        for cookie in cookies {
            headers.append("set-cookie", cookie.parse().unwrap());
        }
        Reply { status: 200, headers, body: bytes::Bytes::new(), call: "GET /".into() }
    }

    #[test]
    fn cookies_are_kept_until_they_are_cleared() {
        let mut cookies = BTreeMap::new();
        keep_cookies(&mut cookies, &reply_setting(&["a=1; Path=/; HttpOnly", "b=2"]));
        assert_eq!(cookies.len(), 2);
        keep_cookies(&mut cookies, &reply_setting(&["a=x; Max-Age=0", "b=3"]));
        assert_eq!(cookies, BTreeMap::from([("b".to_owned(), "3".to_owned())]));
    }
}
