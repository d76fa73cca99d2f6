//! The addresses that the service hands out, made in one place.

use std::fmt;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::{Host, UploadTicket};

/// Where the service is reached from outside. Addresses have no slash at the end.
#[derive(Clone, Debug)]
pub struct Addresses {
    pub base_url: String,
    pub serve_url: String,
    pub edge_domain: String,
    pub url_style: UrlStyle,
}

/// The form of a page's address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UrlStyle {
    /// `{serve_url}/site/<host>/`
    Path,
    /// `<scheme>://<host>.<domain>[:port]/`: each site an origin of its own. A host that is no DNS label keeps the path
    /// form.
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

    /// The address of a path of the API.
    pub fn api(&self, path: &str) -> String {
        format!("{}{path}", self.base_url)
    }

    pub fn claim(&self, code: &str) -> String {
        format!("{}/claim/{code}", self.base_url)
    }

    pub fn invite(&self, code: &str) -> String {
        format!("{}/invite/{code}", self.base_url)
    }

    /// Where an upload is put: whoever has this address may, once.
    pub fn upload(&self, ticket: &UploadTicket, key: &SigningKey) -> String {
        format!("{}/v1/uploads/{}", self.base_url, ticket.signed(key))
    }

    /// The link to hand out for a private page (spec 4.12).
    pub fn signed_page(&self, host: &Host, key: &LinkKey) -> String {
        format!("{}?sig={}", self.page(host), key.signature(host))
    }
}

/// The secret that is the operator's, and that signs whatever the service alone may have said. It never shows itself.
#[derive(Clone)]
pub struct SigningKey(Secret);

/// The secret that signs private links, and nothing else. It never shows itself.
#[derive(Clone)]
pub struct LinkKey(Secret);

#[derive(Clone)]
struct Secret(Vec<u8>);

impl SigningKey {
    pub fn new(secret: &str) -> Self {
        Self(Secret(secret.as_bytes().to_vec()))
    }

    /// An HMAC-SHA256 of a text, in hex. Texts of different kinds must never be alike.
    pub(crate) fn authenticate(&self, text: &str) -> String {
        self.0.authenticate(text)
    }

    /// Whether somebody knows the secret itself: the operator does. What is compared are hashes of one length, so the
    /// time that it takes tells nothing.
    pub fn is_known_to(&self, offered: &[u8]) -> bool {
        bool::from(Sha256::digest(&self.0.0).ct_eq(&Sha256::digest(offered)))
    }
}

impl LinkKey {
    const SIGNATURE_HEX_LENGTH: usize = 16;

    pub fn new(secret: &str) -> Self {
        Self(Secret(secret.as_bytes().to_vec()))
    }

    /// `sig`: the first 16 hex characters of an HMAC-SHA256 of the host.
    pub fn signature(&self, host: &Host) -> String {
        let mut signature = self.0.authenticate(host.as_str());
        signature.truncate(Self::SIGNATURE_HEX_LENGTH);
        signature
    }

    pub fn verifies(&self, host: &Host, signature: &str) -> bool {
        let expected = self.signature(host);
        expected.len() == Self::SIGNATURE_HEX_LENGTH
            && bool::from(expected.as_bytes().ct_eq(signature.as_bytes()))
    }
}

impl Secret {
    fn authenticate(&self, text: &str) -> String {
        // An HMAC takes a key of any length; the error of this constructor cannot occur.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.0) else { return String::new() };
        mac.update(text.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SigningKey(…)")
    }
}

impl fmt::Debug for LinkKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LinkKey(…)")
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
    fn a_page_is_addressed_by_path_or_by_host() {
        let host: Host = "my-page-a1b2".parse().unwrap();
        assert_eq!(addresses(UrlStyle::Path).page(&host), "http://127.0.0.1:8081/site/my-page-a1b2/");
        assert_eq!(addresses(UrlStyle::Host).page(&host), "http://my-page-a1b2.localhost:8081/");
    }

    #[test]
    fn a_host_that_is_no_dns_label_is_addressed_by_path_in_either_style() {
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
    fn a_signature_is_16_hex_characters_and_fits_one_host_only() {
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
    fn only_the_whole_secret_shows_the_operator() {
        let key = SigningKey::new("a secret");
        assert!(key.is_known_to(b"a secret"));
        for other in ["", "a", "a secre", "a secret ", "A secret", "another"] {
            assert!(!key.is_known_to(other.as_bytes()), "{other}");
        }
    }
}
