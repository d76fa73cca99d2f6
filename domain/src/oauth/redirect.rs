//! The address to which a browser returns with a code. The site or program there gets the code, so a client
//! names its addresses beforehand and they are compared as text.

use std::fmt;
use std::str::FromStr;

use url::Url;

use crate::is_loopback_host;

/// An address that a client may register: https, http on this machine, or the private scheme of an app.
#[derive(Clone, PartialEq, Eq)]
pub struct RedirectUri(String);

/// What a person sees of the target of a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RedirectTarget {
    Host(String),
    ThisComputer,
    App(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a redirect URI must be an https address, an http address of localhost, or have a scheme of the app; it \
     has no fragment and at most {} characters",
    RedirectUri::LENGTH_MAX
)]
pub struct MalformedRedirect;

/// Schemes that browsers or systems handle themselves.
const FOREIGN_SCHEMES: [&str; 20] = [
    "about",
    "blob",
    "chrome",
    "data",
    "facetime",
    "file",
    "filesystem",
    "ftp",
    "intent",
    "javascript",
    "jar",
    "mailto",
    "search",
    "search-ms",
    "sms",
    "ssh",
    "tel",
    "vbscript",
    "view-source",
    "ws",
];

impl RedirectUri {
    pub const LENGTH_MAX: usize = 400;

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a client that registered this address may be redirected to `other`: to the same one, and for
    /// an address of this machine to any port of it (RFC 8252).
    pub fn allows(&self, other: &Self) -> bool {
        if self == other {
            return true;
        }
        match (self.without_port(), other.without_port()) {
            (Some(own), Some(other)) => own == other,
            _ => false,
        }
    }

    pub fn target(&self) -> RedirectTarget {
        let Ok(url) = Url::parse(&self.0) else { return RedirectTarget::App(String::new()) };
        match (url.scheme(), url.host_str()) {
            ("https", Some(host)) => RedirectTarget::Host(match url.port() {
                Some(port) => format!("{host}:{port}"),
                None => host.to_owned(),
            }),
            ("http", _) => RedirectTarget::ThisComputer,
            (scheme, _) => RedirectTarget::App(scheme.to_owned()),
        }
    }

    /// The target as a source of a content security policy. IPv6 addresses cannot be written there.
    pub fn policy_source(&self) -> String {
        let Ok(url) = Url::parse(&self.0) else { return String::new() };
        let scheme = url.scheme();
        match url.host_str().filter(|host| !host.starts_with('[')) {
            Some(host) if matches!(scheme, "https" | "http") => match url.port() {
                Some(port) => format!("{scheme}://{host}:{port}"),
                None => format!("{scheme}://{host}"),
            },
            _ => format!("{scheme}:"),
        }
    }

    /// The address with these parameters added to its query.
    pub fn with(&self, parameters: &[(&str, &str)]) -> String {
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(parameters);
        let separator = if self.0.contains('?') { '&' } else { '?' };
        format!("{}{separator}{}", self.0, query.finish())
    }

    /// The host and the rest of an address of this machine, without the port.
    fn without_port(&self) -> Option<(&str, &str)> {
        let rest = self.0.strip_prefix("http://")?;
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, path) = rest.split_at(end);
        let is_port = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
        let host = match authority.rsplit_once(':') {
            Some((host, port)) if is_port(port) && !host.is_empty() => host,
            _ => authority,
        };
        Some((host, path))
    }
}

impl FromStr for RedirectUri {
    type Err = MalformedRedirect;

    fn from_str(text: &str) -> Result<Self, MalformedRedirect> {
        let is_plain = text.bytes().all(|b| b.is_ascii_graphic() && !b"\\#\"'<>".contains(&b));
        if !is_plain || text.len() > Self::LENGTH_MAX {
            return Err(MalformedRedirect);
        }
        let url = Url::parse(text).map_err(|_| MalformedRedirect)?;
        // The parser corrects what browsers would correct. Only what needs no correction is compared as text.
        let starts_as_parsed = text.starts_with(&format!("{}:", url.scheme()));
        let fits = match url.scheme() {
            "https" => has_plain_authority(text, &url),
            "http" => has_plain_authority(text, &url) && url.host_str().is_some_and(is_loopback_host),
            scheme => !FOREIGN_SCHEMES.contains(&scheme) && !scheme.starts_with("ms-") && scheme != "wss",
        };
        (fits && starts_as_parsed).then(|| Self(text.to_owned())).ok_or(MalformedRedirect)
    }
}

/// Whether the text names its host as the parser understands it, without user information.
fn has_plain_authority(text: &str, url: &Url) -> bool {
    let is_anonymous = url.username().is_empty() && url.password().is_none();
    // The host becomes a part of a content security policy.
    let is_in_host = |byte: u8| byte.is_ascii_alphanumeric() || b"-._:[]".contains(&byte);
    let is_host = url.host_str().is_some_and(|host| host.bytes().all(is_in_host));
    let prefix = format!("{}://{}", url.scheme(), url.host_str().unwrap_or_default());
    let next = text.strip_prefix(&prefix).map(|rest| rest.bytes().next());
    is_anonymous && is_host && matches!(next, Some(None | Some(b'/' | b'?' | b':')))
}

impl fmt::Debug for RedirectUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedirectUri({:?})", self.0)
    }
}

impl fmt::Display for RedirectTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(host) => f.write_str(host),
            Self::ThisComputer => f.write_str("a program on this computer"),
            Self::App(scheme) => write!(f, "the app for {scheme}: links on this device"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn uri(text: &str) -> RedirectUri {
        text.parse().unwrap()
    }

    #[test]
    fn redirects_go_to_https_this_machine_or_an_app() {
        for good in [
            "https://claude.ai/api/mcp/auth_callback",
            "https://chat.example:8443/cb?x=1",
            "https://chat.example",
            "http://localhost/callback",
            "http://localhost:3334/oauth/callback",
            "http://127.0.0.1/",
            "http://127.0.0.1:1/",
            "http://[::1]:8080/cb",
            "cursor://anysphere.cursor-retrieval/oauth/callback",
            "com.example.app:/cb",
        ] {
            assert_eq!(good.parse::<RedirectUri>().map(|uri| uri.0), Ok(good.to_owned()));
        }
        for bad in [
            "",
            "/callback",
            "http://chat.example/cb",
            "http://127.0.0.1.nip.io/",
            "http://localhost.evil.example/",
            "http://localhost@evil.example/",
            "https://claude.ai@evil.example/",
            "https://claude.ai:x@evil.example/",
            "https://claude.ai\\@evil.example/",
            "https://claude.ai/cb#fragment",
            "https:claude.ai/cb",
            "https:///claude.ai/cb",
            "HTTPS://claude.ai/cb",
            "https://CLAUDE.ai/cb",
            "https://claude.ai/cb\n",
            "https://claude.ai/c b",
            "https://bücher.example/",
            "https://a.example;sandbox/",
            "https://a.example,b/",
            "https://*/",
            "javascript:alert(1)",
            "JavaScript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "intent://x",
            "ms-settings:x",
            "view-source:https://x.example",
            &format!("https://a.example/{}", "a".repeat(400)),
        ] {
            assert!(bad.parse::<RedirectUri>().is_err(), "{bad}");
        }
    }

    #[test]
    fn redirects_are_compared_exactly_but_for_the_port_of_this_machine() {
        let allows = |own: &str, other: &str| uri(own).allows(&uri(other));
        assert!(allows("http://localhost/cb", "http://localhost:51004/cb"));
        assert!(allows("http://127.0.0.1:1/cb?a=b", "http://127.0.0.1:2/cb?a=b"));
        assert!(allows("http://[::1]/cb", "http://[::1]:9/cb"));
        assert!(allows("https://a.example/cb", "https://a.example/cb"));
        for (own, other) in [
            ("https://a.example/cb", "https://a.example/cb/"),
            ("https://a.example/cb", "https://a.example/cb?x=1"),
            ("https://a.example/cb", "https://a.example:8443/cb"),
            ("https://a.example/cb", "https://b.example/cb"),
            ("https://a.example/cb", "https://a.example/CB"),
            ("https://a.example/cb", "https://a.example/x/../cb"),
            ("http://localhost/cb", "http://127.0.0.1/cb"),
            ("http://localhost/cb", "http://localhost:1/other"),
            ("http://localhost/cb", "https://localhost/cb"),
            ("app:/cb", "app:/cb2"),
        ] {
            assert!(!allows(own, other), "{own} {other}");
        }
    }

    #[test]
    fn redirect_keeps_its_query_and_names_its_target() {
        let with = |text: &str| uri(text).with(&[("code", "a b"), ("iss", "https://h.example")]);
        assert_eq!(with("https://a.example/cb"), "https://a.example/cb?code=a+b&iss=https%3A%2F%2Fh.example");
        assert_eq!(with("app:/cb?x=1"), "app:/cb?x=1&code=a+b&iss=https%3A%2F%2Fh.example");
        let shown = |text: &str| (uri(text).target().to_string(), uri(text).policy_source());
        assert_eq!(shown("https://a.example/cb"), ("a.example".into(), "https://a.example".into()));
        assert_eq!(
            shown("https://a.example:8443/"),
            ("a.example:8443".into(), "https://a.example:8443".into())
        );
        let here = "a program on this computer".to_owned();
        assert_eq!(shown("http://localhost:77/cb"), (here.clone(), "http://localhost:77".into()));
        assert_eq!(shown("http://[::1]:77/cb"), (here, "http:".into()));
        let app = "the app for cursor: links on this device".to_owned();
        assert_eq!(shown("cursor://a/cb"), (app, "cursor:".into()));
    }
}
