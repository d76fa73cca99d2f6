//! Our own cookies. Scripts cannot read them, and under https they are never sent over plain http.

use std::time::Duration;

use cookie::{Cookie, SameSite};
use domain::link::Addresses;
use poem::Request;
use poem::http::header;

/// A cookie's name, and the requests that browsers send it with.
pub struct CookieScope<'a> {
    pub name: &'static str,
    pub path: &'a str,
    pub same_site: SameSite,
}

impl CookieScope<'_> {
    /// A `Set-Cookie` value that keeps the cookie for `max_age`.
    pub fn set(&self, value: &str, max_age: Duration, addresses: &Addresses) -> String {
        let max_age = cookie::time::Duration::try_from(max_age).unwrap_or(cookie::time::Duration::MAX);
        Cookie::build((self.name, value))
            .http_only(true)
            .same_site(self.same_site)
            .path(self.path)
            .max_age(max_age)
            .secure(is_https(addresses))
            .to_string()
    }

    /// A `Set-Cookie` value that clears the cookie.
    pub fn clear(&self, addresses: &Addresses) -> String {
        self.set("", Duration::ZERO, addresses)
    }
}

pub fn is_https(addresses: &Addresses) -> bool {
    addresses.base_url.starts_with("https://")
}

/// The distinct values of a cookie in a request. The header is parsed here because cookie jars keep only one
/// value for a name.
pub fn sent_as<'r>(request: &'r Request, name: &str) -> Vec<&'r str> {
    let mut values = Vec::new();
    let lines = request.headers().get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    for (sent, value) in lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='))
    {
        if sent == name && !value.is_empty() && !values.contains(&value) {
            values.push(value);
        }
    }
    values
}
