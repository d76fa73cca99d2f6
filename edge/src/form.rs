//! Form: in which of its shapes a file is answered. Each has a strong `ETag` of its own.

use std::ops::Range;

use domain::link::SigningKey;
use domain::{BlobHash, Encoding, Host, ManifestFile, Route, Visibility};
use poem::http::HeaderMap;

use crate::find::{Address, Mount};
use crate::negotiate;

/// A file in the shape that one visitor gets.
#[derive(Debug)]
pub struct Form<'a> {
    pub host: &'a Host,
    pub file: &'a ManifestFile,
    pub dress: Dress,
    pub encoding: Option<Encoding>,
}

/// What is done to the HTML of a page before it is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dress {
    pub has_badge: bool,
    pub links: Option<SignedLinks>,
}

/// All that signed links depend on besides the page's content: the signature stands for the host, and how deep the
/// page lies decides which links stay within the site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SignedLinks {
    pub signature: Signature,
    pub mount: Mount,
    pub depth: u16,
}

/// A `sig` as it stands in a link: 16 hex characters.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature([u8; 16]);

/// Under what a form is kept in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    pub hash: BlobHash,
    pub dress: Dress,
    pub encoding: Option<Encoding>,
}

/// What is larger than this streams from the store and is never held whole.
pub const HELD_BYTES_MAX: u64 = 1 << 20;

/// How much of a hash an `ETag` shows: 128 bits.
const ETAG_HASH_LENGTH: usize = 32;

impl<'a> Form<'a> {
    /// The form of a file for a visitor who takes these encodings.
    pub fn choose(host: &'a Host, file: &'a ManifestFile, dress: Dress, accepted: &HeaderMap) -> Self {
        let form = Self { host, file, dress, encoding: None };
        // What is dressed on its way is not encoded too.
        let is_encodable = dress.is_plain() || form.is_held();
        let encoding = if is_encodable { negotiate::choose(accepted, &file.variants) } else { None };
        Self { encoding, ..form }
    }

    /// Whether it is kept in memory.
    pub fn is_held(&self) -> bool {
        let stored = self.stored_range();
        stored.end - stored.start <= HELD_BYTES_MAX
    }

    pub fn key(&self) -> Key {
        Key { hash: self.file.hash, dress: self.dress, encoding: self.encoding }
    }

    /// Where the bytes of this form lie in the blob, before any dressing.
    pub fn stored_range(&self) -> Range<u64> {
        let plain = 0..self.file.size_bytes;
        if !self.dress.is_plain() {
            return plain;
        }
        let stored = |variant: &&domain::Variant| Some(variant.encoding) == self.encoding;
        let variant = self.file.variants.iter().find(stored);
        variant.map_or(plain, |variant| variant.offset_bytes..variant.offset_bytes + variant.size_bytes)
    }

    /// `badge_mark` tells one wording of the badge from another.
    pub fn etag(&self, badge_mark: &str) -> String {
        let mut etag = String::with_capacity(ETAG_HASH_LENGTH + 24);
        etag.push('"');
        etag.push_str(&self.file.hash.to_string()[..ETAG_HASH_LENGTH]);
        if self.dress.has_badge {
            etag.push('-');
            etag.push_str(badge_mark);
        }
        if self.dress.links.is_some() {
            etag.push_str("-signed");
        }
        if let Some(encoding) = self.encoding {
            etag.push('-');
            etag.push_str(encoding.token());
        }
        etag.push('"');
        etag
    }
}

impl Dress {
    pub fn of(route: &Route, address: &Address<'_>, file: &ManifestFile, key: &SigningKey) -> Self {
        if !is_html(file) {
            return Self::default();
        }
        let is_private = route.visibility == Visibility::Private;
        let links = is_private.then(|| Signature::of(&route.host, key)).flatten();
        let (mount, depth) = (address.mount, address.depth());
        Self {
            // Spec 3.1: while provisional, a small badge is injected into served pages.
            has_badge: route.expires_at.is_some(),
            links: links.map(|signature| SignedLinks { signature, mount, depth }),
        }
    }

    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

impl Signature {
    pub fn of(host: &Host, key: &SigningKey) -> Option<Self> {
        key.signature(host).as_bytes().try_into().ok().map(Self)
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

/// HTML that browsers read as such, and that can be rewritten as such.
fn is_html(file: &ManifestFile) -> bool {
    file.content_type.starts_with("text/html")
}

/// A page in itself, rather than an asset of one: it counts as a view and carries the content security policy.
pub fn is_document(file: &ManifestFile) -> bool {
    is_html(file) || file.content_type.starts_with("application/xhtml+xml")
}

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::*;

    fn file(content_type: &str) -> ManifestFile {
        ManifestFile {
            path: "index.html".parse().unwrap(),
            hash: BlobHash::of(b"page"),
            size_bytes: 100,
            content_type: content_type.to_owned(),
            variants: vec![Variant { encoding: Encoding::Gzip, offset_bytes: 100, size_bytes: 40 }],
        }
    }

    fn links() -> SignedLinks {
        let key = SigningKey::new("secret");
        let signature = Signature::of(&"my-page-a1b2".parse().unwrap(), &key).unwrap();
        SignedLinks { signature, mount: Mount::Path, depth: 0 }
    }

    #[test]
    fn every_form_has_an_etag_of_its_own() {
        let (file, host) = (file("text/html"), "my-page-a1b2".parse().unwrap());
        let mut etags: Vec<String> = Vec::new();
        for has_badge in [false, true] {
            for links in [None, Some(links())] {
                for encoding in [None, Some(Encoding::Brotli), Some(Encoding::Zstd), Some(Encoding::Gzip)] {
                    let form = Form { host: &host, file: &file, dress: Dress { has_badge, links }, encoding };
                    etags.push(form.etag("b0"));
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
    fn a_plain_form_is_read_where_it_lies_and_a_dressed_one_is_made_of_the_plain_bytes() {
        let (file, host) = (file("text/html"), "my-page-a1b2".parse().unwrap());
        let range = |dress, encoding| Form { host: &host, file: &file, dress, encoding }.stored_range();
        assert_eq!(range(Dress::default(), None), 0..100);
        assert_eq!(range(Dress::default(), Some(Encoding::Gzip)), 100..140);
        assert_eq!(range(Dress { has_badge: true, links: None }, Some(Encoding::Gzip)), 0..100);
    }

    #[test]
    fn a_large_page_is_not_encoded_when_it_must_be_dressed() {
        let host = "my-page-a1b2".parse().unwrap();
        let mut accepted = HeaderMap::new();
        accepted.insert(poem::http::header::ACCEPT_ENCODING, "gzip".parse().unwrap());
        let large = ManifestFile { size_bytes: HELD_BYTES_MAX + 1, ..file("text/html") };
        let badge = Dress { has_badge: true, links: None };
        for (file, dress, encoding, is_held) in [
            (&file("text/html"), badge, Some(Encoding::Gzip), true),
            (&large, Dress::default(), Some(Encoding::Gzip), true),
            (&large, badge, None, false),
        ] {
            let form = Form::choose(&host, file, dress, &accepted);
            assert_eq!((form.encoding, form.is_held()), (encoding, is_held), "{form:?}");
        }
    }

    #[test]
    fn a_signature_never_shows_in_a_log() {
        assert!(!format!("{:?}", links()).contains(links().signature.as_str()));
        assert_eq!(links().signature.as_str().len(), 16);
    }

    #[test]
    fn xhtml_is_a_document_that_is_left_as_it_is() {
        assert!(is_document(&file("application/xhtml+xml; charset=utf-8")));
        assert!(!is_html(&file("application/xhtml+xml; charset=utf-8")));
        assert!(is_document(&file("text/html; charset=utf-8")));
        assert!(!is_document(&file("image/svg+xml; charset=utf-8")));
    }
}
