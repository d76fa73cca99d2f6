//! The front page of a site as it was served last, kept with the site's route. A visit to a page in memory
//! then reads one entry: it resolves no path and looks up no content.
//!
//! The bytes belong to the cache of contents, which may evict them at any time. Every few seconds a visit looks
//! the content up in that cache again. Otherwise the cache would take a busy page for an unused one.

use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use domain::{Encoding, ManifestFile, Route, Visibility, choose_encoding};
use poem::http::{HeaderMap, HeaderValue, header};
use tokio::time::Instant;

use crate::content::LoadedContent;
use crate::resolve::{Resolved, resolve};

/// The front page of a site that everybody with its address may read.
pub struct FrontPage {
    encodings: [Option<Encoding>; Encoding::ALL.len()],
    /// One for each encoding, and the last one without.
    contents: [Mutex<KnownContent>; Encoding::ALL.len() + 1],
}

/// A content in memory, or nothing.
#[derive(Default)]
struct KnownContent {
    content: Weak<LoadedContent>,
    until: Option<Instant>,
}

const KNOWN_FOR: Duration = Duration::from_secs(5);
const HTML: &str = "text/html; charset=utf-8";

impl FrontPage {
    pub const PATH: &str = "/";
    pub const CONTENT_TYPE: HeaderValue = HeaderValue::from_static(HTML);

    /// `None` if the root of the site is no HTML page, or if what is served depends on the visitor's address.
    pub fn of(route: &Route) -> Option<Self> {
        let file = Self::file(route)?;
        let is_same_for_all = route.visibility != Visibility::Private && file.content_type == HTML;
        is_same_for_all.then(|| Self {
            encodings: Encoding::ALL
                .map(|encoding| file.variants.iter().any(|it| it.encoding == encoding).then_some(encoding)),
            contents: Default::default(),
        })
    }

    pub fn file(route: &Route) -> Option<&ManifestFile> {
        match resolve(&route.manifest, Self::PATH) {
            Resolved::File(file) => Some(file),
            _ => None,
        }
    }

    pub fn choose_encoding(&self, accepted: &HeaderMap) -> Option<Encoding> {
        let lines = accepted.get_all(header::ACCEPT_ENCODING).iter().filter_map(|line| line.to_str().ok());
        choose_encoding(lines, self.encodings.iter().copied().flatten())
    }

    pub fn recall(&self, encoding: Option<Encoding>, now: Instant) -> Option<Arc<LoadedContent>> {
        let known = self.known(encoding).lock().unwrap_or_else(PoisonError::into_inner);
        known.until.filter(|until| *until > now).and_then(|_| known.content.upgrade())
    }

    pub fn keep(&self, encoding: Option<Encoding>, content: &Arc<LoadedContent>, now: Instant) {
        let known = KnownContent { content: Arc::downgrade(content), until: Some(now + KNOWN_FOR) };
        *self.known(encoding).lock().unwrap_or_else(PoisonError::into_inner) = known;
    }

    fn known(&self, encoding: Option<Encoding>) -> &Mutex<KnownContent> {
        &self.contents[encoding.map_or(Encoding::ALL.len(), |encoding| encoding as usize)]
    }
}
