//! A short-lived cookie that is set when a person claims or joins an account, so that the dashboard opens on
//! that account and shows a message. It grants nothing: a forged cookie can only select an account that the
//! person is on.

use std::time::Duration;

use cookie::SameSite;
use domain::link::Addresses;
use poem::{Request, Response};

use crate::html::with_cookie;
use crate::http::cookies::{CookieScope, sent_as};

const NAME: &str = "svc_arrival";
const SCOPE: CookieScope = CookieScope { name: NAME, path: "/dashboard", same_site: SameSite::Lax };
/// The dashboard is opened right after the claim.
const KEPT: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub handle: String,
    pub how: How,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Claimed,
    Joined,
}

impl How {
    const ALL: [How; 2] = [How::Claimed, How::Joined];

    /// As in the cookie, and in the dashboard's `done` parameter.
    pub fn as_str(self) -> &'static str {
        match self {
            How::Claimed => "claimed",
            How::Joined => "joined",
        }
    }
}

impl Arrival {
    /// Sets the cookie.
    pub fn set_on(response: Response, handle: &str, how: How, addresses: &Addresses) -> Response {
        with_cookie(response, &SCOPE.set(&format!("{}.{handle}", how.as_str()), KEPT, addresses))
    }

    pub fn of(request: &Request) -> Option<Self> {
        Self::parse(sent_as(request, NAME).first()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let (how, handle) = text.split_once('.')?;
        let how = How::ALL.into_iter().find(|one| one.as_str() == how)?;
        Some(Self { handle: handle.to_owned(), how })
    }

    /// Clears the cookie, once the dashboard has read it.
    pub fn clear_on(response: Response, addresses: &Addresses) -> Response {
        with_cookie(response, &SCOPE.clear(addresses))
    }
}

#[cfg(test)]
mod tests {
    use domain::link::UrlStyle;
    use poem::http::header::SET_COOKIE;

    use super::*;

    fn cookie_of(base_url: &str) -> String {
        let addresses = Addresses {
            base_url: base_url.into(),
            serve_url: "http://pages.example".into(),
            edge_domain: "pages.example".into(),
            url_style: UrlStyle::Path,
        };
        let response = Arrival::set_on(Response::default(), "acct_x", How::Claimed, &addresses);
        response.headers()[SET_COOKIE].to_str().unwrap().to_owned()
    }

    #[test]
    fn arrival_cookie_lasts_a_minute_and_is_http_only() {
        assert_eq!(
            cookie_of("http://127.0.0.1:8080"),
            "svc_arrival=claimed.acct_x; HttpOnly; SameSite=Lax; Path=/dashboard; Max-Age=60"
        );
        assert!(cookie_of("https://handbill.example").contains("; Secure"));
    }

    #[test]
    fn unknown_arrival_values_are_ignored() {
        let joined = Arrival { handle: "acct_x".into(), how: How::Joined };
        assert_eq!(Arrival::parse("joined.acct_x"), Some(joined));
        for odd in ["", "joined", "deleted.acct_x", "Joined.acct_x", ".acct_x"] {
            assert_eq!(Arrival::parse(odd), None, "{odd}");
        }
    }
}
