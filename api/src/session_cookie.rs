//! The cookie that carries a session's secret: how it is set when somebody signs in, read and kept alive, and
//! cleared when they sign out. No script may read it, and no other site's form may bring it along.

use domain::link::Addresses;
use poem::Request;
use poem::http::HeaderValue;
use poem::web::cookie::{Cookie, SameSite};
use service::SESSION_KEPT;

pub const NAME: &str = "svc_sess";

/// The secret that a request carries.
pub fn secret(request: &Request) -> Option<String> {
    let cookie = request.cookie().get(NAME)?;
    let secret = cookie.value_str();
    (!secret.is_empty()).then(|| secret.to_owned())
}

/// The value of a `Set-Cookie` that keeps a session.
pub fn kept(secret: &str, addresses: &Addresses) -> String {
    let mut cookie = cookie(secret, addresses);
    cookie.set_max_age(SESSION_KEPT);
    cookie.to_string()
}

/// The same for the session that a request carries: a session lasts from its last use, so the cookie must too.
pub fn kept_on(request: &Request, addresses: &Addresses) -> Option<String> {
    secret(request).map(|secret| kept(&secret, addresses))
}

/// The value of a `Set-Cookie` that forgets whatever session there was.
pub fn forgotten(addresses: &Addresses) -> String {
    let mut cookie = cookie("", addresses);
    cookie.set_max_age(std::time::Duration::ZERO);
    cookie.to_string()
}

/// The same as a header of an answer that is made by hand. The secret shows in no `Debug` of it.
pub fn header(value: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(value).ok()?;
    header.set_sensitive(true);
    Some(header)
}

fn cookie(secret: &str, addresses: &Addresses) -> Cookie {
    let mut cookie = Cookie::new_with_str(NAME, secret);
    cookie.set_http_only(true);
    cookie.set_same_site(SameSite::Lax);
    cookie.set_path("/");
    if addresses.base_url.starts_with("https://") {
        cookie.set_secure(true);
    }
    cookie
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
    fn a_session_is_kept_where_no_script_and_no_other_site_gets_at_it() {
        let cookie = kept("abc", &addresses("http://127.0.0.1:8080"));
        assert_eq!(cookie, "svc_sess=abc; HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000");
    }

    #[test]
    fn under_https_it_never_goes_over_anything_else() {
        let https = addresses("https://handbill.example");
        for cookie in [kept("abc", &https), forgotten(&https)] {
            assert!(cookie.split("; ").any(|part| part == "Secure"), "{cookie}");
        }
    }

    #[test]
    fn a_forgotten_session_is_an_empty_cookie_that_is_over() {
        let cookie = forgotten(&addresses("http://127.0.0.1:8080"));
        assert!(cookie.starts_with("svc_sess=; ") && cookie.contains("Max-Age=0"), "{cookie}");
    }
}
