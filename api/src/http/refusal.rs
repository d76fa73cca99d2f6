//! Refusals in HTTP: the only place that gives them a status, headers and a body.

use std::sync::Arc;

use domain::Refusal;
use poem::error::ResponseError;
use poem::http::{HeaderValue, StatusCode, header};
use poem::{IntoResponse, Request, Response};
use poem_openapi::payload::Json;
use poem_openapi::types::ToJSON;
use serde_json::{Value, json};
use service::Failure;

use crate::wire;

/// The media type of problems (RFC 9457).
pub const PROBLEM: &str = "application/problem+json";

/// A refusal as a poem error, from a handler or from an extractor before it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct RefusedCall(pub Box<Refusal>);

impl From<Refusal> for RefusedCall {
    fn from(refusal: Refusal) -> Self {
        Self(Box::new(refusal))
    }
}

impl From<Failure> for RefusedCall {
    /// Logs a bug once. The caller sees only `internal_error`.
    fn from(failure: Failure) -> Self {
        match failure.handle() {
            Ok(refusal) => Self(refusal),
            Err(bug) => {
                tracing::error!(error = format!("{bug:#}"), "a call failed");
                Refusal::Internal.into()
            }
        }
    }
}

impl ResponseError for RefusedCall {
    fn status(&self) -> StatusCode {
        status_of(&self.0)
    }

    fn as_response(&self) -> Response {
        respond(&self.0)
    }
}

/// The address of the API. The middleware adds it to each request, so that errors can link to their
/// description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl(pub Arc<str>);

impl BaseUrl {
    pub fn of(request: &Request) -> Option<Self> {
        request.data().cloned()
    }
}

/// The response for a refusal, without a link to its description.
pub fn respond(refusal: &Refusal) -> Response {
    with_body(refusal, json_of(refusal))
}

/// The response for a refusal, with a link to its description.
pub fn respond_linked(refusal: &Refusal, base_url: &str) -> Response {
    with_body(refusal, linked_json_of(refusal, base_url))
}

fn with_body(refusal: &Refusal, body: Value) -> Response {
    let mut response = Json(body).into_response();
    response.set_status(status_of(refusal));
    let headers = response.headers_mut();
    if let Some(seconds) = refusal.retry_after_seconds() {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    match refusal {
        Refusal::Unauthorized | Refusal::NotSignedIn | Refusal::InvalidCredentials => {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Refusal::InsufficientScope(right) => {
            if let Some(scope) = right.scope()
                && let Ok(challenge) = HeaderValue::from_str(&insufficient(scope.as_str()))
            {
                headers.insert(header::WWW_AUTHENTICATE, challenge);
            }
        }
        Refusal::MethodNotAllowed { allowed } => {
            if let Ok(allowed) = HeaderValue::from_str(allowed) {
                headers.insert(header::ALLOW, allowed);
            }
        }
        _ => {}
    }
    response
}

/// RFC 6750: the scopes that a client needs for the request. `oauth::challenged` adds where to get them.
pub fn insufficient(scope: &str) -> String {
    format!("Bearer error=\"insufficient_scope\", scope=\"{scope}\"")
}

/// The response for a refusal in the form of Netlify's API, whose command line prints the message alone.
pub fn respond_to_netlify(refusal: &Refusal, status: StatusCode) -> Response {
    let mut response = respond(refusal);
    let message = format!("{}; {}", refusal.message(), refusal.hint());
    response.set_body(json!({ "code": status.as_u16(), "message": message }).to_string());
    response.set_status(status);
    response
}

/// The response for a refusal as a problem (RFC 9457): its members beside our own.
pub fn respond_as_problem(refusal: &Refusal, base_url: Option<&str>) -> Response {
    let mut body = base_url.map_or_else(|| json_of(refusal), |base_url| linked_json_of(refusal, base_url));
    let kind = body.get("doc_url").cloned();
    body["type"] = kind.unwrap_or_else(|| json!("about:blank"));
    body["title"] = json!(title_of(refusal.code()));
    body["status"] = json!(status_of(refusal).as_u16());
    body["detail"] = json!(refusal.message());
    let mut response = with_body(refusal, body);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
    response
}

/// A code in words: `slug_taken` is "Slug taken".
fn title_of(code: &str) -> String {
    let mut words = code.replace('_', " ");
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    words
}

/// The JSON body of a refusal.
pub fn json_of(refusal: &Refusal) -> Value {
    let body = match refusal {
        Refusal::PaymentRequired(challenge) => wire::Challenge::from(&**challenge).to_json(),
        Refusal::VersionConflict { live } => wire::VersionConflict::new(refusal, *live).to_json(),
        Refusal::EditMismatch(mismatch) => wire::EditMismatch::new(refusal, mismatch).to_json(),
        refusal => wire::Error::from(refusal).to_json(),
    };
    body.unwrap_or_default()
}

/// The JSON body of a refusal with `doc_url`, the address of its description.
pub fn linked_json_of(refusal: &Refusal, base_url: &str) -> Value {
    let mut body = json_of(refusal);
    body["doc_url"] = doc_url(refusal.code(), base_url).into();
    body
}

/// The section of an error code in the documentation.
pub fn doc_url(code: &str, base_url: &str) -> String {
    format!("{base_url}/docs/errors#{code}")
}

// Spec 7. For codes that it leaves open, the status that HTTP defines for the cause.
pub fn status_of(refusal: &Refusal) -> StatusCode {
    match refusal {
        Refusal::InvalidRequest { .. }
        | Refusal::InvalidArguments { .. }
        | Refusal::InvalidBody { .. }
        | Refusal::SecretInPublish { .. }
        | Refusal::WeakPassword { .. } => StatusCode::BAD_REQUEST,
        Refusal::Unauthorized | Refusal::NotSignedIn | Refusal::InvalidCredentials => {
            StatusCode::UNAUTHORIZED
        }
        Refusal::PaymentRequired(_) => StatusCode::PAYMENT_REQUIRED,
        Refusal::AccountExpired
        | Refusal::AccountSuspended
        | Refusal::InsufficientScope(_)
        | Refusal::SessionRequired
        | Refusal::AgentJoinDisabled
        | Refusal::Forbidden { .. }
        | Refusal::NoAccount
        | Refusal::ForeignAccount
        | Refusal::OwnerStays
        | Refusal::NotClaimed
        | Refusal::ForeignPage
        | Refusal::DevModeIsLocal
        | Refusal::QuotaExceeded { .. }
        | Refusal::TooMany(_)
        | Refusal::TooManyAccounts { .. } => StatusCode::FORBIDDEN,
        Refusal::NotFound { .. } => StatusCode::NOT_FOUND,
        Refusal::ClaimExpired => StatusCode::GONE,
        Refusal::MethodNotAllowed { .. } => StatusCode::METHOD_NOT_ALLOWED,
        Refusal::SlugTaken { .. }
        | Refusal::SlugInUse { .. }
        | Refusal::VersionLive { .. }
        | Refusal::VersionHeld { .. }
        | Refusal::AmbiguousSlug { .. }
        | Refusal::UsernameTaken { .. }
        | Refusal::InviteRevoked
        | Refusal::InviteExpired
        | Refusal::InviteUsedUp
        | Refusal::AlreadyClaimed
        | Refusal::IdempotencyConflict
        | Refusal::ContentMissing { .. }
        | Refusal::EditMismatch(_)
        | Refusal::UploadTaken
        | Refusal::VersionChanged { .. }
        | Refusal::DecidedMeanwhile { .. }
        | Refusal::AlreadyAppealed
        | Refusal::NothingToAppeal { .. }
        | Refusal::NotPrivate
        | Refusal::JobIs { .. } => StatusCode::CONFLICT,
        Refusal::VersionConflict { .. } => StatusCode::PRECONDITION_FAILED,
        Refusal::TooLarge { .. } | Refusal::PublishTooLarge { .. } | Refusal::StorageFull { .. } => {
            StatusCode::PAYLOAD_TOO_LARGE
        }
        Refusal::UnsupportedMediaType { .. } => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Refusal::RateLimited { .. } => StatusCode::TOO_MANY_REQUESTS,
        Refusal::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Refusal::NotConfigured { .. } => StatusCode::NOT_IMPLEMENTED,
        Refusal::ProcessorError => StatusCode::BAD_GATEWAY,
        Refusal::Overloaded { .. } | Refusal::OutcomeUnknown(_) => StatusCode::SERVICE_UNAVAILABLE,
    }
}

#[cfg(test)]
mod tests {
    use domain::{Challenge, Micro, MissingRight, PaymentMethods, Repeating};
    use serde_json::json;

    use super::*;

    async fn body_of(response: Response) -> Value {
        response.into_body().into_json().await.unwrap()
    }

    #[test]
    fn every_code_has_the_status_that_is_promised() {
        let challenge = Challenge::new("publish", Micro::new(5_000), PaymentMethods::DEFAULT);
        let what = || "x".to_owned();
        for (refusal, status) in [
            (Refusal::invalid("slug", "is empty"), 400),
            (Refusal::InvalidBody { fault: what() }, 400),
            (Refusal::WeakPassword { rule: what() }, 400),
            (Refusal::Unauthorized, 401),
            (Refusal::NotSignedIn, 401),
            (Refusal::InvalidCredentials, 401),
            (Refusal::PaymentRequired(Box::new(challenge)), 402),
            (Refusal::AccountExpired, 403),
            (Refusal::ClaimExpired, 410),
            (Refusal::AccountSuspended, 403),
            (Refusal::InsufficientScope(MissingRight::OtherArtifact), 403),
            (Refusal::SessionRequired, 403),
            (Refusal::AgentJoinDisabled, 403),
            (Refusal::Forbidden { fault: what() }, 403),
            (Refusal::NoAccount, 403),
            (Refusal::ForeignAccount, 403),
            (Refusal::OwnerStays, 403),
            (Refusal::ForeignPage, 403),
            (Refusal::DevModeIsLocal, 403),
            (Refusal::QuotaExceeded { limit: what() }, 403),
            (Refusal::TooManyAccounts { limit: 20 }, 403),
            (Refusal::NotFound(domain::Missing::Artifact), 404),
            (Refusal::MethodNotAllowed { allowed: what() }, 405),
            (Refusal::SlugTaken { slug: what() }, 409),
            (Refusal::SlugInUse { slug: what() }, 409),
            (Refusal::VersionLive { seq: 1 }, 409),
            (Refusal::VersionHeld { seq: 1 }, 409),
            (Refusal::AmbiguousSlug { slug: what() }, 409),
            (Refusal::UsernameTaken { username: what() }, 409),
            (Refusal::InviteRevoked, 409),
            (Refusal::InviteExpired, 409),
            (Refusal::InviteUsedUp, 409),
            (Refusal::AlreadyClaimed, 409),
            (Refusal::IdempotencyConflict, 409),
            (Refusal::ContentMissing { missing: vec![] }, 409),
            (Refusal::InvalidArguments { tool: what(), fault: what() }, 400),
            (Refusal::UploadTaken, 409),
            (Refusal::VersionChanged { current: None }, 409),
            (Refusal::DecidedMeanwhile { status: domain::ModerationStatus::Review }, 409),
            (Refusal::AlreadyAppealed, 409),
            (Refusal::NothingToAppeal { status: domain::ModerationStatus::Pass }, 409),
            (Refusal::NotPrivate, 409),
            (Refusal::JobIs { state: "running".into() }, 409),
            (Refusal::VersionConflict { live: None }, 412),
            (Refusal::TooLarge { limit: what() }, 413),
            (Refusal::PublishTooLarge { limit: what() }, 413),
            (Refusal::StorageFull { limit: what() }, 413),
            (Refusal::UnsupportedMediaType { expected: what() }, 415),
            (Refusal::RateLimited { retry_after_seconds: 7 }, 429),
            (Refusal::Internal, 500),
            (Refusal::NotConfigured { what: what() }, 501),
            (Refusal::ProcessorError, 502),
            (Refusal::overloaded("busy"), 503),
            (Refusal::OutcomeUnknown(Repeating::AsItIs), 503),
        ] {
            assert_eq!(respond(&refusal).status().as_u16(), status, "{refusal}");
        }
    }

    #[tokio::test]
    async fn refusal_body_has_code_message_and_hint() {
        let response = respond(&Refusal::invalid("slug", "is empty"));
        assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json; charset=utf-8");
        assert_eq!(
            body_of(response).await,
            json!({
                "code": "invalid_request",
                "message": "slug: is empty",
                "hint": "correct slug and send the request again; GET /skill/reference/contents.md leads \
                 to its description",
            })
        );
    }

    #[tokio::test]
    async fn a_problem_has_the_members_of_rfc_9457_beside_our_own() {
        let response =
            respond_as_problem(&Refusal::SlugTaken { slug: "a".into() }, Some("https://a.example"));
        assert_eq!(response.headers()[header::CONTENT_TYPE], PROBLEM);
        let body = body_of(response).await;
        assert_eq!(body["type"], "https://a.example/docs/errors#slug_taken");
        assert_eq!((&body["title"], &body["status"]), (&json!("Slug taken"), &json!(409)));
        assert_eq!((&body["code"], &body["detail"]), (&json!("slug_taken"), &body["message"]));
        assert!(body["hint"].is_string(), "{body}");
        let challenge = Challenge::new("publish", Micro::new(5_000), PaymentMethods::DEFAULT);
        let paid = body_of(respond_as_problem(&Refusal::PaymentRequired(Box::new(challenge)), None)).await;
        assert_eq!((&paid["status"], &paid["accepts"][0]["scheme"]), (&json!(402), &json!("dev")));
    }

    #[tokio::test]
    async fn a_linked_refusal_has_the_address_of_its_code() {
        let refusal = Refusal::SlugTaken { slug: "my-page".into() };
        let (linked, plain) =
            (respond_linked(&refusal, "https://handbill.example"), body_of(respond(&refusal)).await);
        assert_eq!(linked.status(), StatusCode::CONFLICT);
        let mut body = body_of(linked).await;
        assert_eq!(body["doc_url"], "https://handbill.example/docs/errors#slug_taken");
        body.as_object_mut().unwrap().remove("doc_url");
        assert_eq!(body, plain);
    }

    #[tokio::test]
    async fn a_402_is_the_challenge_itself() {
        let challenge = Challenge::new("publish", Micro::new(5_000), PaymentMethods::DEFAULT);
        let body = body_of(respond(&Refusal::PaymentRequired(Box::new(challenge)))).await;
        assert_eq!(body["code"], "payment_required");
        assert_eq!(body["reason"], "publish");
        assert_eq!(body["amount_usd"].to_string(), "0.005");
        assert_eq!(body["accepts"][0]["scheme"], "dev");
        assert!(body["accepts"][0]["instructions"].is_string());
        assert_eq!(body["accepts"][0].get("status"), None);
        assert_eq!(body["accepts"][1], json!({"scheme": "x402-usdc-base", "status": "stub"}));
        assert!(body["message"].is_string() && body["hint"].is_string());
    }

    #[tokio::test]
    async fn a_412_has_the_live_version_or_null() {
        let created_at = domain::Time::from_millis(1_767_225_600_000);
        let live = domain::CurrentVersion { seq: 8, created_by: None, created_at };
        let body = body_of(respond(&Refusal::VersionConflict { live: Some(live) })).await;
        assert_eq!((&body["code"], &body["live_version"]), (&json!("version_conflict"), &json!(8)));
        assert_eq!(
            (&body["created_by"], &body["created_at"]),
            (&Value::Null, &json!("2026-01-01T00:00:00Z"))
        );
        assert!(body["hint"].as_str().unwrap().contains("\"v8\""), "{body}");
        let body = body_of(respond(&Refusal::VersionConflict { live: None })).await;
        for field in ["live_version", "created_by", "created_at"] {
            assert_eq!(body.get(field), Some(&Value::Null), "{body}");
        }
    }

    #[test]
    fn headers_say_when_to_retry_how_to_authenticate_and_what_is_allowed() {
        let of = |refusal: Refusal, name: &str| respond(&refusal).header(name).map(str::to_owned);
        assert_eq!(of(Refusal::RateLimited { retry_after_seconds: 7 }, "retry-after").as_deref(), Some("7"));
        assert!(of(Refusal::overloaded("busy"), "retry-after").is_some());
        assert_eq!(of(Refusal::Unauthorized, "www-authenticate").as_deref(), Some("Bearer"));
        let allowed = Refusal::MethodNotAllowed { allowed: "GET, HEAD".into() };
        assert_eq!(of(allowed, "allow").as_deref(), Some("GET, HEAD"));
    }
}
