//! `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-11) of the limits that a call was
//! counted by.

use poem::Response;
use poem::http::{HeaderName, HeaderValue};
use service::LimitState;

const RATE_LIMIT: HeaderName = HeaderName::from_static("ratelimit");
const RATE_LIMIT_POLICY: HeaderName = HeaderName::from_static("ratelimit-policy");

/// Adds both headers, with an item for each limit.
pub fn report(response: &mut Response, limits: &[LimitState]) {
    if limits.is_empty() {
        return;
    }
    let state =
        |limit: &LimitState| format!("\"{}\";r={};t={}", limit.name, limit.remaining, limit.reset_seconds);
    let policy =
        |limit: &LimitState| format!("\"{}\";q={};w={}", limit.name, limit.quota, limit.window_seconds);
    add(response, RATE_LIMIT, limits.iter().map(state).collect());
    add(response, RATE_LIMIT_POLICY, limits.iter().map(policy).collect());
}

fn add(response: &mut Response, name: HeaderName, items: Vec<String>) {
    if let Ok(value) = HeaderValue::from_str(&items.join(", ")) {
        response.headers_mut().insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_is_an_item_of_both_headers() {
        let signup =
            LimitState { name: "signup", quota: 10, window_seconds: 60, remaining: 9, reset_seconds: 58 };
        let mut response = Response::default();
        report(&mut response, &[signup, LimitState { name: "publish", ..signup }]);
        assert_eq!(response.header(RATE_LIMIT), Some("\"signup\";r=9;t=58, \"publish\";r=9;t=58"));
        let policy = "\"signup\";q=10;w=60, \"publish\";q=10;w=60";
        assert_eq!(response.header(RATE_LIMIT_POLICY), Some(policy));
        let mut unlimited = Response::default();
        report(&mut unlimited, &[]);
        assert_eq!(unlimited.header(RATE_LIMIT), None);
    }
}
