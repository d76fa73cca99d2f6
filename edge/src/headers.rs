//! The response headers of sites.

use anyhow::Context;
use domain::{ContentPolicy, ManifestFile, Visibility};
use poem::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::gate::Pass;
use crate::response;
use crate::visit::PageVisit;

/// The headers that depend on settings.
pub struct HeaderPolicy {
    content_security: HeaderValue,
}

const ROBOTS: HeaderName = HeaderName::from_static("x-robots-tag");
const PUBLIC: HeaderValue = HeaderValue::from_static("public, max-age=60");
const PRIVATE: HeaderValue = HeaderValue::from_static("private, max-age=60");
const NOSNIFF: HeaderValue = HeaderValue::from_static("nosniff");
const NOINDEX: HeaderValue = HeaderValue::from_static("noindex");
const SAME_ORIGIN: HeaderValue = HeaderValue::from_static("same-origin");
const BY_ENCODING: HeaderValue = HeaderValue::from_static("Accept-Encoding");
const BY_REFERER_TOO: HeaderValue = HeaderValue::from_static("Accept-Encoding, Referer, Sec-Fetch-Dest");

/// The expected number of headers, so that the map does not grow.
const HEADERS_EXPECTED: usize = 16;

impl HeaderPolicy {
    pub fn new(policy: &ContentPolicy) -> anyhow::Result<Self> {
        let content_security = HeaderValue::try_from(policy.header())
            .context("build the content security policy from the hosts in edge.*_hosts")?;
        Ok(Self { content_security })
    }

    /// The headers of every response, including redirects and 304.
    pub fn of_site(&self, visit: &PageVisit<'_>) -> HeaderMap {
        let mut headers = HeaderMap::with_capacity(HEADERS_EXPECTED);
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, NOSNIFF);
        let visibility = visit.site.route.visibility;
        headers
            .insert(header::CACHE_CONTROL, if visibility == Visibility::Private { PRIVATE } else { PUBLIC });
        if visibility != Visibility::Public {
            headers.insert(ROBOTS, NOINDEX);
        }
        if visibility == Visibility::Private {
            headers.insert(header::REFERRER_POLICY, SAME_ORIGIN);
        }
        if let Some(live) = &visit.live_address {
            headers.insert(ROBOTS, NOINDEX);
            headers.extend(response::canonical(live).map(|link| (header::LINK, link)));
        }
        // The same address with another referrer is refused or redirected.
        if visit.pass == Pass::AssetsOnly {
            headers.insert(header::VARY, BY_REFERER_TOO);
        }
        headers
    }

    /// The headers of every file response.
    pub fn of_file(&self, visit: &PageVisit<'_>, file: &ManifestFile) -> HeaderMap {
        if file.runs_as_document() { self.of_document(visit) } else { self.of_asset(visit) }
    }

    pub fn of_document(&self, visit: &PageVisit<'_>) -> HeaderMap {
        let mut headers = self.of_asset(visit);
        headers.insert(header::CONTENT_SECURITY_POLICY, self.content_security.clone());
        headers
    }

    fn of_asset(&self, visit: &PageVisit<'_>) -> HeaderMap {
        let mut headers = self.of_site(visit);
        // Sent for every file, because the next version of a file may have encodings.
        headers.entry(header::VARY).or_insert(BY_ENCODING);
        if let Some(last_modified) = visit.site.last_modified(visit.now) {
            headers.insert(header::LAST_MODIFIED, last_modified.clone());
        }
        headers
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use domain::{BlobHash, Route, Time};
    use poem::Request;
    use tokio::time::Instant;

    use super::*;
    use crate::find::{Address, Mount};
    use crate::patience::Patience;
    use crate::sites::Site;
    use crate::tests::harness;

    const CHANGED_AT: Time = Time::from_millis(1_000_000);
    const LATER: Time = Time::from_millis(2_000_000);

    fn site(visibility: Visibility) -> Site {
        Site::new(Route { visibility, updated_at: CHANGED_AT, ..harness::route(vec![]) })
    }

    fn file(content_type: &str) -> ManifestFile {
        ManifestFile {
            path: "a".parse().unwrap(),
            hash: BlobHash::of(b""),
            size_bytes: 0,
            content_type: content_type.to_owned(),
            variants: vec![],
            bundled: None,
        }
    }

    fn fonts_of(host: &str) -> ContentPolicy {
        ContentPolicy { font_hosts: vec![host.to_owned()], ..ContentPolicy::default() }
    }

    fn said(visibility: Visibility, content_type: &str) -> Vec<String> {
        said_to(visibility, Pass::Full, LATER, content_type)
    }

    fn said_to(visibility: Visibility, pass: Pass, now: Time, content_type: &str) -> Vec<String> {
        let policy = HeaderPolicy::new(&fonts_of("https://fonts.example")).unwrap();
        let (request, site) = (Request::default(), Arc::new(site(visibility)));
        let address = Address { mount: Mount::Name, label: site.route.host.clone().into(), path: "/a" };
        let patience = Patience::new(Instant::now(), Duration::ZERO);
        let live_address = None;
        let visit = PageVisit { request: &request, address, site: &site, pass, live_address, now, patience };
        let headers = policy.of_file(&visit, &file(content_type));
        let mut lines: Vec<_> =
            headers.iter().map(|(name, value)| format!("{name}: {}", value.to_str().unwrap())).collect();
        lines.sort();
        lines
    }

    #[test]
    fn public_assets_have_the_minimal_headers() {
        assert_eq!(
            said(Visibility::Public, "image/png"),
            [
                "cache-control: public, max-age=60",
                "last-modified: Thu, 01 Jan 1970 00:16:40 GMT",
                "vary: Accept-Encoding",
                "x-content-type-options: nosniff",
            ]
        );
    }

    #[test]
    fn scriptable_content_types_have_the_content_security_policy() {
        let policy = "content-security-policy: default-src 'self' 'unsafe-inline' data: blob:; \
                      style-src 'self' 'unsafe-inline' data: blob: https://fonts.example; \
                      font-src 'self' data: blob: https://fonts.example";
        for (content_type, is_guarded) in [
            ("text/html; charset=utf-8", true),
            ("application/xhtml+xml", true),
            ("image/svg+xml; charset=utf-8", true),
            ("application/xml", true),
            ("text/xml; charset=utf-8", true),
            ("text/css; charset=utf-8", false),
            ("image/png", false),
        ] {
            let said = said(Visibility::Public, content_type);
            assert_eq!(said.contains(&policy.to_owned()), is_guarded, "{content_type}");
        }
    }

    #[test]
    fn last_modified_in_the_future_is_omitted() {
        let says_when = |now| {
            let said = said_to(Visibility::Public, Pass::Full, now, "image/png");
            said.iter().any(|line| line.starts_with("last-modified"))
        };
        assert!(says_when(CHANGED_AT));
        assert!(!says_when(Time::from_millis(CHANGED_AT.millis() - 1)));
    }

    #[test]
    fn assets_allowed_by_referer_vary_on_referer() {
        let said = said_to(Visibility::Private, Pass::AssetsOnly, LATER, "image/png");
        assert!(said.contains(&"vary: Accept-Encoding, Referer, Sec-Fetch-Dest".to_owned()), "{said:?}");
    }

    #[test]
    fn unlisted_and_private_sites_keep_out_of_indexes_and_private_ones_out_of_shared_caches() {
        let unlisted = said(Visibility::Unlisted, "image/png");
        assert!(unlisted.contains(&"x-robots-tag: noindex".to_owned()));
        assert!(unlisted.contains(&"cache-control: public, max-age=60".to_owned()));
        let private = said(Visibility::Private, "image/png");
        for line in
            ["x-robots-tag: noindex", "cache-control: private, max-age=60", "referrer-policy: same-origin"]
        {
            assert!(private.contains(&line.to_owned()), "{line}");
        }
    }

    #[test]
    fn a_font_host_that_is_no_header_text_is_refused() {
        assert!(HeaderPolicy::new(&fonts_of("https://x\r\nSet-Cookie: a")).is_err());
    }
}
