//! The token endpoint (RFC 6749) and the revocation endpoint (RFC 7009).

use domain::oauth::scope_text;
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Body, Request, Response, handler};
use serde_json::json;
use service::{OAuthCode, OAuthFailure, Service, TokenParameters};

use super::answer;
use crate::http::oauth_parameters::OAuthParameters;
use crate::http::origin::origin_of;

#[handler]
pub async fn issue(request: &Request, body: Body, service: Data<&Service>) -> poem::Result<Response> {
    let sent = match answer::form(request, body).await? {
        Ok(sent) => sent,
        Err(error) => return Ok(answer::refused(&error)),
    };
    Ok(answer::of(issued(request, sent, &service).await))
}

async fn issued(
    request: &Request,
    mut sent: OAuthParameters,
    service: &Service,
) -> Result<Response, OAuthFailure> {
    let sent = TokenParameters {
        grant_type: sent.take("grant_type"),
        client_id: sent.take("client_id"),
        code: sent.take("code"),
        redirect_uri: sent.take("redirect_uri"),
        code_verifier: sent.take("code_verifier"),
        refresh_token: sent.take("refresh_token"),
        device_code: sent.take("device_code"),
        scope: sent.take("scope"),
        resource: sent.take("resource"),
    };
    let issued = service.issue_tokens(sent, origin_of(request)).await?;
    let body = json!({
        "access_token": issued.access.reveal(),
        "token_type": "Bearer",
        "expires_in": issued.expires_in.as_secs(),
        "refresh_token": issued.refresh.reveal(),
        "scope": scope_text(issued.scopes),
    });
    Ok(answer::json(StatusCode::OK, &body))
}

#[handler]
pub async fn revoke(request: &Request, body: Body, service: Data<&Service>) -> poem::Result<Response> {
    let sent = match answer::form(request, body).await? {
        Ok(sent) => sent,
        Err(error) => return Ok(answer::refused(&error)),
    };
    Ok(answer::of(revoked(request, sent, &service).await))
}

async fn revoked(
    request: &Request,
    mut sent: OAuthParameters,
    service: &Service,
) -> Result<Response, OAuthFailure> {
    let missing = |name: &str| OAuthCode::InvalidRequest.because(format!("{name}: is missing"));
    let client_id = sent.take("client_id").ok_or_else(|| missing("client_id"))?;
    let token = sent.take("token").ok_or_else(|| missing("token"))?;
    service.revoke_grant(&client_id, &token, origin_of(request)).await?;
    Ok(answer::json(StatusCode::OK, &json!({})))
}
