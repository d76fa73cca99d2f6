//! The session cookie: how it is set at sign-in, read, renewed and cleared at sign-out. Scripts cannot read
//! it, and forms of other sites cannot send it.
//!
//! Under https it is set under two names. The specification names `svc_sess`, but a page on a sibling host
//! can plant a cookie of that name here, and so make a visitor act as somebody else. Browsers accept
//! `__Host-svc_sess` only from this very host, so it takes precedence, and a browser must send it.

use cookie::SameSite;
use domain::link::Addresses;
use poem::http::{HeaderValue, header};
use poem::{Request, Response};
use service::{SESSION_KEPT, Service};

use crate::http::cookies::{CookieScope, is_https, sent_as};
use crate::http::refusal::RefusedCall;
use crate::http::same_site;

pub const NAME: &str = "svc_sess";
const SCOPE: CookieScope = CookieScope { name: NAME, path: "/", same_site: SameSite::Lax };
/// Browsers accept a cookie with this prefix only from the host itself.
const HOST_PREFIX: &str = "__Host-";
/// A sign-out ends this many sessions at most. A browser sends more only when somebody has planted them.
const ENDED_MAX: usize = 8;

/// The session secret that a request carries.
pub fn secret(request: &Request, addresses: &Addresses) -> Option<String> {
    let mut sent = sent_as(request, &format!("{HOST_PREFIX}{NAME}"));
    if sent.is_empty() && !(is_https(addresses) && is_from_browser(request)) {
        sent = sent_as(request, NAME);
    }
    match sent.as_slice() {
        [secret] => Some((*secret).to_owned()),
        // At most one of several was set here, and there is no way to tell which.
        _ => None,
    }
}

/// Every session secret under either name, because a sign-out ends all of these sessions.
pub fn all_secrets(request: &Request) -> Vec<String> {
    let mut sent = sent_as(request, &format!("{HOST_PREFIX}{NAME}"));
    sent.extend(sent_as(request, NAME));
    sent.truncate(ENDED_MAX);
    sent.into_iter().map(str::to_owned).collect()
}

/// Ends every session that the request carries.
pub async fn end(request: &Request, service: &Service) -> Result<(), RefusedCall> {
    let sessions = all_secrets(request);
    if !sessions.is_empty() {
        same_site::demand(request, service.addresses())?;
    }
    for session in &sessions {
        service.log_out(session).await?;
    }
    Ok(())
}

/// Browsers send this header with every request over https, and no page can remove it.
fn is_from_browser(request: &Request) -> bool {
    request.headers().contains_key("sec-fetch-site")
}

/// Repeats every session cookie that the response sets or clears under the `__Host-` name.
pub fn under_both_names(mut response: Response, is_https: bool) -> Response {
    if !is_https {
        return response;
    }
    let begins = format!("{NAME}=");
    let set = response.headers().get_all(header::SET_COOKIE).iter().filter_map(|value| value.to_str().ok());
    let own = set.filter(|cookie| cookie.starts_with(&begins));
    let twins: Vec<_> = own.filter_map(|cookie| header_value(&format!("{HOST_PREFIX}{cookie}"))).collect();
    for twin in twins {
        response.headers_mut().append(header::SET_COOKIE, twin);
    }
    response
}

/// A `Set-Cookie` value that keeps a session.
pub fn kept(secret: &str, addresses: &Addresses) -> String {
    SCOPE.set(secret, SESSION_KEPT, addresses)
}

/// Renews the cookie of the request's session: a session expires some time after its last use, so the cookie
/// must too.
pub fn kept_on(request: &Request, addresses: &Addresses) -> Option<String> {
    secret(request, addresses).map(|secret| kept(&secret, addresses))
}

/// A `Set-Cookie` value that clears the session.
pub fn forgotten(addresses: &Addresses) -> String {
    SCOPE.clear(addresses)
}

/// A `Set-Cookie` value as a header. It is marked as sensitive, so that `Debug` does not print the secret.
pub fn header_value(value: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(value).ok()?;
    header.set_sensitive(true);
    Some(header)
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

    fn read(base_url: &str, headers: &[(&str, &str)]) -> Option<String> {
        let mut request = Request::builder();
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        secret(&request.finish(), &addresses(base_url))
    }

    const HTTPS: &str = "https://handbill.example";
    const HTTP: &str = "http://127.0.0.1:8080";
    const BROWSER: (&str, &str) = ("Sec-Fetch-Site", "none");

    #[test]
    fn host_prefixed_cookie_takes_precedence() {
        for cookies in [
            "svc_sess=planted; __Host-svc_sess=own",
            "__Host-svc_sess=own; svc_sess=planted; svc_sess=another",
            "x=1;__Host-svc_sess=own;svc_sess=",
        ] {
            assert_eq!(read(HTTPS, &[("Cookie", cookies)]).as_deref(), Some("own"), "{cookies}");
            assert_eq!(read(HTTPS, &[("Cookie", cookies), BROWSER]).as_deref(), Some("own"), "{cookies}");
        }
        assert_eq!(
            read(HTTPS, &[("Cookie", "__Host-svc_sess=own"), ("Cookie", "svc_sess=planted")]).as_deref(),
            Some("own")
        );
    }

    #[test]
    fn https_browsers_must_send_the_host_prefixed_cookie() {
        let alone = ("Cookie", "svc_sess=abc");
        assert_eq!(read(HTTPS, &[alone]).as_deref(), Some("abc"));
        assert_eq!(read(HTTPS, &[alone, BROWSER]), None);
        assert_eq!(read(HTTP, &[alone, BROWSER]).as_deref(), Some("abc"));
        assert_eq!(read(HTTP, &[("Cookie", "svc_sess=")]), None);
    }

    #[test]
    fn several_session_cookies_are_all_rejected_and_sign_out_ends_all_of_them() {
        let tossed = ("Cookie", "svc_sess=planted; svc_sess=own");
        assert_eq!(read(HTTP, &[tossed]), None);
        assert_eq!(read(HTTP, &[("Cookie", "svc_sess=own; svc_sess=own")]).as_deref(), Some("own"));
        let request =
            Request::builder().header("Cookie", "svc_sess=a; __Host-svc_sess=b; svc_sess=c; svc_sess=a");
        assert_eq!(all_secrets(&request.finish()), ["b", "a", "c"]);
    }

    #[test]
    fn https_sessions_are_set_and_cleared_under_both_cookie_names() {
        let names = |is_https| {
            let response = Response::builder().header("Set-Cookie", "svc_sess=abc; Path=/; Secure");
            let response = under_both_names(response.header("Set-Cookie", "svc_other=1").finish(), is_https);
            let set = response.headers().get_all("set-cookie").iter();
            set.map(|value| value.to_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["svc_sess=abc; Path=/; Secure", "svc_other=1"]);
        let both = ["svc_sess=abc; Path=/; Secure", "svc_other=1", "__Host-svc_sess=abc; Path=/; Secure"];
        assert_eq!(names(true), both);
    }

    #[test]
    fn session_cookie_is_http_only_and_same_site() {
        let cookie = kept("abc", &addresses("http://127.0.0.1:8080"));
        assert_eq!(cookie, "svc_sess=abc; HttpOnly; SameSite=Lax; Path=/; Max-Age=2592000");
    }

    #[test]
    fn session_cookie_is_secure_under_https() {
        let https = addresses("https://handbill.example");
        for cookie in [kept("abc", &https), forgotten(&https)] {
            assert!(cookie.split("; ").any(|part| part == "Secure"), "{cookie}");
        }
    }

    #[test]
    fn cleared_session_cookie_is_empty_and_expired() {
        let cookie = forgotten(&addresses("http://127.0.0.1:8080"));
        assert!(cookie.starts_with("svc_sess=; ") && cookie.contains("Max-Age=0"), "{cookie}");
    }
}
