//! The URLs that the service gives to clients, built in one place.

use crate::signing_key::{LinkKey, SigningKey};
use crate::{ArtifactId, Host, LinkGeneration, SiteLabel, SitePath, UploadTicket, Visibility};

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

/// Makes the links to an artifact's versions, which have addresses of their own.
#[derive(Clone, Debug)]
pub struct VersionLinks {
    pub addresses: Addresses,
    pub key: LinkKey,
    pub artifact: ArtifactId,
    pub host: Host,
    pub visibility: Visibility,
    pub link_generation: LinkGeneration,
}

impl VersionLinks {
    pub fn url(&self, seq: u32) -> String {
        self.addresses.site(&self.label(seq))
    }

    /// The link that opens a version of a private artifact.
    pub fn signed_url(&self, seq: u32) -> Option<String> {
        (self.visibility == Visibility::Private)
            .then(|| self.addresses.signed_site(&self.label(seq), self.link_generation, &self.key))
    }

    /// The link that opens a version, whatever the visibility.
    pub fn link(&self, seq: u32) -> String {
        self.signed_url(seq).unwrap_or_else(|| self.url(seq))
    }

    /// The link to a file of a version, whatever the visibility.
    pub fn file_link(&self, seq: u32, path: &SitePath) -> String {
        let (site, path) = (self.url(seq), path.in_url());
        match self.visibility {
            Visibility::Private => {
                format!("{site}{path}?sig={}", self.key.signature(&self.host, self.link_generation))
            }
            Visibility::Public | Visibility::Unlisted => format!("{site}{path}"),
        }
    }

    fn label(&self, seq: u32) -> SiteLabel {
        SiteLabel { host: self.host.clone(), version: Some(self.key.version_tag(self.artifact, seq)) }
    }
}

impl Addresses {
    pub fn page(&self, host: &Host) -> String {
        self.site(&host.clone().into())
    }

    /// The URL of a page's live version, or of the version that the label names.
    pub fn site(&self, label: &SiteLabel) -> String {
        match self.url_style {
            UrlStyle::Host if label.host.is_dns_label() => {
                let (scheme, rest) = self.serve_url.split_once("://").unwrap_or(("http", &self.serve_url));
                let port = rest.rsplit_once(':').map_or(String::new(), |(_, port)| format!(":{port}"));
                format!("{scheme}://{label}.{}{port}/", self.edge_domain)
            }
            UrlStyle::Path | UrlStyle::Host => format!("{}/site/{label}/", self.serve_url),
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
    pub fn signed_page(&self, host: &Host, generation: LinkGeneration, key: &LinkKey) -> String {
        self.signed_site(&host.clone().into(), generation, key)
    }

    /// The signed link of a private page or of one of its versions, which have the same `sig`.
    pub fn signed_site(&self, label: &SiteLabel, generation: LinkGeneration, key: &LinkKey) -> String {
        format!("{}?sig={}", self.site(label), key.signature(&label.host, generation))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chance, Time};

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
    fn versions_have_urls_in_both_styles_and_the_pages_signature() {
        let label: SiteLabel = "my-page-a1b2-0z9y8x7w".parse().unwrap();
        let by_path = "http://127.0.0.1:8081/site/my-page-a1b2-0z9y8x7w/";
        assert_eq!(addresses(UrlStyle::Path).site(&label), by_path);
        assert_eq!(addresses(UrlStyle::Host).site(&label), "http://my-page-a1b2-0z9y8x7w.localhost:8081/");
        let key = LinkKey::new("a secret");
        let generation = LinkGeneration::new(1);
        let signed = format!("{by_path}?sig={}", key.signature(&label.host, generation));
        assert_eq!(addresses(UrlStyle::Path).signed_site(&label, generation, &key), signed);
    }

    #[test]
    fn link_to_a_file_is_encoded_and_signed_like_its_version() {
        let mut links = VersionLinks {
            addresses: addresses(UrlStyle::Path),
            key: LinkKey::new("a secret"),
            artifact: ArtifactId::new(Time::from_millis(0), &Chance::seeded(1)),
            host: "my-page-a1b2".parse().unwrap(),
            visibility: Visibility::Public,
            link_generation: LinkGeneration::new(1),
        };
        let path: SitePath = "a folder/ü?.css".parse().unwrap();
        let plain = format!("{}a%20folder/%C3%BC%3F.css", links.url(2));
        assert_eq!(links.file_link(2, &path), plain);
        links.visibility = Visibility::Private;
        let signature = links.key.signature(&links.host, links.link_generation);
        assert_eq!(links.file_link(2, &path), format!("{plain}?sig={signature}"));
    }

    #[test]
    fn version_tag_depends_on_artifact_seq_and_key() {
        let (chance, now) = (Chance::seeded(1), Time::from_millis(0));
        let (artifact, other) = (ArtifactId::new(now, &chance), ArtifactId::new(now, &chance));
        let key = LinkKey::new("a secret");
        let tags = [
            key.version_tag(artifact, 1),
            key.version_tag(artifact, 2),
            key.version_tag(other, 1),
            LinkKey::new("another").version_tag(artifact, 1),
        ];
        let names: std::collections::HashSet<String> = tags.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), tags.len());
        assert_eq!(key.version_tag(artifact, 1), tags[0]);
        assert!(names.iter().all(|name| name.len() == 8));
    }

    #[test]
    fn link_signature_is_16_hex_characters_and_valid_for_one_host() {
        let key = LinkKey::new("a secret");
        let (host, other): (Host, Host) = ("my-page-a1b2".parse().unwrap(), "my-page-a1b3".parse().unwrap());
        let first = LinkGeneration::FIRST;
        let signature = key.signature(&host, first);
        // Links that people have shared must keep working.
        assert_eq!(signature, "02ee7b544578a081");
        assert!(key.verifies(&host, first, &signature));
        assert!(!key.verifies(&other, first, &signature));
        assert!(!key.verifies(&host, first, ""));
        assert!(!LinkKey::new("another").verifies(&host, first, &signature));
    }

    #[test]
    fn link_signature_is_valid_for_one_generation() {
        let (key, host): (_, Host) = (LinkKey::new("a secret"), "my-page-a1b2".parse().unwrap());
        let generations = [0, 1, 2, 10, 11].map(LinkGeneration::new);
        for generation in generations {
            let signature = key.signature(&host, generation);
            assert_eq!(signature.len(), 16);
            for other in generations {
                assert_eq!(key.verifies(&host, other, &signature), other == generation);
            }
        }
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
