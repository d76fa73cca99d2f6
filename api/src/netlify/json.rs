//! The JSON of sites, accounts and deploys, with the fields that the command line reads.

use domain::link::Addresses;
use domain::{Activation, Artifact, Slug};
use poem::http::StatusCode;
use poem::{IntoResponse, Response};
use serde_json::{Value, json};
use service::{Caller, Deploy, DeployEnd, DeployState, Service};

/// A site, which may not exist yet: its first deploy creates it.
pub fn site(service: &Service, caller: &Caller, slug: &Slug, artifact: Option<&Artifact>) -> Value {
    let addresses = service.addresses();
    let url = artifact.map_or_else(|| addresses.serve_url.clone(), |artifact| service.member_url(artifact));
    json!({
        "id": slug,
        "site_id": slug,
        "name": slug,
        "account_id": caller.account.to_string(),
        "account_slug": caller.handle,
        "account_name": caller.handle,
        "url": url,
        "ssl_url": url,
        "admin_url": admin_url(addresses, caller, slug),
    })
}

pub fn account(caller: &Caller) -> Value {
    json!({
        "id": caller.account.to_string(),
        "slug": caller.handle,
        "name": caller.handle,
        "default": true,
        "capabilities": {},
    })
}

pub fn deploy(service: &Service, caller: &Caller, deploy: &Deploy, artifact: Option<&Artifact>) -> Value {
    let addresses = service.addresses();
    let (state, error_message) = match &deploy.state {
        DeployState::New => ("new", None),
        DeployState::Waiting { .. } => ("uploading", None),
        DeployState::Complete => ("uploaded", None),
        DeployState::Ended(DeployEnd::Published { .. }) => ("ready", None),
        DeployState::Ended(DeployEnd::Refused { message, hint }) => {
            ("error", Some(format!("{message}; {hint}")))
        }
    };
    let required: Vec<String> = match &deploy.state {
        DeployState::Waiting { missing } => missing.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let site_url = artifact.map(|artifact| service.member_url(artifact));
    let deploy_url = match deploy.activation {
        Activation::Live => site_url.clone(),
        Activation::Staged => artifact.map(|artifact| match &deploy.state {
            DeployState::Ended(DeployEnd::Published { version }) => {
                service.member_version_url(artifact, *version)
            }
            _ => artifact_page(addresses, caller, &deploy.slug),
        }),
    };
    json!({
        "id": deploy.id.to_string(),
        "site_id": deploy.slug,
        "name": deploy.slug,
        "state": state,
        "error_message": error_message,
        "draft": deploy.activation == Activation::Staged,
        "required": required,
        "required_functions": [],
        "url": site_url,
        "ssl_url": site_url,
        "deploy_url": deploy_url,
        "deploy_ssl_url": deploy_url,
        "admin_url": admin_url(addresses, caller, &deploy.slug),
    })
}

/// The artifact's page on the dashboard.
fn artifact_page(addresses: &Addresses, caller: &Caller, slug: &Slug) -> String {
    addresses.api(&format!("/dashboard/{}/pages/{slug}", caller.handle))
}

/// The command line appends paths such as `/deploys/<id>`. In the fragment they change nothing.
fn admin_url(addresses: &Addresses, caller: &Caller, slug: &Slug) -> String {
    format!("{}#", artifact_page(addresses, caller, slug))
}

pub fn respond(status: StatusCode, body: &Value) -> Response {
    let body = body.to_string();
    body.with_status(status).with_content_type("application/json; charset=utf-8").into_response()
}
