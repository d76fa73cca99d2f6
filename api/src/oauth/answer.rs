//! Responses of OAuth: JSON that no cache stores, and errors with `error` and `error_description`.

use domain::Refusal;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{Body, Request, Response};
use serde_json::{Value, json};
use service::{OAuthCode, OAuthError, OAuthFailure};

use crate::http::oauth_parameters::OAuthParameters;
use crate::http::refusal::{RefusedCall, status_of};

const FORM: &str = "application/x-www-form-urlencoded";

/// A response that no cache stores.
pub fn json(status: StatusCode, body: &Value) -> Response {
    let mut response =
        Response::builder().status(status).content_type("application/json").body(body.to_string());
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The result of an operation, or its error.
pub fn of(result: Result<Response, OAuthFailure>) -> Response {
    match result {
        Ok(response) => response,
        Err(OAuthFailure::Refused(error)) => refused(&error),
        Err(OAuthFailure::Failed(failure)) => refused_otherwise(&RefusedCall::from(failure).0),
    }
}

pub fn refused(error: &OAuthError) -> Response {
    json(StatusCode::BAD_REQUEST, &body(error.code.as_str(), &error.description))
}

/// An error that OAuth does not know keeps the status that it has everywhere.
fn refused_otherwise(refusal: &Refusal) -> Response {
    let code = match refusal {
        Refusal::RateLimited { .. } | Refusal::Overloaded { .. } => "temporarily_unavailable",
        Refusal::Internal | Refusal::OutcomeUnknown(_) => "server_error",
        _ => "invalid_request",
    };
    let mut response = json(status_of(refusal), &body(code, &refusal.message()));
    if let Some(seconds) = refusal.retry_after_seconds() {
        response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
    }
    response
}

fn body(code: &str, description: &str) -> Value {
    json!({ "error": code, "error_description": description })
}

/// The parameters in the form that a request carries.
pub async fn form(request: &Request, body: Body) -> poem::Result<Result<OAuthParameters, OAuthError>> {
    let kind = request.content_type().and_then(|kind| kind.split(';').next()).unwrap_or_default();
    let is_form = kind.trim().eq_ignore_ascii_case(FORM);
    let text = body.into_bytes().await?;
    if !is_form {
        let description = format!("the content type must be {FORM}");
        return Ok(Err(OAuthCode::InvalidRequest.because(description)));
    }
    Ok(OAuthParameters::parse(&text))
}
