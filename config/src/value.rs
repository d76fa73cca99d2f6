//! Parses and shows each kind of setting. Values from files and from the environment arrive here as text and
//! follow the same rules.

use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use domain::OperatorAccount;
use ipnet::IpNet;
use url::Url;

pub(crate) trait Value: Sized {
    /// What a valid value is, as it follows "expected".
    const EXPECTED: &'static str;
    /// Whether a fault must not repeat the value.
    const IS_SECRET: bool = false;

    fn parse(text: &str) -> Option<Self>;
    fn show(&self) -> String;
}

/// A public base URL: http or https, without a trailing slash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WebAddress(pub String);

/// The name of a host or a domain in lower case, without scheme and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HostName(pub String);

/// How many jobs a process runs concurrently.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Concurrency(pub usize);

/// A concurrency limit, such as of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtATime(pub usize);

/// The number of connections of a process to a database. Some work holds one while it needs another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PoolSize(pub u32);

/// The size limit of a request's head. HTTP libraries need the minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct HeadBytes(pub usize);

/// The memory limit of all uploads. Half of it must suffice for the largest upload and what comes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct UploadBytes(pub usize);

/// A timeout. Neither zero nor unlimited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wait(pub Duration);

/// Operators with their own passwords, each with the hash.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OperatorList(pub Vec<OperatorAccount>);

/// A fraction from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Share(pub f64);

/// The contact of the people behind the service, as a URI. A plain e-mail address becomes one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContactAddress(pub String);

/// The address of one of the operator's own pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PageAddress(pub String);

/// The text of `/robots.txt`, given line by line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RobotsText(pub String);

impl Value for ContactAddress {
    const EXPECTED: &'static str = "an e-mail address or a URI, such as mailto:abuse@example.com";

    fn parse(text: &str) -> Option<Self> {
        let is_plain =
            !text.is_empty() && text.len() <= 500 && text.bytes().all(|byte| byte.is_ascii_graphic());
        let is_uri = ["mailto:", "https://", "http://", "tel:"].iter().any(|scheme| text.starts_with(scheme));
        let is_email = !text.contains(':')
            && text.split_once('@').is_some_and(|(name, at)| !name.is_empty() && at.contains('.'));
        match (is_plain, is_uri, is_email) {
            (true, true, _) => Some(Self(text.to_owned())),
            (true, false, true) => Some(Self(format!("mailto:{text}"))),
            _ => None,
        }
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl Value for PageAddress {
    const EXPECTED: &'static str = "the address of a page, such as https://example.com/terms";

    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let is_page = matches!(url.scheme(), "http" | "https") && url.has_host();
        let is_anonymous = url.username().is_empty() && url.password().is_none();
        (is_page && is_anonymous).then(|| Self(url.into()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl Value for RobotsText {
    const EXPECTED: &'static str = "the lines of a robots.txt, such as [\"User-agent: *\", \"Disallow: /\"]";

    fn parse(text: &str) -> Option<Self> {
        Some(Self(text.split(',').map(|line| format!("{}\n", line.trim())).collect()))
    }

    fn show(&self) -> String {
        self.0.lines().collect::<Vec<_>>().join(", ")
    }
}

impl Value for bool {
    const EXPECTED: &'static str = "true or false";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for u64 {
    const EXPECTED: &'static str = "a whole number from 0 to 9223372036854775807";

    // The database uses signed integers.
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|number| i64::try_from(*number).is_ok())
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for u32 {
    const EXPECTED: &'static str = "a whole number from 0 to 4294967295";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for String {
    const EXPECTED: &'static str = "a text that is not empty";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl Value for PathBuf {
    const EXPECTED: &'static str = "the path of a folder";

    fn parse(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| PathBuf::from(text))
    }

    fn show(&self) -> String {
        self.display().to_string()
    }
}

impl Value for SocketAddr {
    const EXPECTED: &'static str = "an IP address with a port, such as 127.0.0.1:8080";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for Duration {
    const EXPECTED: &'static str = "a duration with its unit, such as 30m, 24h or 2s";

    fn parse(text: &str) -> Option<Self> {
        humantime::parse_duration(text).ok()
    }

    fn show(&self) -> String {
        humantime::format_duration(*self).to_string()
    }
}

impl Value for WebAddress {
    const EXPECTED: &'static str =
        "an address such as https://pages.example.com, without user, query or fragment";

    fn parse(text: &str) -> Option<Self> {
        let url = Url::parse(text).ok()?;
        let has_scheme = matches!(url.scheme(), "http" | "https");
        let is_plain = url.query().is_none() && url.fragment().is_none();
        let is_anonymous = url.username().is_empty() && url.password().is_none();
        (has_scheme && is_plain && is_anonymous).then(|| Self(url.as_str().trim_end_matches('/').to_owned()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl Value for HostName {
    const EXPECTED: &'static str = "a host name such as pages.example.com, without scheme or port";

    fn parse(text: &str) -> Option<Self> {
        let is_label =
            |label: &str| !label.is_empty() && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
        text.split('.').all(is_label).then(|| Self(text.to_ascii_lowercase()))
    }

    fn show(&self) -> String {
        self.0.clone()
    }
}

impl Value for IpNet {
    const EXPECTED: &'static str = "a network such as 10.0.0.0/8";

    // A single address is a network with only that address.
    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().or_else(|| text.parse::<IpAddr>().ok().map(IpNet::from))
    }

    fn show(&self) -> String {
        self.to_string()
    }
}

impl Value for Concurrency {
    const EXPECTED: &'static str = "a whole number from 1 to 1024";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|jobs| (1..=1024).contains(jobs)).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

/// A whole number within bounds.
fn whole_number<N: FromStr + PartialOrd>(text: &str, bounds: RangeInclusive<N>) -> Option<N> {
    text.parse().ok().filter(|number| bounds.contains(number))
}

impl Value for AtATime {
    const EXPECTED: &'static str = "a whole number from 1 to 1000000";

    fn parse(text: &str) -> Option<Self> {
        whole_number(text, 1..=1_000_000).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Value for PoolSize {
    const EXPECTED: &'static str = "a whole number from 4 to 1000";

    fn parse(text: &str) -> Option<Self> {
        whole_number(text, 4..=1_000).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Value for HeadBytes {
    const EXPECTED: &'static str = "a whole number from 8192 to 1048576";

    fn parse(text: &str) -> Option<Self> {
        whole_number(text, 8_192..=1_048_576).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Value for UploadBytes {
    const EXPECTED: &'static str = "a whole number from 67108864 to 1099511627776";

    fn parse(text: &str) -> Option<Self> {
        whole_number(text, 67_108_864..=1_099_511_627_776).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Value for Wait {
    const EXPECTED: &'static str = "a duration from 100ms to 1h, such as 30s";

    fn parse(text: &str) -> Option<Self> {
        let bounds = Duration::from_millis(100)..=Duration::from_secs(3600);
        Duration::parse(text).filter(|wait| bounds.contains(wait)).map(Self)
    }

    fn show(&self) -> String {
        self.0.show()
    }
}

impl Value for Share {
    const EXPECTED: &'static str = "a number from 0 to 1, such as 0.05";

    fn parse(text: &str) -> Option<Self> {
        text.parse().ok().filter(|share| (0.0..=1.0).contains(share)).map(Self)
    }

    fn show(&self) -> String {
        self.0.to_string()
    }
}

impl Value for OperatorList {
    const EXPECTED: &'static str =
        "a list of name=hash, as `handbill admin operator add NAME` prints them, each name once";
    const IS_SECRET: bool = true;

    // A hash contains commas, too. A part that starts an entry has a `=` before the `$` of its hash.
    fn parse(text: &str) -> Option<Self> {
        let mut entries: Vec<String> = Vec::new();
        for part in text.split([',', ' ']).filter(|part| !part.is_empty()) {
            match entries.last_mut() {
                Some(entry) if !part.contains("=$") => *entry = format!("{entry},{part}"),
                _ => entries.push(part.to_owned()),
            }
        }
        let accounts: Vec<OperatorAccount> =
            entries.iter().map(|entry| entry.parse()).collect::<Result<_, _>>().ok()?;
        let is_first = |(index, one): (usize, &OperatorAccount)| {
            !accounts[..index].iter().any(|other| other.is_named(&one.name))
        };
        accounts.iter().enumerate().all(is_first).then_some(Self(accounts))
    }

    fn show(&self) -> String {
        let names: Vec<&str> = self.0.iter().map(|account| account.name.as_str()).collect();
        format!("{} (hashes hidden)", names.join(", "))
    }
}

/// List items are separated by commas or spaces.
impl<T: Value> Value for Vec<T> {
    const EXPECTED: &'static str = T::EXPECTED;

    fn parse(text: &str) -> Option<Self> {
        text.split([',', ' ']).filter(|item| !item.is_empty()).map(T::parse).collect()
    }

    fn show(&self) -> String {
        if self.is_empty() {
            return "(none)".to_owned();
        }
        self.iter().map(T::show).collect::<Vec<_>>().join(", ")
    }
}
