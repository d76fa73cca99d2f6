//! Our own cookies. Scripts cannot read them, and under https they are never sent over plain http.

use std::time::Duration;

use domain::link::Addresses;
use poem::web::cookie::{Cookie, SameSite};

/// A cookie's name, and the requests that browsers send it with.
pub struct CookieScope {
    pub name: &'static str,
    pub path: &'static str,
    pub same_site: SameSite,
}

impl CookieScope {
    /// A `Set-Cookie` value that keeps the cookie for `max_age`.
    pub fn set(&self, value: &str, max_age: Duration, addresses: &Addresses) -> String {
        let mut cookie = Cookie::new_with_str(self.name, value);
        cookie.set_http_only(true);
        cookie.set_same_site(self.same_site);
        cookie.set_path(self.path);
        cookie.set_max_age(max_age);
        if is_https(addresses) {
            cookie.set_secure(true);
        }
        cookie.to_string()
    }

    /// A `Set-Cookie` value that clears the cookie.
    pub fn clear(&self, addresses: &Addresses) -> String {
        self.set("", Duration::ZERO, addresses)
    }
}

pub fn is_https(addresses: &Addresses) -> bool {
    addresses.base_url.starts_with("https://")
}
