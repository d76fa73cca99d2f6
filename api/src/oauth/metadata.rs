//! What a client reads first: the challenge in a refused request leads to the resource's metadata (RFC 9728),
//! and that to the authorization server's (RFC 8414).

use domain::oauth::{CodeChallenge, default_scopes, scope_text};
use domain::{Scope, Scopes};
use poem::http::{HeaderValue, StatusCode, header};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde_json::{Value, json};
use service::Service;

use super::answer;

pub const RESOURCE: &str = "/.well-known/oauth-protected-resource";
pub const RESOURCE_MCP: &str = "/.well-known/oauth-protected-resource/mcp";
pub const RESOURCE_V1: &str = "/.well-known/oauth-protected-resource/v1";
pub const SERVER: &str = "/.well-known/oauth-authorization-server";

/// Clients ask seldom, and get a change within minutes.
const FRESH: HeaderValue = HeaderValue::from_static("public, max-age=300");

#[handler]
pub fn resource(request: &Request, service: Data<&Service>) -> Response {
    let path = request.uri().path().strip_prefix(RESOURCE).unwrap_or_default();
    let service: &Service = &service;
    fresh(&json!({
        "resource": service.addresses().api(path),
        "authorization_servers": [service.issuer()],
        // What an agent needs to publish. A client may request more, as the challenge of a 403 says.
        "scopes_supported": names(default_scopes()),
        "bearer_methods_supported": ["header"],
        "resource_name": "Handbill",
        "resource_documentation": service.addresses().api("/docs"),
    }))
}

#[handler]
pub fn server(service: Data<&Service>) -> Response {
    let at = |path: &str| service.addresses().api(path);
    fresh(&json!({
        "issuer": service.issuer(),
        "authorization_endpoint": at("/oauth/authorize"),
        "token_endpoint": at("/oauth/token"),
        "registration_endpoint": at("/oauth/register"),
        "revocation_endpoint": at("/oauth/revoke"),
        "device_authorization_endpoint": at("/oauth/device_authorization"),
        "scopes_supported": names(Scopes::all()),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported":
            ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:device_code"],
        "code_challenge_methods_supported": [CodeChallenge::METHOD],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "service_documentation": at("/docs"),
    }))
}

fn names(scopes: Scopes) -> Vec<&'static str> {
    Scope::ALL.into_iter().filter(|scope| scopes.has(*scope)).map(Scope::as_str).collect()
}

fn fresh(metadata: &Value) -> Response {
    let mut response = answer::json(StatusCode::OK, metadata);
    response.headers_mut().insert(header::CACHE_CONTROL, FRESH);
    response
}

/// Adds to the challenge of a refused request where a client finds the metadata, and which scopes to request.
/// The scopes of a challenge for more scopes stay.
pub fn challenged(mut response: Response, path: &str, base_url: &str) -> Response {
    let metadata = match path {
        "/mcp" => RESOURCE_MCP,
        path if path.starts_with("/v1/") => RESOURCE,
        _ => return response,
    };
    let Some(challenge) = response.headers().get(header::WWW_AUTHENTICATE) else { return response };
    let challenge = challenge.to_str().unwrap_or("Bearer");
    let separator = if challenge.contains(' ') { "," } else { "" };
    let mut text = format!("{challenge}{separator} resource_metadata=\"{base_url}{metadata}\"");
    if !challenge.contains("scope=") {
        text = format!("{text}, scope=\"{}\"", scope_text(default_scopes()));
    }
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::WWW_AUTHENTICATE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn challenge(path: &str, challenge: &'static str) -> Option<String> {
        let response = Response::builder().header(header::WWW_AUTHENTICATE, challenge).finish();
        challenged(response, path, "https://h.example").header(header::WWW_AUTHENTICATE).map(str::to_owned)
    }

    #[test]
    fn challenge_leads_to_the_metadata_and_names_the_scopes() {
        assert_eq!(
            challenge("/v1/account", "Bearer").as_deref(),
            Some(
                "Bearer resource_metadata=\"https://h.example/.well-known/oauth-protected-resource\", \
                 scope=\"artifacts:write artifacts:read\""
            )
        );
        assert_eq!(
            challenge("/mcp", "Bearer realm=\"handbill\"").as_deref(),
            Some(
                "Bearer realm=\"handbill\", resource_metadata=\"https://h.example/.well-known/\
                 oauth-protected-resource/mcp\", scope=\"artifacts:write artifacts:read\""
            )
        );
        assert_eq!(
            challenge("/v1/tokens", "Bearer error=\"insufficient_scope\", scope=\"tokens:manage\"")
                .as_deref(),
            Some(
                "Bearer error=\"insufficient_scope\", scope=\"tokens:manage\", \
                 resource_metadata=\"https://h.example/.well-known/oauth-protected-resource\""
            )
        );
        assert_eq!(challenge("/auth/me", "Bearer").as_deref(), Some("Bearer"));
        let none = challenged(Response::default(), "/mcp", "https://h.example");
        assert!(none.headers().is_empty());
    }
}
