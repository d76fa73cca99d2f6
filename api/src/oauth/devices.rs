//! The device authorization endpoint (RFC 8628).

use poem::http::StatusCode;
use poem::web::Data;
use poem::{Body, Request, Response, handler};
use serde_json::json;
use service::{DeviceParameters, OAuthFailure, Service};

use super::answer;
use crate::http::client_ip::ClientIp;
use crate::http::oauth_parameters::OAuthParameters;

#[handler]
pub async fn begin(
    request: &Request,
    from: ClientIp,
    body: Body,
    service: Data<&Service>,
) -> poem::Result<Response> {
    let sent = match answer::form(request, body).await? {
        Ok(sent) => sent,
        Err(error) => return Ok(answer::refused(&error)),
    };
    Ok(answer::of(begun(sent, from, &service).await))
}

async fn begun(
    mut sent: OAuthParameters,
    from: ClientIp,
    service: &Service,
) -> Result<Response, OAuthFailure> {
    let sent = DeviceParameters {
        client_id: sent.take("client_id"),
        scope: sent.take("scope"),
        resource: sent.take("resource"),
    };
    let begun = service.begin_device(sent, from.0).await?;
    let body = json!({
        "device_code": begun.device_code,
        "user_code": begun.user_code.to_string(),
        "verification_uri": begun.page,
        "verification_uri_complete": format!("{}?user_code={}", begun.page, begun.user_code),
        "expires_in": begun.expires_in.as_secs(),
        "interval": begun.interval.as_secs(),
    });
    Ok(answer::json(StatusCode::OK, &body))
}
