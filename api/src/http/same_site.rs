//! Protection against cross-site request forgery. Distinguishes requests of our own pages from those that
//! another site's page sends with the visitor's cookie.
//!
//! Browsers send the origin of a change in `Origin` or `Sec-Fetch-Site`; a client that sends neither is not a
//! browser. A site that the edge serves counts as another site, even if only its port differs.

use domain::Refusal;
use domain::link::Addresses;
use poem::Request;
use poem::http::{Method, header};

/// Refuses a change that another site's page requests.
pub fn demand(request: &Request, addresses: &Addresses) -> Result<(), Refusal> {
    let is_safe = matches!(*request.method(), Method::GET | Method::HEAD | Method::OPTIONS);
    if is_safe || is_own(request, addresses) {
        return Ok(());
    }
    Err(Refusal::ForeignPage)
}

fn is_own(request: &Request, addresses: &Addresses) -> bool {
    let Some(origin) = request.headers().get(header::ORIGIN) else {
        return matches!(request.header("sec-fetch-site"), None | Some("same-origin" | "none"));
    };
    let origin = origin.to_str().unwrap_or_default();
    let base_url = addresses.base_url.as_str();
    // The origin that the browser itself uses for us is ours too: no other site's page can have it.
    let (scheme, _) = base_url.split_once("://").unwrap_or_default();
    let named = request.headers().get(header::HOST).and_then(|host| host.to_str().ok());
    origin_of(base_url).eq_ignore_ascii_case(origin)
        || named.is_some_and(|host| format!("{scheme}://{host}").eq_ignore_ascii_case(origin))
}

/// Scheme, host and port of a URL, as in an `Origin` header.
pub fn origin_of(base_url: &str) -> &str {
    let host_at = base_url.find("://").map_or(0, |at| at + 3);
    let end = base_url[host_at..].find('/').map_or(base_url.len(), |slash| host_at + slash);
    &base_url[..end]
}

#[cfg(test)]
mod tests {
    use domain::link::UrlStyle;

    use super::*;

    fn is_allowed(method: Method, headers: &[(&str, &str)]) -> bool {
        let addresses = Addresses {
            base_url: "https://handbill.example/api".into(),
            serve_url: "https://pages.example".into(),
            edge_domain: "pages.example".into(),
            url_style: UrlStyle::Path,
        };
        let mut request = Request::builder().method(method);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        demand(&request.finish(), &addresses).is_ok()
    }

    #[test]
    fn writes_are_allowed_from_own_pages_and_non_browsers() {
        assert!(is_allowed(Method::POST, &[]));
        assert!(is_allowed(Method::POST, &[("origin", "https://handbill.example")]));
        assert!(is_allowed(Method::POST, &[("origin", "https://10.0.0.1:8080"), ("host", "10.0.0.1:8080")]));
        assert!(is_allowed(Method::POST, &[("sec-fetch-site", "same-origin")]));
        assert!(is_allowed(Method::DELETE, &[("sec-fetch-site", "none")]));
    }

    #[test]
    fn cross_origin_writes_are_refused() {
        for origin in
            ["https://evil.example", "null", "", "http://handbill.example", "https://handbill.example:8081"]
        {
            assert!(!is_allowed(Method::POST, &[("origin", origin)]), "{origin}");
        }
        assert!(!is_allowed(Method::PATCH, &[("sec-fetch-site", "cross-site")]));
        assert!(!is_allowed(Method::PATCH, &[("sec-fetch-site", "same-site")]));
    }

    #[test]
    fn cross_origin_reads_are_allowed() {
        assert!(is_allowed(Method::GET, &[("origin", "https://evil.example")]));
    }
}
