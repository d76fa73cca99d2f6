//! Cross-origin calls from browsers: `/v1`, `/mcp`, `/.well-known/` and the OAuth endpoints for programs are
//! open to the pages of all origins, with a bearer token and never with a cookie. A page that has a token may
//! use it; it must not use a visitor's session. The consent pages of OAuth are closed.
//!
//! No response allows credentials, so a browser hides every response to a request that it sent with cookies.

use poem::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use poem::{Endpoint, IntoResponse, Request, Response};

/// With everything below those that end with a slash.
const PATHS: [&str; 7] = [
    "/v1/",
    "/mcp",
    "/.well-known/",
    "/oauth/register",
    "/oauth/token",
    "/oauth/revoke",
    "/oauth/device_authorization",
];
/// They need no token. Otherwise any page could sign up, or report pages, from its visitors' addresses.
const CLOSED_PATHS: [&str; 3] = ["/v1/signup", "/v1/account/join", "/v1/reports"];

/// Any origin. It cannot be combined with credentials.
const ANY: HeaderValue = HeaderValue::from_static("*");
const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, POST, PUT, PATCH, DELETE");
const REQUEST_HEADERS: HeaderValue = HeaderValue::from_static(
    "Authorization, Content-Type, Accept, Idempotency-Key, If-Match, If-None-Match, X-PAYMENT, \
     Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, traceparent, tracestate",
);
const RESPONSE_HEADERS: HeaderValue = HeaderValue::from_static(
    "Content-Disposition, ETag, Link, Location, RateLimit, RateLimit-Policy, Retry-After, WWW-Authenticate, \
     X-PAYMENT-RESPONSE, X-Request-Id",
);
/// The longest time that Chromium keeps the answer to a preflight request.
const MAX_AGE: HeaderValue = HeaderValue::from_static("7200");
const REQUEST_METHOD: HeaderName = header::ACCESS_CONTROL_REQUEST_METHOD;

/// Answers a preflight request, or passes the request on and opens its response.
pub async fn respond_or_pass<E: Endpoint>(routes: &E, request: Request) -> poem::Result<Response> {
    if !is_open(request.uri().path()) {
        return routes.call(request).await.map(IntoResponse::into_response);
    }
    if is_preflight(&request) {
        return Ok(preflight());
    }
    let has_cookie = request.headers().contains_key(header::COOKIE);
    let mut response = routes.call(request).await.map(IntoResponse::into_response)?;
    if !has_cookie {
        open(response.headers_mut());
    }
    Ok(response)
}

fn is_open(path: &str) -> bool {
    !CLOSED_PATHS.contains(&path)
        && PATHS.iter().any(|open| if open.ends_with('/') { path.starts_with(open) } else { path == *open })
}

fn is_preflight(request: &Request) -> bool {
    let headers = request.headers();
    request.method() == Method::OPTIONS
        && headers.contains_key(header::ORIGIN)
        && headers.contains_key(REQUEST_METHOD)
}

fn preflight() -> Response {
    let mut response = Response::builder().status(StatusCode::NO_CONTENT).finish();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, REQUEST_HEADERS);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    response
}

fn open(headers: &mut HeaderMap) {
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, ANY);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
}

#[cfg(test)]
mod tests {
    use poem::endpoint::make_sync;

    use super::*;

    async fn called(method: Method, path: &str, headers: &[(&str, &str)]) -> Response {
        let mut request = Request::builder().method(method).uri(path.parse().unwrap());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        respond_or_pass(&make_sync(|_| "answered"), request.finish()).await.unwrap()
    }

    const ASKS: [(&str, &str); 2] =
        [("origin", "https://app.example"), ("access-control-request-method", "POST")];

    #[tokio::test]
    async fn a_preflight_request_is_answered_for_open_paths_only() {
        for path in ["/mcp", "/v1/publish", "/.well-known/oauth-authorization-server", "/oauth/token"] {
            let allowed = called(Method::OPTIONS, path, &ASKS).await;
            assert_eq!(allowed.status(), StatusCode::NO_CONTENT);
            assert_eq!(allowed.header("access-control-allow-origin"), Some("*"));
            assert!(allowed.header("access-control-allow-headers").unwrap().contains("Authorization"));
            assert_eq!(allowed.header("access-control-allow-credentials"), None);
        }
        for path in [
            "/auth/login",
            "/v1/signup",
            "/v1/reports",
            "/internal/views",
            "/mcpx",
            "/v1x",
            "/dashboard",
            "/oauth/authorize",
            "/oauth/device",
        ] {
            let passed = called(Method::OPTIONS, path, &ASKS).await;
            assert_eq!(passed.status(), StatusCode::OK);
            assert_eq!(passed.header("access-control-allow-origin"), None, "{path}");
        }
        assert_eq!(called(Method::OPTIONS, "/mcp", &ASKS[..1]).await.status(), StatusCode::OK);
    }

    #[tokio::test]
    async fn a_response_is_open_unless_the_request_has_a_cookie() {
        let open = called(Method::GET, "/v1/status", &[]).await;
        assert_eq!(open.header("access-control-allow-origin"), Some("*"));
        assert!(open.header("access-control-expose-headers").unwrap().contains("Location"));
        let closed = called(Method::GET, "/v1/status", &[("cookie", "svc_sess=x")]).await;
        assert_eq!(closed.header("access-control-allow-origin"), None);
    }
}
