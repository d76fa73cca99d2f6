//! The forms in which a file can be served: plain or dressed, with or without an encoding. Each has its own
//! strong `ETag`.

use std::ops::Range;

use domain::signing_key::LinkKey;
use domain::{
    BlobHash, Encoding, Host, LinkGeneration, ManifestFile, Route, VersionTag, Visibility, choose_encoding,
};
use poem::http::{HeaderMap, header};

use crate::find::{Address, Mount};

/// A file in the form that one visitor gets.
#[derive(Clone, Copy, Debug)]
pub struct Form<'a> {
    pub host: &'a Host,
    pub file: &'a ManifestFile,
    pub dress: Dress,
    pub encoding: Option<Encoding>,
}

/// The markup of a page, which decides how it is parsed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Markup {
    #[default]
    Html,
    Xhtml,
}

/// The changes that a page gets before it is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dress {
    pub markup: Markup,
    pub has_badge: bool,
    pub links: Option<SignedLinks>,
}

/// Everything that signed links depend on besides the page's content. The signature stands for the host, and
/// the version and the depth of the page decide which links stay within the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignedLinks {
    pub signature: Signature,
    /// `None` at the live address.
    pub version: Option<VersionTag>,
    pub mount: Mount,
    pub depth: u16,
}

/// A `sig` as it appears in a link: 16 hex characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature([u8; 16]);

/// The cache key of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub hash: BlobHash,
    pub dress: Dress,
    pub encoding: Option<Encoding>,
}

/// Larger contents stream from the store and are never held whole.
pub const HELD_BYTES_MAX: u64 = 1 << 20;

/// Identifies the rules of dressing in the `ETag`, because pages that were dressed by other rules are other
/// representations.
#[derive(Debug)]
pub struct DressMarks {
    badge: String,
    links: String,
}

/// The length of the hash in an `ETag`, in hex characters: 128 bits.
const ETAG_HASH_LENGTH: usize = 32;
const MARK_LENGTH: usize = 6;

impl<'a> Form<'a> {
    /// Chooses the form of a file for the encodings that a visitor accepts.
    pub fn choose(host: &'a Host, file: &'a ManifestFile, dress: Dress, accepted: &HeaderMap) -> Self {
        let lines = accepted.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        let stored = file.variants.iter().map(|variant| variant.encoding);
        Self { host, file, dress, encoding: choose_encoding(lines, stored) }
    }

    /// Whether the form may be small enough to be cached. The size of a page that is dressed and then encoded
    /// is known only afterwards.
    pub fn may_be_held(&self) -> bool {
        let stored = self.stored_range();
        let is_encoded_here = !self.dress.is_plain() && self.encoding.is_some();
        is_encoded_here || stored.end - stored.start <= HELD_BYTES_MAX
    }

    /// The same form without an encoding.
    pub fn unencoded(self) -> Self {
        Self { encoding: None, ..self }
    }

    pub fn key(&self) -> Key {
        // Without dressing the bytes do not depend on the markup.
        let dress = if self.dress.is_plain() { Dress::default() } else { self.dress };
        Key { hash: self.file.hash, dress, encoding: self.encoding }
    }

    /// The byte range of this form in the blob, before any dressing.
    pub fn stored_range(&self) -> Range<u64> {
        let plain = 0..self.file.size_bytes;
        if !self.dress.is_plain() {
            return plain;
        }
        let stored = |variant: &&domain::Variant| Some(variant.encoding) == self.encoding;
        let variant = self.file.variants.iter().find(stored);
        variant.map_or(plain, |variant| variant.offset_bytes..variant.offset_bytes + variant.size_bytes)
    }

    pub fn etag(&self, marks: &DressMarks) -> String {
        let mut etag = String::with_capacity(ETAG_HASH_LENGTH + 32);
        etag.push('"');
        etag.push_str(&self.file.hash.to_string()[..ETAG_HASH_LENGTH]);
        if self.dress.has_badge {
            etag.push('-');
            etag.push_str(&marks.badge);
        }
        if let Some(links) = &self.dress.links {
            etag.push_str("-signed-");
            etag.push_str(&mark_of(&[&marks.links, links.signature.as_str()]));
        }
        if let Some(encoding) = self.encoding {
            etag.push('-');
            etag.push_str(encoding.token());
        }
        etag.push('"');
        etag
    }
}

impl DressMarks {
    /// `rules` decide how pages are dressed, `badge` is the badge's markup, `origins` are the addresses of
    /// the site.
    pub fn new(rules: &[&str], badge: &str, origins: &str) -> Self {
        let rules = mark_of(rules);
        Self { badge: mark_of(&[&rules, badge]), links: mark_of(&[&rules, origins]) }
    }
}

fn mark_of(texts: &[&str]) -> String {
    let mut mark = BlobHash::of(texts.join("\n").as_bytes()).to_string();
    mark.truncate(MARK_LENGTH);
    mark
}

impl Markup {
    /// `None` if the file is not a page.
    pub fn of(file: &ManifestFile) -> Option<Self> {
        match file.content_type.split(';').next().unwrap_or_default() {
            "text/html" => Some(Self::Html),
            "application/xhtml+xml" => Some(Self::Xhtml),
            _ => None,
        }
    }
}

impl Dress {
    pub fn of(route: &Route, address: &Address<'_>, file: &ManifestFile, key: &LinkKey) -> Self {
        let Some(markup) = Markup::of(file) else { return Self::default() };
        let is_private = route.visibility == Visibility::Private;
        let links = is_private.then(|| Signature::of(&route.host, route.link_generation, key)).flatten();
        let (version, mount, depth) = (address.label.version, address.mount, address.depth());
        Self {
            markup,
            // Pages of provisional accounts carry a small badge.
            has_badge: route.expires_at.is_some(),
            links: links.map(|signature| SignedLinks { signature, version, mount, depth }),
        }
    }

    pub fn is_plain(&self) -> bool {
        !self.has_badge && self.links.is_none()
    }
}

impl Signature {
    pub fn of(host: &Host, generation: LinkGeneration, key: &LinkKey) -> Option<Self> {
        key.signature(host, generation).as_bytes().try_into().ok().map(Self)
    }

    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Debug for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Signature(…)")
    }
}

/// Whether the file is a page and not an asset of one. It then counts as a view and carries the content
/// security policy.
pub fn is_document(file: &ManifestFile) -> bool {
    Markup::of(file).is_some()
}

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::*;

    const BADGED: Dress = Dress { markup: Markup::Html, has_badge: true, links: None };

    fn file(content_type: &str) -> ManifestFile {
        ManifestFile {
            path: "index.html".parse().unwrap(),
            hash: BlobHash::of(b"page"),
            size_bytes: 100,
            content_type: content_type.to_owned(),
            variants: vec![Variant { encoding: Encoding::Gzip, offset_bytes: 100, size_bytes: 40 }],
            bundled: None,
        }
    }

    fn links(secret: &str) -> SignedLinks {
        let key = LinkKey::new(secret);
        let signature = Signature::of(&"my-page-a1b2".parse().unwrap(), LinkGeneration::FIRST, &key).unwrap();
        SignedLinks { signature, version: None, mount: Mount::Path, depth: 0 }
    }

    #[test]
    fn every_representation_has_a_unique_etag() {
        let (file, host) = (file("text/html"), "my-page-a1b2".parse().unwrap());
        let mut etags: Vec<String> = Vec::new();
        let marks = DressMarks::new(&["rules"], "badge", "http://x");
        for has_badge in [false, true] {
            for links in [None, Some(links("secret")), Some(links("other"))] {
                for encoding in [None, Some(Encoding::Brotli), Some(Encoding::Zstd), Some(Encoding::Gzip)] {
                    let dress = Dress { has_badge, links, ..Dress::default() };
                    etags.push(Form { host: &host, file: &file, dress, encoding }.etag(&marks));
                }
            }
        }
        assert!(etags.iter().all(|etag| etag.len() > 33 && etag.starts_with('"') && etag.ends_with('"')));
        let count = etags.len();
        etags.sort();
        etags.dedup();
        assert_eq!(etags.len(), count);
    }

    #[test]
    fn unmodified_variants_are_read_from_storage_and_rewritten_pages_from_plain_bytes() {
        let (file, host) = (file("text/html"), "my-page-a1b2".parse().unwrap());
        let range = |dress, encoding| Form { host: &host, file: &file, dress, encoding }.stored_range();
        assert_eq!(range(Dress::default(), None), 0..100);
        assert_eq!(range(Dress::default(), Some(Encoding::Gzip)), 100..140);
        assert_eq!(range(BADGED, Some(Encoding::Gzip)), 0..100);
    }

    #[test]
    fn changed_rewrite_rules_change_only_etags_of_rewritten_pages() {
        let (file, host) = (file("text/html"), "my-page-a1b2".parse().unwrap());
        let etag = |dress, rules, badge, origins| {
            let marks = DressMarks::new(&[rules], badge, origins);
            Form { host: &host, file: &file, dress, encoding: None }.etag(&marks)
        };
        let signed = Dress { links: Some(links("secret")), ..Dress::default() };
        for (dress, (rules, badge, origins)) in [
            (Dress::default(), (false, false, false)),
            (BADGED, (true, true, false)),
            (signed, (true, false, true)),
        ] {
            let first = etag(dress, "1", "badge", "http://x");
            assert_eq!(etag(dress, "2", "badge", "http://x") != first, rules, "{dress:?}");
            assert_eq!(etag(dress, "1", "wording", "http://x") != first, badge, "{dress:?}");
            assert_eq!(etag(dress, "1", "badge", "http://y") != first, origins, "{dress:?}");
        }
    }

    #[test]
    fn only_uncompressed_large_files_are_never_cached() {
        let host = "my-page-a1b2".parse().unwrap();
        let large = ManifestFile { size_bytes: HELD_BYTES_MAX + 1, ..file("text/html") };
        let gzip = Some(Encoding::Gzip);
        for (file, dress, encoding, may_be_held) in [
            (&file("text/html"), BADGED, None, true),
            (&large, Dress::default(), gzip, true),
            (&large, Dress::default(), None, false),
            (&large, BADGED, gzip, true),
            (&large, BADGED, None, false),
        ] {
            let form = Form { host: &host, file, dress, encoding };
            assert_eq!(form.may_be_held(), may_be_held, "{form:?}");
        }
    }

    #[test]
    fn html_and_xhtml_forms_share_plain_bytes_but_not_rewritten_ones() {
        let (html, xhtml) = (file("text/html; charset=utf-8"), file("application/xhtml+xml; charset=utf-8"));
        let host = "my-page-a1b2".parse().unwrap();
        let key = |file: &ManifestFile, has_badge| {
            let markup = Markup::of(file).unwrap();
            let dress = Dress { markup, has_badge, links: None };
            Form { host: &host, file, dress, encoding: None }.key()
        };
        assert_eq!(key(&html, false), key(&xhtml, false));
        assert_ne!(key(&html, true), key(&xhtml, true));
    }

    #[test]
    fn link_signature_is_not_shown_in_debug_output() {
        assert!(!format!("{:?}", links("secret")).contains(links("secret").signature.as_str()));
        assert_eq!(links("secret").signature.as_str().len(), 16);
    }

    #[test]
    fn only_html_and_xhtml_are_documents() {
        assert_eq!(Markup::of(&file("text/html; charset=utf-8")), Some(Markup::Html));
        assert_eq!(Markup::of(&file("application/xhtml+xml; charset=utf-8")), Some(Markup::Xhtml));
        for asset in ["image/svg+xml; charset=utf-8", "text/html-sandboxed", "text/plain", ""] {
            assert!(!is_document(&file(asset)), "{asset}");
        }
    }
}
