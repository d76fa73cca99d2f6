//! Files of the site that its scripts may fetch.

use std::collections::BTreeMap;

/// The sizes that are kept of one file and of all.
const FILE_BYTES_MAX: usize = 1 << 19;
const BYTES_MAX: usize = 1 << 20;

/// Texts by path.
#[derive(Debug, Default)]
pub(crate) struct Files {
    texts: BTreeMap<String, String>,
    bytes: usize,
}

impl Files {
    /// The longest text that still fits.
    pub(crate) fn bytes_left(&self) -> usize {
        FILE_BYTES_MAX.min(BYTES_MAX - self.bytes)
    }

    pub(crate) fn add(&mut self, path: &str, text: &str) {
        if text.len() <= self.bytes_left() {
            self.bytes += text.len();
            self.texts.insert(path.to_owned(), text.to_owned());
        }
    }

    /// The text at an address. The address may be only the end of a path, because the path of the script is
    /// not known.
    pub(crate) fn at(&self, address: &str) -> Option<&str> {
        let path = address.split(['?', '#']).next().unwrap_or_default().trim_start_matches(['.', '/']);
        if path.is_empty() || path.contains("//") {
            return None;
        }
        let is_end = |whole: &str| whole.strip_suffix(path).is_some_and(|folder| folder.ends_with('/'));
        let in_folder = || self.texts.iter().find(|(whole, _)| is_end(whole)).map(|(_, text)| text);
        self.texts.get(path).or_else(in_folder).map(String::as_str)
    }
}
