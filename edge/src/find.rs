//! Find: which site a request means, and which path in it.
//!
//! On the name of a site every path is the site's own; on any other name sites lie below `/site/<host>/`.

use std::borrow::Cow;

use domain::Host;
use percent_encoding::percent_decode_str;
use poem::http::{HeaderMap, Uri, Version, header};
use url::Url;

use crate::closed::Closed;

/// The names by which this edge is called.
pub struct Names {
    /// `.<domain>`, in lower case.
    domain_suffix: String,
    serve_name: String,
}

/// How a site is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mount {
    /// Below `/site/<host>/`.
    Path,
    /// At the root of a name of its own.
    Name,
}

/// The place that a request asks for.
#[derive(Debug, PartialEq)]
pub struct Address<'r> {
    pub mount: Mount,
    pub host: Host,
    /// The path within the site as it was sent: empty, or beginning with a slash.
    pub path: &'r str,
}

#[derive(Debug, PartialEq)]
pub enum Found<'r> {
    Site(Address<'r>),
    /// Somebody asks whether this edge is alive.
    Alive,
    /// Somebody asks whether it can serve.
    Ready,
}

const SITES_PATH: &str = "/site/";
const ALIVE_PATH: &str = "/healthz";
const READY_PATH: &str = "/readyz";
const DEPTH_MAX: u16 = 256;

impl Names {
    pub fn new(domain: &str, serve_url: &Url) -> Self {
        Self {
            domain_suffix: format!(".{}", domain.to_ascii_lowercase()),
            serve_name: serve_url.host_str().unwrap_or_default().to_ascii_lowercase(),
        }
    }

    pub fn find<'r>(&self, uri: &'r Uri, name: &str) -> Result<Found<'r>, Closed> {
        let Some(label) = self.label(name) else { return find_by_path(uri.path()) };
        let host = label.to_ascii_lowercase().parse().map_err(|_| Closed::Missing)?;
        Ok(Found::Site(Address { mount: Mount::Name, host, path: uri.path() }))
    }

    /// What stands before the domain, when the name is below it.
    fn label<'n>(&self, name: &'n str) -> Option<&'n str> {
        let suffix_at = name.len().checked_sub(self.domain_suffix.len())?;
        let (label, suffix) = name.split_at_checked(suffix_at)?;
        let is_below = suffix.eq_ignore_ascii_case(&self.domain_suffix);
        (is_below && !name.eq_ignore_ascii_case(&self.serve_name)).then_some(label)
    }
}

fn find_by_path(path: &str) -> Result<Found<'_>, Closed> {
    match path {
        ALIVE_PATH => return Ok(Found::Alive),
        READY_PATH => return Ok(Found::Ready),
        _ => {}
    }
    let rest = path.strip_prefix(SITES_PATH).ok_or(Closed::Missing)?;
    let (label, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let label: Cow<'_, str> = percent_decode_str(label).decode_utf8().map_err(|_| Closed::Missing)?;
    let host = label.parse().map_err(|_| Closed::Missing)?;
    Ok(Found::Site(Address { mount: Mount::Path, host, path }))
}

/// The name that the request is for, without its port. A target in absolute form comes before the header, which
/// HTTP/1.1 demands nevertheless (RFC 9112, 3.2).
pub fn name_of<'r>(uri: &'r Uri, headers: &'r HeaderMap, version: Version) -> Result<&'r str, Closed> {
    let mut sent = headers.get_all(header::HOST).iter();
    let name = match (uri.authority(), sent.next()) {
        (_, Some(_)) if sent.next().is_some() => return Err(Closed::Malformed),
        (_, None) if version == Version::HTTP_11 => return Err(Closed::Malformed),
        (Some(authority), _) => authority.as_str(),
        (None, Some(value)) => value.to_str().map_err(|_| Closed::Malformed)?,
        (None, None) if version < Version::HTTP_11 => "",
        (None, None) => return Err(Closed::Malformed),
    };
    Ok(without_port(name))
}

fn without_port(name: &str) -> &str {
    let name = match name.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => name,
    };
    bare(name)
}

/// A name without the root of the domain name system, which may be written out.
pub fn bare(name: &str) -> &str {
    name.strip_suffix('.').unwrap_or(name)
}

impl Mount {
    /// The path of a site's root, with slashes around.
    pub fn root(self, host: &Host) -> String {
        match self {
            Mount::Path => format!("{SITES_PATH}{host}/"),
            Mount::Name => "/".to_owned(),
        }
    }
}

impl Address<'_> {
    /// The path of the whole request with a slash at its end.
    pub fn with_slash(&self) -> String {
        let below_root = self.path.trim_start_matches('/');
        let slash = if below_root.is_empty() { "" } else { "/" };
        format!("{}{below_root}{slash}", self.mount.root(&self.host))
    }

    /// How many folders of the site the path lies in, as a browser counts them. No file lies deeper than the bound.
    pub fn depth(&self) -> u16 {
        let slashes = self.path.bytes().filter(|byte| *byte == b'/').count();
        u16::try_from(slashes.saturating_sub(1)).unwrap_or(DEPTH_MAX).min(DEPTH_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new("Pages.Example", &Url::parse("http://publishing.pages.example:8081").unwrap())
    }

    fn find(target: &str, host: &str) -> Result<(Mount, String, String), Closed> {
        let uri: Uri = target.parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(header::HOST, host.parse().unwrap());
        let name = name_of(&uri, &headers, Version::HTTP_11)?;
        match names().find(&uri, name)? {
            Found::Site(a) => Ok((a.mount, a.host.to_string(), a.path.to_owned())),
            Found::Alive => Ok((Mount::Path, "alive".into(), String::new())),
            Found::Ready => Ok((Mount::Path, "ready".into(), String::new())),
        }
    }

    #[test]
    fn a_site_is_found_by_its_name_with_any_port_in_any_case() {
        for host in [
            "my-page-a1b2.pages.example",
            "my-page-a1b2.pages.example:8081",
            "MY-Page-A1B2.PAGES.example:80",
            "my-page-a1b2.pages.example.",
            "my-page-a1b2.pages.example.:8081",
        ] {
            let found = find("/site/x", host).unwrap();
            assert_eq!(found, (Mount::Name, "my-page-a1b2".into(), "/site/x".into()), "{host}");
        }
    }

    #[test]
    fn a_site_is_found_by_path_on_any_other_name() {
        for host in [
            "127.0.0.1:8081",
            "[::1]:8081",
            "pages.example",
            "publishing.pages.example:8081",
            "other.example",
        ] {
            let found = find("/site/my-page-a1b2/css/app.css", host).unwrap();
            assert_eq!(found, (Mount::Path, "my-page-a1b2".into(), "/css/app.css".into()), "{host}");
        }
        assert_eq!(find("/site/my-page-a1b2", "x").unwrap().2, "", "the slash is missing");
        assert_eq!(find("/site/my%2Dpage-a1b2/", "x").unwrap().1, "my-page-a1b2");
        assert_eq!(find("/healthz", "x").unwrap().1, "alive");
        assert_eq!(find("/readyz", "x").unwrap().1, "ready");
        assert_eq!(
            find("/readyz", "my-page-a1b2.pages.example").unwrap().1,
            "my-page-a1b2",
            "a path of the site"
        );
    }

    #[test]
    fn names_and_paths_that_can_be_no_site_are_missing() {
        for (target, host) in [
            ("/", "127.0.0.1"),
            ("/site", "127.0.0.1"),
            ("/site/", "127.0.0.1"),
            ("/site//index.html", "127.0.0.1"),
            ("//site/my-page-a1b2/", "127.0.0.1"),
            ("/Site/my-page-a1b2/", "127.0.0.1"),
            ("/site/../my-page-a1b2/", "127.0.0.1"),
            ("/site/my-page-a1b2%2F/", "127.0.0.1"),
            ("/site/my-page-a1b2%00/", "127.0.0.1"),
            ("/site/%ff%fe/", "127.0.0.1"),
            ("/site/my_page-a1b2/", "127.0.0.1"),
            ("/", "www.my-page-a1b2.pages.example"),
            ("/", ".pages.example"),
            ("/", "evil@my-page-a1b2.pages.example"),
            ("/", "a.pages.example"),
            ("/healthz", "my--nowhere.x.pages.example"),
        ] {
            assert_eq!(find(target, host).unwrap_err(), Closed::Missing, "{target} at {host}");
        }
    }

    #[test]
    fn a_name_that_only_ends_like_the_domain_is_not_below_it() {
        assert_eq!(find("/", "my-page-a1b2.evilpages.example").unwrap_err(), Closed::Missing);
        assert_eq!(find("/site/my-page-a1b2/", "xpages.example").unwrap().0, Mount::Path);
        assert_eq!(find("/site/my-page-a1b2/", "pages.example.evil").unwrap().0, Mount::Path);
    }

    #[test]
    fn an_absolute_target_comes_before_the_header() {
        let found = find("http://my-page-a1b2.pages.example/a", "other-page-c3d4.pages.example").unwrap();
        assert_eq!(found, (Mount::Name, "my-page-a1b2".into(), "/a".into()));
    }

    #[test]
    fn no_name_two_names_and_names_of_strange_bytes_are_malformed() {
        let uri: Uri = "/".parse().unwrap();
        let mut headers = HeaderMap::new();
        assert_eq!(name_of(&uri, &headers, Version::HTTP_11), Err(Closed::Malformed));
        assert_eq!(name_of(&uri, &headers, Version::HTTP_10), Ok(""));
        let absolute: Uri = "http://my-page-a1b2.pages.example/".parse().unwrap();
        assert_eq!(name_of(&absolute, &headers, Version::HTTP_11), Err(Closed::Malformed));
        for version in [Version::HTTP_10, Version::HTTP_2] {
            assert_eq!(name_of(&absolute, &headers, version), Ok("my-page-a1b2.pages.example"));
        }
        headers.append(header::HOST, poem::http::HeaderValue::from_bytes(b"\xff").unwrap());
        assert_eq!(name_of(&uri, &headers, Version::HTTP_11), Err(Closed::Malformed));
        headers.append(header::HOST, "b".parse().unwrap());
        assert_eq!(name_of(&uri, &headers, Version::HTTP_11), Err(Closed::Malformed));
    }

    #[test]
    fn a_slash_is_put_at_the_end_and_never_leads_to_another_name() {
        let with_slash =
            |mount, path| Address { mount, host: "my-page-a1b2".parse().unwrap(), path }.with_slash();
        assert_eq!(with_slash(Mount::Path, ""), "/site/my-page-a1b2/");
        assert_eq!(with_slash(Mount::Path, "/docs"), "/site/my-page-a1b2/docs/");
        assert_eq!(with_slash(Mount::Name, "/docs"), "/docs/");
        assert_eq!(with_slash(Mount::Name, "//evil.example"), "/evil.example/");
    }

    #[test]
    fn the_depth_is_counted_from_the_site_root() {
        let depth =
            |path| Address { mount: Mount::Path, host: "my-page-a1b2".parse().unwrap(), path }.depth();
        assert_eq!([depth(""), depth("/"), depth("/a.html"), depth("/a/"), depth("/a/b/c")], [0, 0, 0, 1, 2]);
    }
}
