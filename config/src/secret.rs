//! Settings that contain secrets. Only `reveal` returns a secret. It must never appear in `Debug` output, a
//! fault or `handbill config`.

use std::fmt;

use url::Url;

use crate::value::Value;

const HIDDEN: &str = "(hidden)";

/// A string that is never shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The secret itself, for the code that needs it.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(HIDDEN)
    }
}

impl Value for Secret {
    const EXPECTED: &'static str = "a text that is not empty";
    const IS_SECRET: bool = true;

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        HIDDEN.to_owned()
    }
}

/// The URL of a database. It may contain a password, which is hidden.
#[derive(Clone, PartialEq, Eq)]
pub struct DatabaseUrl(String);

/// The URL of Redis. It may contain a password, which is hidden.
#[derive(Clone, PartialEq, Eq)]
pub struct RedisUrl(String);

impl DatabaseUrl {
    /// A SQLite file. Special characters are escaped in the way that the driver unescapes them.
    pub fn sqlite(path: &std::path::Path) -> Self {
        let escaped = path.display().to_string().replace('%', "%25").replace('?', "%3F");
        Self(format!("sqlite://{escaped}"))
    }

    pub fn is_postgres(&self) -> bool {
        !self.0.starts_with("sqlite:")
    }
}

impl Value for DatabaseUrl {
    const EXPECTED: &'static str =
        "an address such as sqlite:///path/to/file.db or postgres://user@host/name";
    const IS_SECRET: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let (scheme, rest) = text.split_once("://")?;
        let fits = match scheme {
            "sqlite" => !rest.is_empty(),
            "postgres" | "postgresql" => has_host(text),
            _ => false,
        };
        fits.then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        if self.is_postgres() { without_password(&self.0) } else { self.0.clone() }
    }
}

impl Value for RedisUrl {
    const EXPECTED: &'static str = "an address such as redis://host:6379/0, or rediss://… for TLS";
    const IS_SECRET: bool = true;

    fn parse(text: &str) -> Option<Self> {
        let is_redis = text.starts_with("redis://") || text.starts_with("rediss://");
        (is_redis && has_host(text)).then(|| Self(text.to_owned()))
    }

    fn show(&self) -> String {
        without_password(&self.0)
    }
}

fn has_host(address: &str) -> bool {
    Url::parse(address).is_ok_and(|url| url.host_str().is_some_and(|host| !host.is_empty()))
}

// Drivers also accept a password in the query, so the query is never shown.
fn without_password(address: &str) -> String {
    let Ok(mut url) = Url::parse(address) else { return HIDDEN.to_owned() };
    if url.query().is_some() {
        url.set_query(Some("(hidden)"));
    }
    if url.password().is_some() && url.set_password(Some("hidden")).is_err() {
        return HIDDEN.to_owned();
    }
    url.to_string()
}

macro_rules! revealed_only_on_demand {
    ($($name:ident),+) => {$(
        impl $name {
            /// The whole URL with its password, for the driver.
            pub fn reveal(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.show())
            }
        }
    )+};
}

revealed_only_on_demand!(DatabaseUrl, RedisUrl);
