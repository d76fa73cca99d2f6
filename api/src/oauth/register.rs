//! Dynamic client registration (RFC 7591). The client gets no secret.

use poem::http::StatusCode;
use poem::web::Data;
use poem::{Body, Response, handler};
use serde::Deserialize;
use serde_json::json;
use service::{DevicesOnly, OAuthCode, OAuthFailure, RegistrationRequest, Service};

use super::answer;
use crate::http::client_ip::ClientIp;

/// The fields that are used. Others are ignored, as the RFC allows.
#[derive(Deserialize)]
struct Registration {
    client_name: Option<String>,
    #[serde(default)]
    redirect_uris: Vec<String>,
    #[serde(default)]
    grant_types: Vec<String>,
}

#[handler]
pub async fn register(from: ClientIp, body: Body, service: Data<&Service>) -> poem::Result<Response> {
    let body = body.into_bytes().await?;
    Ok(answer::of(registered(&body, from, &service).await))
}

async fn registered(body: &[u8], from: ClientIp, service: &Service) -> Result<Response, OAuthFailure> {
    let sent: Registration = serde_json::from_slice(body).map_err(|_| {
        OAuthCode::InvalidClientMetadata.because("the body must be a JSON object of client metadata")
    })?;
    let needs_redirect =
        sent.grant_types.is_empty() || sent.grant_types.iter().any(|kind| kind == "authorization_code");
    let request = RegistrationRequest {
        client_name: sent.client_name,
        redirect_uris: sent.redirect_uris,
        uses_devices_only: if needs_redirect { DevicesOnly::No } else { DevicesOnly::Yes },
    };
    let client = service.register_client(request, from.0).await?;
    let redirect_uris: Vec<&str> = client.metadata.redirect_uris.iter().map(|uri| uri.as_str()).collect();
    let grant_types: &[&str] = if redirect_uris.is_empty() {
        &["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
    } else {
        &["authorization_code", "refresh_token"]
    };
    let body = json!({
        "client_id": client.id,
        "client_id_issued_at": client.issued_at.millis() / 1000,
        "client_name": client.metadata.name.to_string(),
        "redirect_uris": redirect_uris,
        "grant_types": grant_types,
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    });
    Ok(answer::json(StatusCode::CREATED, &body))
}
