//! The bases that a page's relative links resolve against.
//!
//! Browsers use the first `<base>` of a page, also for the links before it. They ignore one that is not part
//! of the page, as in a `<template>` or an `<svg>`, and this module cannot always detect that. So a base
//! decides alone only if nothing but head elements came before it. Any other base is treated as possible, and
//! a relative link must stay within the site under every possible base.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use url::Url;

/// The known bases of a page. Clones share them, so that a second reading starts with all of them.
#[derive(Clone)]
pub struct Bases(Arc<Mutex<Seen>>);

struct Seen {
    page: Url,
    known: Known,
    position: BaseElement,
    /// Whether a link was resolved with what is known so far.
    is_relied_on: bool,
    is_late: bool,
    /// Whether an earlier reading has found all bases.
    is_settled: bool,
}

enum Known {
    /// No base: only the page's own address.
    Page,
    Base(Url),
    /// One of these, or the page's address.
    AnyOf(Vec<Url>),
    /// The base cannot be determined.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum BaseElement {
    Plain,
    Doubtful,
}

/// Elements in which, and after which, a base counts.
const PLAIN_TAGS: [&str; 9] = ["html", "head", "title", "meta", "link", "script", "style", "base", "body"];
/// With more doubtful bases than this, no link of the page is signed.
const DOUBTFUL_MAX: usize = 8;

impl Bases {
    pub fn of(page: Url) -> Self {
        let (known, position) = (Known::Page, BaseElement::Plain);
        let seen = Seen { page, known, position, is_relied_on: false, is_late: false, is_settled: false };
        Self(Arc::new(Mutex::new(seen)))
    }

    /// Records a tag.
    pub fn pass(&self, tag: &str) {
        let mut seen = self.lock();
        if seen.position == BaseElement::Plain && !PLAIN_TAGS.contains(&tag) {
            seen.position = BaseElement::Doubtful;
        }
    }

    /// Records a base.
    pub fn declare(&self, href: &str) {
        let mut seen = self.lock();
        let base = seen.resolve(href);
        seen.note(base);
    }

    /// Whether no base was found.
    pub fn is_page_alone(&self) -> bool {
        let mut seen = self.lock();
        seen.is_relied_on = true;
        matches!(seen.known, Known::Page)
    }

    /// The possible targets of a relative link. Empty if they cannot be determined.
    pub fn join(&self, link: &str) -> Vec<Url> {
        let mut seen = self.lock();
        seen.is_relied_on = true;
        let joined = match &seen.known {
            Known::Page => seen.page.join(link).map(|url| vec![url]),
            Known::Base(base) => base.join(link).map(|url| vec![url]),
            Known::AnyOf(bases) => bases.iter().chain([&seen.page]).map(|base| base.join(link)).collect(),
            Known::Nothing => Ok(vec![]),
        };
        joined.unwrap_or_default()
    }

    /// At the end of a page, returns whether links were resolved before a base that affects them. The known
    /// bases are kept, because the page is then read a second time.
    pub fn settle_if_late(&self) -> bool {
        let mut seen = self.lock();
        seen.is_settled = true;
        seen.is_late
    }

    /// Recovers a poisoned lock: no panic leaves the value half changed.
    fn lock(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seen {
    fn note(&mut self, base: Option<Url>) {
        if self.is_settled {
            return;
        }
        self.known = match (std::mem::replace(&mut self.known, Known::Nothing), base) {
            // The first base decides.
            (known @ (Known::Base(_) | Known::Nothing), _) => {
                self.known = known;
                return;
            }
            (_, None) => Known::Nothing,
            (Known::Page, Some(base)) if self.position == BaseElement::Plain => Known::Base(base),
            (Known::Page, Some(base)) => Known::AnyOf(vec![base]),
            (Known::AnyOf(bases), Some(_)) if bases.len() == DOUBTFUL_MAX => Known::Nothing,
            (Known::AnyOf(mut bases), Some(base)) => {
                bases.push(base);
                Known::AnyOf(bases)
            }
        };
        self.is_late |= self.is_relied_on;
    }

    /// `None` if browsers disagree on it.
    fn resolve(&self, href: &str) -> Option<Url> {
        if super::is_ambiguous(href) {
            return None;
        }
        // Browsers ignore a base that cannot be one.
        let declared = self.page.join(href).ok().filter(|base| !base.cannot_be_a_base());
        Some(declared.unwrap_or_else(|| self.page.clone()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bases() -> Bases {
        Bases::of(Url::parse("https://x.example/site/").unwrap())
    }

    fn joined(bases: &Bases) -> Vec<String> {
        bases.join("a").into_iter().map(String::from).collect()
    }

    #[test]
    fn the_first_base_among_the_tags_of_a_head_decides() {
        let bases = bases();
        for tag in ["html", "head", "link", "base"] {
            bases.pass(tag);
        }
        bases.declare("/b/");
        bases.declare("https://evil.example/");
        assert_eq!(joined(&bases), ["https://x.example/b/a"]);
    }

    #[test]
    fn ambiguous_bases_and_the_page_url_are_all_considered() {
        let bases = bases();
        bases.pass("template");
        bases.declare("/b/");
        bases.declare("https://evil.example/");
        assert_eq!(
            joined(&bases),
            ["https://x.example/b/a", "https://evil.example/a", "https://x.example/site/a"]
        );
        for _ in 0..DOUBTFUL_MAX {
            bases.declare("/c/");
        }
        assert!(joined(&bases).is_empty(), "so many are not puzzled over");
    }

    #[test]
    fn base_after_the_first_link_is_late() {
        for (is_linked, is_late) in [(false, false), (true, true)] {
            let bases = bases();
            if is_linked {
                bases.join("a");
            }
            bases.declare("/b/");
            assert_eq!(bases.settle_if_late(), is_late);
            let second = bases.clone();
            second.declare("/c/");
            assert_eq!(joined(&second), ["https://x.example/b/a"], "what is settled stays");
        }
        let bases = bases();
        bases.declare("/b/");
        bases.join("a");
        bases.declare("/c/");
        assert!(!bases.settle_if_late(), "the second base is none");
    }
}
