//! The page for all measurements, and the files of sites.

use domain::Chance;

/// The size of the page for all measurements.
pub const PAGE_BYTES: usize = 4096;

const WORDS: [&str; 16] = [
    "handbill", "page", "publish", "agent", "reader", "paper", "street", "corner", "printed", "morning",
    "crowd", "letters", "ink", "pasted", "wall", "news",
];

/// A page of prose. Each is different, and compresses about as well as real pages do.
pub fn page(chance: &Chance) -> String {
    let mut html = format!("<!doctype html><title>{}</title><body>", chance.base36(12));
    let end = "</body>";
    let bytes = chance.bytes::<PAGE_BYTES>();
    for pair in bytes.chunks_exact(2) {
        let word = WORDS[usize::from(pair[0]) % WORDS.len()];
        match pair[1] {
            0..8 => html.push_str("<p class=\"text\">"),
            8..40 => html.push_str(&chance.base36(4)),
            _ => html.push_str(word),
        }
        html.push(' ');
        if html.len() + end.len() >= PAGE_BYTES {
            break;
        }
    }
    html.truncate(PAGE_BYTES - end.len());
    html + end
}

/// A file of a site, with its path.
#[derive(Clone)]
pub struct SiteFile {
    pub path: String,
    pub content: Vec<u8>,
}

impl SiteFile {
    /// The front page of a site.
    pub fn index(chance: &Chance) -> Self {
        Self { path: "index.html".to_owned(), content: page(chance).into_bytes() }
    }

    /// The other pages of a site of this many files.
    pub fn others(chance: &Chance, files: usize) -> Vec<Self> {
        let file = |number: usize| Self { path: format!("pages/{number}.html"), ..Self::index(chance) };
        (1..files).map(file).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_has_the_size_and_no_two_are_alike() {
        let chance = Chance::seeded(1);
        let (one, other) = (page(&chance), page(&chance));
        assert_eq!((one.len(), other.len()), (PAGE_BYTES, PAGE_BYTES));
        assert_ne!(one, other);
    }
}
