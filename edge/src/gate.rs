//! Access control: whether this visitor may see this site now.
//!
//! The order is fixed: expired 410, suspended or blocked 451, private 403. Unknown and deleted hosts got 404
//! before.

use domain::signing_key::LinkKey;
use domain::{ManifestFile, ModerationStatus, Route, Time, Visibility};
use poem::http::HeaderMap;
use url::Url;

use crate::closed::Closed;
use crate::find::{Address, bare};

/// What gave the visitor access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// The site is open to everybody, or the address carries the `sig`.
    Full,
    /// Only the referring page carries the `sig`. This is enough for assets, not for documents.
    AssetsOnly,
}

/// Why a browser requests a file, as far as access depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A script or style sheet. It may load more, with its own address as the `Referer`.
    LoadsMore,
    /// A script fetches the file, so it is part of a page, whatever its type.
    Fetch,
    /// Any other purpose, or an unknown one.
    Other,
}

pub const PURPOSE: &str = "sec-fetch-dest";

impl Purpose {
    pub fn of(headers: &HeaderMap, file: &ManifestFile) -> Self {
        match headers.get(PURPOSE).map(|value| value.as_bytes()) {
            Some(b"style" | b"script" | b"worker" | b"sharedworker") => Self::LoadsMore,
            Some(b"empty") => Self::Fetch,
            Some(_) => Self::Other,
            // Browsers send the header only over HTTPS and to localhost. Without it, the file type decides.
            None if may_load_more(file) => Self::LoadsMore,
            None => Self::Other,
        }
    }
}

fn may_load_more(file: &ManifestFile) -> bool {
    let essence = file.content_type.split(';').next().unwrap_or_default().trim_end();
    matches!(essence, "text/css" | "text/javascript" | "application/javascript")
}

/// What the visitor presents.
pub struct Visitor<'r> {
    /// The name that the request is for.
    pub name: &'r str,
    pub query: Option<&'r str>,
    pub referer: Option<&'r str>,
}

pub fn admit(
    route: &Route,
    address: &Address<'_>,
    visitor: &Visitor<'_>,
    key: &LinkKey,
    now: Time,
) -> Result<Pass, Closed> {
    if route.expires_at.is_some_and(|expires_at| expires_at <= now) {
        return Err(Closed::Expired);
    }
    if route.is_suspended {
        return Err(Closed::Suspended);
    }
    // A version has a status of its own, which is checked when the version is found. Before that, a visitor
    // without access must not learn whether its address exists.
    if address.label.version.is_none() {
        admit_to_version(route)?;
    }
    match route.visibility {
        Visibility::Public | Visibility::Unlisted => Ok(Pass::Full),
        Visibility::Private if has_signature(visitor.query, route, key) => Ok(Pass::Full),
        Visibility::Private if comes_from_signed_page(route, address, visitor, key) => Ok(Pass::AssetsOnly),
        Visibility::Private => Err(Closed::Private),
    }
}

pub fn admit_to_version(route: &Route) -> Result<(), Closed> {
    if route.moderation == ModerationStatus::Blocked { Err(Closed::Blocked) } else { Ok(()) }
}

/// Refuses files that a browser would run as a document while the scan of the route's version is late.
/// Images, style sheets and scripts do no harm on their own.
pub fn admit_file(route: &Route, file: &ManifestFile, now: Time) -> Result<(), Closed> {
    if file.runs_as_document() { admit_document(route, now) } else { Ok(()) }
}

pub fn admit_document(route: &Route, now: Time) -> Result<(), Closed> {
    if route.is_held_back(now) { Err(Closed::Unchecked) } else { Ok(()) }
}

fn has_signature(query: Option<&str>, route: &Route, key: &LinkKey) -> bool {
    let mut parts = query.unwrap_or_default().split('&');
    let sent = parts.find_map(|part| part.strip_prefix("sig="));
    // The form of the error page takes the whole signed link, which browsers escape.
    let signature = sent.map(|sent| sent.rsplit_once("sig%3D").map_or(sent, |(_, signature)| signature));
    signature.is_some_and(|signature| key.verifies(&route.host, route.link_generation, signature))
}

/// Requests of style sheets and scripts carry no `sig`, but their `Referer` does.
fn comes_from_signed_page(
    route: &Route,
    address: &Address<'_>,
    visitor: &Visitor<'_>,
    key: &LinkKey,
) -> bool {
    let Some(page) = visitor.referer.and_then(|referer| Url::parse(referer).ok()) else { return false };
    let is_same_name = page.host_str().is_some_and(|name| bare(name).eq_ignore_ascii_case(visitor.name));
    let is_same_site = is_same_name && page.path().starts_with(&address.mount.root(&address.label));
    is_same_site && has_signature(page.query(), route, key)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{BlobHash, LinkGeneration, SitePath, content_type_of};

    use super::*;
    use crate::find::Mount;
    use crate::tests::harness;

    const NOW: Time = Time::from_millis(1_000_000);

    fn route(visibility: Visibility, moderation: ModerationStatus, expires_at: Option<Time>) -> Route {
        Route { visibility, moderation, expires_at, updated_at: NOW, ..harness::route(vec![]) }
    }

    fn knock(
        route: &Route,
        mount: Mount,
        query: Option<&str>,
        referer: Option<&str>,
    ) -> Result<Pass, Closed> {
        let name = if mount == Mount::Path { "127.0.0.1" } else { "my-page-a1b2.localhost" };
        let address = Address { mount, label: route.host.clone().into(), path: "/" };
        admit(route, &address, &Visitor { name, query, referer }, &LinkKey::new("secret"), NOW)
    }

    fn sig() -> String {
        LinkKey::new("secret").signature(&"my-page-a1b2".parse().unwrap(), LinkGeneration::FIRST)
    }

    #[test]
    fn expired_takes_precedence_over_blocked_and_blocked_over_private() {
        use {ModerationStatus as M, Visibility as V};
        let knock = |route: Route| knock(&route, Mount::Path, None, None);
        assert_eq!(knock(route(V::Private, M::Blocked, Some(NOW))), Err(Closed::Expired));
        assert_eq!(knock(route(V::Private, M::Blocked, None)), Err(Closed::Blocked));
        assert_eq!(knock(route(V::Private, M::Pass, None)), Err(Closed::Private));
        assert_eq!(knock(route(V::Unlisted, M::Review, None)), Ok(Pass::Full));
        let later = NOW.plus(Duration::from_millis(1));
        assert_eq!(knock(route(V::Public, M::Pending, Some(later))), Ok(Pass::Full));
    }

    #[test]
    fn site_of_a_suspended_account_is_closed_at_any_visibility() {
        for visibility in [Visibility::Public, Visibility::Unlisted, Visibility::Private] {
            let open = route(visibility, ModerationStatus::Pass, None);
            let suspended = Route { is_suspended: true, ..open.clone() };
            let query = format!("sig={}", sig());
            assert_eq!(knock(&open, Mount::Path, Some(&query), None), Ok(Pass::Full));
            assert_eq!(knock(&suspended, Mount::Path, Some(&query), None), Err(Closed::Suspended));
            let expired = Route { expires_at: Some(NOW), ..suspended };
            assert_eq!(knock(&expired, Mount::Path, Some(&query), None), Err(Closed::Expired));
        }
    }

    #[test]
    fn documents_of_a_provisional_account_are_held_back_while_their_scan_is_late() {
        let later = NOW.plus(Duration::from_secs(60));
        let late = Route {
            held_from: Some(NOW),
            ..route(Visibility::Public, ModerationStatus::Pending, Some(later))
        };
        let opens = |route: &Route, name: &str| {
            let path: SitePath = name.parse().unwrap();
            let content_type = content_type_of(&path);
            let hash = BlobHash::of(b"x");
            admit_file(
                route,
                &ManifestFile { path, hash, size_bytes: 1, content_type, variants: vec![], bundled: None },
                NOW,
            )
            .is_ok()
        };
        for document in ["index.html", "a.htm", "a.xhtml", "a.svg", "a.xml", "a.xsl", "feed.rss", "feed.atom"]
        {
            assert!(!opens(&late, document), "{document}");
        }
        let reported = Route { moderation: ModerationStatus::Review, ..late.clone() };
        assert!(!opens(&reported, "index.html"), "it was reported before its scan");
        for other in ["a.css", "a.js", "a.png", "a.txt", "a.json", "a.pdf", "a.woff2", "LICENSE"] {
            assert!(opens(&late, other), "{other}");
        }
        for open in [
            Route { held_from: Some(NOW.plus(Duration::from_millis(1))), ..late.clone() },
            Route { held_from: None, ..late.clone() },
            Route { moderation: ModerationStatus::Pass, ..late.clone() },
            Route { expires_at: None, ..late },
        ] {
            assert!(opens(&open, "index.html"), "{open:?}");
        }
    }

    #[test]
    fn private_site_opens_only_with_its_signature() {
        let route = route(Visibility::Private, ModerationStatus::Pass, None);
        let sig = sig();
        let of_another =
            LinkKey::new("secret").signature(&"my-page-a1b3".parse().unwrap(), route.link_generation);
        for (query, is_open) in [
            (format!("sig={sig}"), true),
            (format!("a=b&sig={sig}&c"), true),
            (format!("sig=http%3A%2F%2Fmy-page-a1b2.localhost%2F%3Fsig%3D{sig}"), true),
            (format!("sig=http%3A%2F%2Fmy-page-a1b2.localhost%2F%3Fsig%3D{of_another}"), false),
            (format!("sig={of_another}"), false),
            (format!("sig={}", &sig[..15]), false),
            (format!("sig={}", sig.to_uppercase() + "0"), false),
            (format!("sig=&sig={sig}"), false),
            (format!("xsig={sig}"), false),
            ("sig".to_owned(), false),
            (String::new(), false),
        ] {
            let expected = if is_open { Ok(Pass::Full) } else { Err(Closed::Private) };
            assert_eq!(knock(&route, Mount::Path, Some(&query), None), expected, "{query}");
        }
    }

    #[test]
    fn replaced_link_opens_nothing() {
        let route = route(Visibility::Private, ModerationStatus::Pass, None);
        let replaced = Route { link_generation: LinkGeneration::new(1), ..route.clone() };
        let new = LinkKey::new("secret").signature(&route.host, replaced.link_generation);
        let referer = |sig: &str| format!("http://127.0.0.1:8081/site/my-page-a1b2/?sig={sig}");
        for (route, good, bad) in [(&route, sig(), new.clone()), (&replaced, new, sig())] {
            let opens =
                |query: Option<&str>, referer: Option<&str>| knock(route, Mount::Path, query, referer);
            assert_eq!(opens(Some(&format!("sig={good}")), None), Ok(Pass::Full));
            assert_eq!(opens(Some(&format!("sig={bad}")), None), Err(Closed::Private));
            assert_eq!(opens(None, Some(&referer(&good))), Ok(Pass::AssetsOnly));
            assert_eq!(opens(None, Some(&referer(&bad))), Err(Closed::Private));
        }
    }

    #[test]
    fn assets_of_a_signed_page_are_allowed() {
        let route = route(Visibility::Private, ModerationStatus::Pass, None);
        let sig = sig();
        for (mount, referer, is_open) in [
            (Mount::Path, format!("http://127.0.0.1:8081/site/my-page-a1b2/a.css?sig={sig}"), true),
            (Mount::Path, "http://127.0.0.1:8081/site/my-page-a1b2/a.css".to_owned(), false),
            (Mount::Path, format!("http://127.0.0.1:8081/site/other-c3d4/a.css?sig={sig}"), false),
            (Mount::Path, format!("http://127.0.0.1/site/my-page-a1b2/../other-c3d4/?sig={sig}"), false),
            (Mount::Path, format!("http://evil.example/site/my-page-a1b2/?sig={sig}"), false),
            (Mount::Path, "nonsense".to_owned(), false),
            (Mount::Name, format!("http://my-page-a1b2.localhost:8081/deep/a.css?v=1&sig={sig}"), true),
            (Mount::Name, format!("http://my-page-a1b2.localhost.:8081/a.css?sig={sig}"), true),
            (Mount::Name, format!("http://other-c3d4.localhost:8081/?sig={sig}"), false),
        ] {
            let expected = if is_open { Ok(Pass::AssetsOnly) } else { Err(Closed::Private) };
            assert_eq!(knock(&route, mount, None, Some(&referer)), expected, "{referer}");
        }
    }
}
