//! Resolves a path to a file of the site.
//!
//! A path is decoded exactly once and then matched against the manifest. It is never joined to a directory on
//! this machine, so path traversal is impossible: such spellings simply match no file.

use domain::{AtPath, Manifest, ManifestFile};

#[derive(Debug, PartialEq)]
pub enum Resolved<'m> {
    File(&'m ManifestFile),
    /// A folder, requested without its trailing slash.
    Folder,
    /// The site's only page, requested at the root and to be read at its own address.
    OnlyPage(&'m ManifestFile),
    /// No such file. The site has its own 404 page, which is this file.
    OwnNotFound(&'m ManifestFile),
    Nothing,
}

impl Resolved<'_> {
    /// Whether the site has nothing at the path.
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Nothing | Self::OwnNotFound(_))
    }
}

/// `path` is relative to the site's root: empty, or starting with a slash.
pub fn resolve<'m>(manifest: &'m Manifest, path: &str) -> Resolved<'m> {
    if path.is_empty() {
        return Resolved::Folder;
    }
    // A path without a slash is the `*` of an `OPTIONS` request and matches no file.
    match manifest.at_encoded(path) {
        Some(AtPath::File(file)) => Resolved::File(file),
        Some(AtPath::Folder) => Resolved::Folder,
        Some(AtPath::OnlyPage(page)) => Resolved::OnlyPage(page),
        None => not_found(manifest),
    }
}

/// What is served for a path without a file.
pub fn not_found(manifest: &Manifest) -> Resolved<'_> {
    manifest.find(Manifest::NOT_FOUND).map_or(Resolved::Nothing, Resolved::OwnNotFound)
}

#[cfg(test)]
mod tests {
    use domain::BlobHash;

    use super::*;

    fn manifest(paths: &[&str]) -> Manifest {
        let file = |path: &&str| ManifestFile {
            path: path.parse().unwrap(),
            hash: BlobHash::of(path.as_bytes()),
            size_bytes: 1,
            content_type: String::new(),
            variants: vec![],
            bundled: None,
        };
        Manifest::new(paths.iter().map(file).collect())
    }

    fn site() -> Manifest {
        manifest(&[
            "index.html",
            "about.html",
            "docs/index.html",
            "docs/a b.html",
            "both.html",
            "both/index.html",
            "img/logo.png",
            "ünï.html",
            "100%.html",
            "%2e%2e/secret.html",
            "..;/x.html",
            "a;b.html",
        ])
    }

    fn say(resolved: Resolved<'_>) -> String {
        match resolved {
            Resolved::File(file) => file.path.to_string(),
            Resolved::Folder => "301".into(),
            Resolved::OnlyPage(page) => format!("301 to {}", page.path),
            Resolved::OwnNotFound(file) => format!("404 {}", file.path),
            Resolved::Nothing => "404".into(),
        }
    }

    #[test]
    fn paths_resolve_to_files_directories_and_clean_urls() {
        let site = site();
        for (path, expected) in [
            ("", "301"),
            ("/", "index.html"),
            ("/index.html", "index.html"),
            ("/index", "index.html"),
            ("/about", "about.html"),
            ("/about.html", "about.html"),
            ("/about/", "404"),
            ("/about.html/", "404"),
            ("/docs", "301"),
            ("/docs/", "docs/index.html"),
            ("/docs/a%20b", "docs/a b.html"),
            ("/docs%2Findex.html", "docs/index.html"),
            ("/both", "301"),
            ("/img", "404"),
            ("/img/", "404"),
            ("/img/logo.png", "img/logo.png"),
            ("/IMG/logo.png", "404"),
            ("/%C3%BCn%C3%AF", "ünï.html"),
            ("/100%.html", "100%.html"),
            ("/100%25.html", "100%.html"),
            ("/a;b", "a;b.html"),
        ] {
            assert_eq!(say(resolve(&site, path)), expected, "{path:?}");
        }
    }

    #[test]
    fn no_path_encoding_escapes_the_site() {
        let site = site();
        let long = format!("/{}", "a/".repeat(30_000));
        for path in [
            "/../index.html",
            "/./index.html",
            "/docs/../index.html",
            "/%2e%2e/index.html",
            "/%2E%2E%2Findex.html",
            "/..%2findex.html",
            "/..%5cindex.html",
            "/..\\index.html",
            "/docs/..;/index.html",
            "/%252e%252e/index.html",
            "//index.html",
            "//evil.example/index.html",
            "/docs//index.html",
            "/docs/%2e",
            "/index.html%00",
            "/index.html%00.png",
            "/%00",
            "/%c0%ae%c0%ae/index.html",
            "/%e0%80%ae/index.html",
            "/%ff",
            "/etc/passwd",
            "/%2fetc%2fpasswd",
            "/C:%5cwindows",
            "/index.html/",
            "/index.html/.",
            "/ index.html",
            "*",
            "index.html",
            long.as_str(),
        ] {
            assert_eq!(say(resolve(&site, path)), "404", "{path:?}");
        }
    }

    #[test]
    fn decoding_happens_exactly_once() {
        assert_eq!(say(resolve(&site(), "/%252e%252e/secret.html")), "%2e%2e/secret.html");
        assert_eq!(say(resolve(&site(), "/%2e%2e/secret.html")), "404");
        assert_eq!(say(resolve(&site(), "/..;/x")), "..;/x.html");
    }

    #[test]
    fn site_can_provide_its_own_404_page() {
        let site = manifest(&["404.html", "a/404.html"]);
        for path in ["/", "/nowhere", "/a/nowhere", "/%ff"] {
            assert_eq!(say(resolve(&site, path)), "404 404.html", "{path}");
        }
        assert_eq!(say(resolve(&site, "/404.html")), "404.html");
    }
}
