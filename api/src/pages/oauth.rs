//! The pages on which a person decides about a client: the consent page of a client that returns by a
//! redirect, and the page for the code of a device. Both work without scripts.

mod authorize;
mod device;
#[cfg(test)]
mod samples;

pub use authorize::{decide as decide_authorization, show as show_authorization};
pub use device::{PATH as DEVICE_PATH, decide as decide_device, show as show_device};
#[cfg(test)]
pub use samples::samples;

use askama::Template;
use domain::{Account, Scope, Scopes};
use poem::Request;
use serde::Deserialize;
use service::{Membership, Person, Service};
use url::form_urlencoded::byte_serialize;

use super::time_left::TimeLeft;
use crate::html::error_text::ErrorText;
use crate::http::refusal::RefusedCall;

/// The question whether a client gets access.
#[derive(Template)]
#[template(path = "oauth_consent.html")]
struct ConsentPage {
    client: String,
    /// What is known about who the client is.
    from: ClientOrigin,
    abilities: Vec<&'static str>,
    /// The accounts of the signed-in person.
    accounts: Vec<AccountChoice>,
    signed_in_as: Option<String>,
    /// The path of this page with its query, to which the form is sent.
    action: String,
    /// Why a decision was refused.
    error: Option<ErrorText>,
}

impl ConsentPage {
    fn person(&self) -> Option<&str> {
        self.signed_in_as.as_deref()
    }
}

enum ClientOrigin {
    /// A client that named itself, with the target of its redirect.
    Named { target: String },
    /// A client that the owner of a host describes.
    Described { host: String, target: String },
    /// A device that shows this code.
    Device { code: String },
}

struct AccountChoice {
    handle: String,
    /// The account's name, or its handle.
    label: String,
    role: &'static str,
}

/// A new account, and the way on.
#[derive(Template)]
#[template(path = "oauth_account.html")]
struct NewAccountPage {
    client: String,
    claim_url: String,
    time_left: TimeLeft,
    /// The address that leads on to the client. A device notices by itself.
    onward: Option<String>,
}

/// The end of a decision, or what is wrong with a client's request.
#[derive(Template)]
#[template(path = "oauth_end.html")]
struct EndPage {
    title: &'static str,
    text: String,
    /// The address of the client, and its host.
    onward: Option<(String, String)>,
}

/// The button that was pressed, and the chosen account.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ConsentForm {
    decision: Decision,
    account: String,
}

#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Decision {
    #[default]
    Deny,
    Allow,
    NewAccount,
}

impl ConsentPage {
    /// The sign-in page, which leads back here.
    fn sign_in(&self) -> String {
        sign_in_path(&self.action)
    }

    fn is_device(&self) -> bool {
        matches!(self.from, ClientOrigin::Device { .. })
    }

    /// Whether a new account is the only way to continue.
    fn is_without_accounts(&self) -> bool {
        self.signed_in_as.is_some() && self.accounts.is_empty()
    }
}

fn sign_in_path(next: &str) -> String {
    format!("/signin?next={}", byte_serialize(next.as_bytes()).collect::<String>())
}

/// The path and the query of a request.
fn path_of(request: &Request) -> String {
    request.uri().path_and_query().map(ToString::to_string).unwrap_or_default()
}

/// What the scopes allow, in words.
fn abilities(scopes: Scopes) -> Vec<&'static str> {
    let text = |scope| match scope {
        Scope::ArtifactsWrite => {
            "Publish, change and delete pages. Beyond the free allowance this uses the account's credit."
        }
        Scope::ArtifactsRead => "See the account's pages, their files and the account's usage.",
        Scope::TokensManage => "Create and revoke tokens.",
        Scope::AccountManage => "Manage members, invites and credit, as the owner can.",
    };
    Scope::ALL.into_iter().filter(|scope| scopes.has(*scope)).map(text).collect()
}

async fn accounts_of(person: Option<&Person>, service: &Service) -> Result<Vec<AccountChoice>, RefusedCall> {
    let Some(person) = person else { return Ok(Vec::new()) };
    let choice = |one: Membership| AccountChoice {
        label: one.account.label().to_owned(),
        handle: one.account.handle,
        role: one.role.as_str(),
    };
    Ok(service.memberships(person).await?.into_iter().map(choice).collect())
}

impl NewAccountPage {
    fn new(client: String, account: &Account, service: &Service, onward: Option<String>) -> Self {
        let expires_at = account.expires_at.unwrap_or(account.created_at);
        Self {
            client,
            claim_url: service.addresses().claim(&account.claim_code),
            time_left: TimeLeft(expires_at.since(service.clock().now())),
            onward,
        }
    }
}
