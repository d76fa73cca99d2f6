//! The files of a version. Manifests are stored as JSON for as long as their version, so a new field needs a
//! default.

use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::{BlobHash, BundledAt, SitePath};

/// Every file of a version, ordered by path. It never changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manifest(Vec<ManifestFile>);

/// A file: its path in the site, and the location of its bytes in the blob store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ManifestFile {
    pub path: SitePath,
    pub hash: BlobHash,
    pub size_bytes: u64,
    pub content_type: String,
    /// The encodings that are smaller, stored after the plain bytes in the same object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<Variant>,
    /// The bundle that held the content when the version was published. A sweep may have moved the content
    /// since; then the database has its location. `None`: the content had its own object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bundled: Option<BundledAt>,
}

/// What a path of a site refers to.
#[derive(Debug, PartialEq)]
pub enum AtPath<'m> {
    File(&'m ManifestFile),
    /// A folder, requested without its trailing slash.
    Folder,
    /// The root of a site without a front page, whose only page is in a folder. Its relative links work at
    /// its own address only.
    OnlyPage(&'m ManifestFile),
}

/// The same bytes in another encoding. The offset counts from the first plain byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    pub encoding: Encoding,
    pub offset_bytes: u64,
    pub size_bytes: u64,
}

/// A content encoding as HTTP names it, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Encoding {
    #[serde(rename = "br")]
    Brotli,
    #[serde(rename = "zstd")]
    Zstd,
    #[serde(rename = "gzip")]
    Gzip,
}

impl Encoding {
    pub const ALL: [Encoding; 3] = [Encoding::Brotli, Encoding::Zstd, Encoding::Gzip];

    /// The token of `Accept-Encoding` and `Content-Encoding`.
    pub fn token(self) -> &'static str {
        match self {
            Encoding::Brotli => "br",
            Encoding::Zstd => "zstd",
            Encoding::Gzip => "gzip",
        }
    }
}

impl Manifest {
    /// The file that is served for a folder.
    pub const INDEX: &'static str = "index.html";
    /// The file that is served for unknown paths.
    pub const NOT_FOUND: &'static str = "404.html";
    /// The file with the site's redirects. It is not served.
    pub const REDIRECTS: &'static str = "_redirects";
    /// The file with the site's response headers. It is not served.
    pub const HEADERS: &'static str = "_headers";

    pub fn new(mut files: Vec<ManifestFile>) -> Self {
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Self(files)
    }

    pub fn files(&self) -> &[ManifestFile] {
        &self.0
    }

    pub fn find(&self, path: &str) -> Option<&ManifestFile> {
        self.0.binary_search_by(|file| file.path.as_str().cmp(path)).ok().map(|at| &self.0[at])
    }

    /// What a path within the site refers to, decoded and without its leading slash: the file with that name,
    /// a folder's page, or the page with that name without its `.html`. The root of a site without a front
    /// page is the site's only page.
    pub fn at(&self, path: &str) -> Option<AtPath<'_>> {
        let index = Self::INDEX;
        if path.is_empty() && self.find(index).is_none() {
            let page = self.only_page()?;
            let is_at_root = page.path.folders().next().is_none();
            return Some(if is_at_root { AtPath::File(page) } else { AtPath::OnlyPage(page) });
        }
        if path.is_empty() || path.ends_with('/') {
            return self.find(&format!("{path}{index}")).map(AtPath::File);
        }
        if let Some(file) = self.find(path).filter(|file| !file.holds_rules()) {
            return Some(AtPath::File(file));
        }
        if self.find(&format!("{path}/{index}")).is_some() {
            return Some(AtPath::Folder);
        }
        self.find(&format!("{path}.html")).map(AtPath::File)
    }

    /// The same for a path as it stands in a URL: with percent encoding, and with a leading slash.
    pub fn at_encoded(&self, path: &str) -> Option<AtPath<'_>> {
        let path = percent_decode_str(path.strip_prefix('/')?).decode_utf8().ok()?;
        self.at(&path)
    }

    /// The file that a rewrite to a path shows, as it stands in a URL. A folder's page is shown without its
    /// slash.
    pub fn shown_at(&self, path: &str) -> Option<&ManifestFile> {
        match self.at_encoded(path)? {
            AtPath::File(file) | AtPath::OnlyPage(file) => Some(file),
            AtPath::Folder => self.shown_at(&format!("{path}/")),
        }
    }

    /// The HTML pages, without the one for unknown paths.
    pub fn pages(&self) -> impl Iterator<Item = &ManifestFile> {
        let is_page =
            |file: &&ManifestFile| file.essence() == "text/html" && file.path.as_str() != Self::NOT_FOUND;
        self.0.iter().filter(is_page)
    }

    /// The page of a site that has exactly one.
    pub fn only_page(&self) -> Option<&ManifestFile> {
        let mut pages = self.pages();
        pages.next().filter(|_| pages.next().is_none())
    }

    pub fn total_bytes(&self) -> u64 {
        self.0.iter().map(|file| file.size_bytes).sum()
    }
}

impl ManifestFile {
    /// The content type without its parameters.
    pub fn essence(&self) -> &str {
        self.content_type.split(';').next().unwrap_or_default().trim_end()
    }

    /// Whether it configures the site and is not part of it.
    pub fn holds_rules(&self) -> bool {
        matches!(self.path.as_str(), Manifest::REDIRECTS | Manifest::HEADERS)
    }

    /// Whether a browser opens it as a document that may run scripts with all the rights of the site. This
    /// includes SVG and any other XML, which may contain XHTML or SVG.
    pub fn runs_as_document(&self) -> bool {
        let essence = self.essence();
        essence == "text/html" || essence.ends_with("+xml") || essence.ends_with("/xml")
    }

    /// Whether a browser runs it as a document or as a document's script.
    pub fn runs_as_document_or_script(&self) -> bool {
        let (_, subtype) = self.essence().split_once('/').unwrap_or_default();
        self.runs_as_document() || SCRIPT_SUBTYPES.contains(&subtype)
    }
}

/// The subtypes of scripts, each below `text/` or `application/`.
const SCRIPT_SUBTYPES: [&str; 6] =
    ["javascript", "x-javascript", "ecmascript", "x-ecmascript", "jscript", "livescript"];

/// The content type for a file name, with a charset for text.
pub fn content_type_of(path: &SitePath) -> String {
    let guess = mime_guess::from_path(path.as_str()).first_or_octet_stream();
    let essence = guess.essence_str();
    let is_text = essence.starts_with("text/")
        || matches!(
            essence,
            "application/javascript" | "application/json" | "application/xml" | "image/svg+xml"
        )
        || essence.ends_with("+json")
        || essence.ends_with("+xml");
    if is_text { format!("{essence}; charset=utf-8") } else { essence.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> ManifestFile {
        let path: SitePath = path.parse().unwrap();
        let content_type = content_type_of(&path);
        ManifestFile {
            path,
            hash: BlobHash::of(b"x"),
            size_bytes: 1,
            content_type,
            variants: vec![],
            bundled: None,
        }
    }

    #[test]
    fn a_file_is_found_by_its_exact_path() {
        let manifest = Manifest::new(vec![file("z.js"), file("index.html"), file("css/app.css")]);
        assert_eq!(manifest.find("css/app.css").unwrap().path.as_str(), "css/app.css");
        assert!(manifest.find("css").is_none());
        assert_eq!(manifest.total_bytes(), 3);
    }

    #[test]
    fn documents_and_scripts_are_detected_by_content_type() {
        for document in ["a.html", "a.htm", "a.xhtml", "a.svg", "a.xml", "a.xsl", "a.rss", "a.atom"] {
            assert!(file(document).runs_as_document(), "{document}");
        }
        for script in ["a.js", "a.mjs", "a.es"] {
            assert!(!file(script).runs_as_document(), "{script}");
            assert!(file(script).runs_as_document_or_script(), "{script}");
        }
        for other in ["a.css", "a.json", "a.txt", "a.png", "a"] {
            assert!(!file(other).runs_as_document_or_script(), "{other}");
        }
    }

    #[test]
    fn paths_resolve_to_files_directories_and_extensionless_pages() {
        let names =
            ["index.html", "about.html", "docs/index.html", "both.html", "both/index.html", "a/b.css"];
        let site = Manifest::new(names.map(file).into());
        let meant = |path: &str| match site.at(path) {
            Some(AtPath::File(file)) => file.path.to_string(),
            Some(AtPath::Folder | AtPath::OnlyPage(_)) => "a folder".to_owned(),
            None => "nothing".to_owned(),
        };
        for (path, leads_to) in [
            ("", "index.html"),
            ("index.html", "index.html"),
            ("about", "about.html"),
            ("about/", "nothing"),
            ("docs", "a folder"),
            ("docs/", "docs/index.html"),
            ("both", "a folder"),
            ("both.html", "both.html"),
            ("a/b.css", "a/b.css"),
            ("a", "nothing"),
            ("a/", "nothing"),
            ("/", "nothing"),
            ("../index.html", "nothing"),
            ("About", "nothing"),
        ] {
            assert_eq!(meant(path), leads_to, "{path:?}");
        }
    }

    #[test]
    fn the_root_of_a_site_without_a_front_page_is_its_only_page() {
        for (names, at_root) in [
            (&["report.html", "app.css", "404.html"][..], Some("report.html")),
            (&["dist/report.htm", "dist/app.css"], Some("to dist/report.htm")),
            (&["a.html", "b.html"], None),
            (&["a.html", "b/index.html"], None),
            (&["404.html", "a.txt"], None),
            (&["a.svg"], None),
            (&[], None),
        ] {
            let site = Manifest::new(names.iter().map(|name| file(name)).collect());
            let found = site.at("").map(|at| match at {
                AtPath::File(file) => file.path.to_string(),
                AtPath::OnlyPage(file) => format!("to {}", file.path),
                AtPath::Folder => "a folder".to_owned(),
            });
            assert_eq!(found.as_deref(), at_root, "{names:?}");
        }
    }

    #[test]
    fn text_types_have_a_charset_and_unknown_types_are_octet_streams() {
        let type_of = |path: &str| content_type_of(&path.parse().unwrap());
        assert_eq!(type_of("index.html"), "text/html; charset=utf-8");
        assert_eq!(type_of("a/app.js"), "text/javascript; charset=utf-8");
        assert_eq!(type_of("logo.svg"), "image/svg+xml; charset=utf-8");
        assert_eq!(type_of("photo.jpg"), "image/jpeg");
        assert_eq!(type_of("font.woff2"), "font/woff2");
        assert_eq!(type_of("LICENSE"), "application/octet-stream");
    }
}
