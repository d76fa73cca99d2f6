//! The cookie of an operator's session. Browsers send it only to `/admin`, and never from another site, not
//! even when a link is followed.

use cookie::SameSite;
use domain::OperatorSession;
use domain::link::Addresses;
use poem::Request;

use crate::http::cookies::{CookieScope, sent_as};

const NAME: &str = "svc_admin";
const SCOPE: CookieScope = CookieScope { name: NAME, path: "/admin", same_site: SameSite::Strict };

/// The session that a request carries, which may be forged.
pub fn session(request: &Request) -> Option<String> {
    sent_as(request, NAME).first().map(|session| (*session).to_owned())
}

/// A `Set-Cookie` value that keeps a session for its lifetime.
pub fn kept(session: &str, addresses: &Addresses) -> String {
    SCOPE.set(session, OperatorSession::LIFETIME, addresses)
}

/// A `Set-Cookie` value that clears the session.
pub fn forgotten(addresses: &Addresses) -> String {
    SCOPE.clear(addresses)
}

#[cfg(test)]
mod tests {
    use domain::link::UrlStyle;

    use super::*;

    fn addresses(base_url: &str) -> Addresses {
        Addresses {
            base_url: base_url.into(),
            serve_url: "http://pages.example".into(),
            edge_domain: "pages.example".into(),
            url_style: UrlStyle::Path,
        }
    }

    #[test]
    fn operator_session_cookie_is_limited_to_admin_pages_and_same_site_requests() {
        let cookie = kept("abc", &addresses("http://127.0.0.1:8080"));
        assert_eq!(cookie, "svc_admin=abc; HttpOnly; SameSite=Strict; Path=/admin; Max-Age=43200");
        let cookie = kept("abc", &addresses("https://handbill.example"));
        assert!(cookie.split("; ").any(|part| part == "Secure"), "{cookie}");
        let cookie = forgotten(&addresses("http://127.0.0.1:8080"));
        assert!(cookie.starts_with("svc_admin=; ") && cookie.contains("Max-Age=0"), "{cookie}");
    }
}
