//! The URLs that the service gives to clients, built in one place.

use crate::signing_key::{LinkKey, SigningKey};
use crate::{Host, UploadTicket};

/// The public addresses of the service, without a trailing slash.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub base_url: String,
    pub serve_url: String,
    pub edge_domain: String,
    pub url_style: UrlStyle,
}

/// The form of a page's URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlStyle {
    /// `{serve_url}/site/<host>/`
    Path,
    /// `<scheme>://<host>.<domain>[:port]/`: each site has an origin of its own. A host that is not a DNS
    /// label keeps the path form.
    Host,
}

impl Addresses {
    pub fn page(&self, host: &Host) -> String {
        match self.url_style {
            UrlStyle::Host if host.is_dns_label() => {
                let (scheme, rest) = self.serve_url.split_once("://").unwrap_or(("http", &self.serve_url));
                let port = rest.rsplit_once(':').map_or(String::new(), |(_, port)| format!(":{port}"));
                format!("{scheme}://{host}.{}{port}/", self.edge_domain)
            }
            UrlStyle::Path | UrlStyle::Host => format!("{}/site/{host}/", self.serve_url),
        }
    }

    /// The URL of a path of the API.
    pub fn api(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    pub fn claim(&self, code: &str) -> String {
        format!("{}/claim/{code}", self.base_url)
    }

    pub fn invite(&self, code: &str) -> String {
        format!("{}/invite/{code}", self.base_url)
    }

    /// The URL for an upload. Anyone with this URL may upload, once.
    pub fn upload(&self, ticket: &UploadTicket, key: &SigningKey) -> String {
        format!("{}/v1/uploads/{}", self.base_url, ticket.signed(key))
    }

    /// The signed link of a private page (spec 4.12).
    pub fn signed_page(&self, host: &Host, key: &LinkKey) -> String {
        format!("{}?sig={}", self.page(host), key.signature(host))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(url_style: UrlStyle) -> Addresses {
        Addresses {
            base_url: "http://127.0.0.1:8080".into(),
            serve_url: "http://127.0.0.1:8081".into(),
            edge_domain: "localhost".into(),
            url_style,
        }
    }

    #[test]
    fn page_urls_use_path_style_or_host_style() {
        let host: Host = "my-page-a1b2".parse().unwrap();
        assert_eq!(addresses(UrlStyle::Path).page(&host), "http://127.0.0.1:8081/site/my-page-a1b2/");
        assert_eq!(addresses(UrlStyle::Host).page(&host), "http://my-page-a1b2.localhost:8081/");
    }

    #[test]
    fn host_that_is_not_a_dns_label_always_gets_a_path_style_url() {
        for host in ["-my-page-a1b2", "xn--page-a1b2"] {
            let host: Host = host.parse().unwrap();
            let by_path = format!("http://127.0.0.1:8081/site/{host}/");
            assert_eq!(addresses(UrlStyle::Path).page(&host), by_path);
            assert_eq!(addresses(UrlStyle::Host).page(&host), by_path);
        }
        let label: Host = "my-page--a1b2".parse().unwrap();
        assert_eq!(addresses(UrlStyle::Host).page(&label), "http://my-page--a1b2.localhost:8081/");
    }

    #[test]
    fn link_signature_is_16_hex_characters_and_valid_for_one_host() {
        let key = LinkKey::new("a secret");
        let (host, other): (Host, Host) = ("my-page-a1b2".parse().unwrap(), "my-page-a1b3".parse().unwrap());
        let signature = key.signature(&host);
        assert_eq!(signature.len(), 16);
        assert!(key.verifies(&host, &signature));
        assert!(!key.verifies(&other, &signature));
        assert!(!key.verifies(&host, ""));
        assert!(!LinkKey::new("another").verifies(&host, &signature));
    }

    #[test]
    fn only_the_complete_secret_authenticates_the_operator() {
        let key = SigningKey::new("a secret");
        assert!(key.is_known_to(b"a secret"));
        for other in ["", "a", "a secre", "a secret ", "A secret", "another"] {
            assert!(!key.is_known_to(other.as_bytes()), "{other}");
        }
    }
}
