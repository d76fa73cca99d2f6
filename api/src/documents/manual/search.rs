//! The search: a short index, which the script of the pages loads and which the server searches for browsers
//! without scripts. Both rank alike.

use askama::Template;
use serde::Serialize;

use super::guides::Guide;
use super::reference_page::path_of;
use super::{Frame, PageLink, errors_page};
use crate::documents::errors::CodeSection;
use crate::documents::reference::Group;

/// The results of a search. More would not be read.
const FOUND_MAX: usize = 20;
const QUERY_LENGTH_MAX: usize = 100;
/// The length of the text of a result.
const SHOWN_LENGTH_MAX: usize = 240;

/// A part of the documentation that can be found.
#[derive(Clone, Debug, Serialize, PartialEq, Eq)]
pub struct Entry {
    pub kind: Kind,
    pub title: String,
    pub path: String,
    /// Everything that is searched, besides the title.
    pub text: String,
}

#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq)]
pub enum Kind {
    Guide,
    Endpoint,
    Error,
}

impl Kind {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Guide => "Guide",
            Self::Endpoint => "Endpoint",
            Self::Error => "Error",
        }
    }
}

#[derive(Template)]
#[template(path = "docs/search.html")]
pub struct SearchPage<'a> {
    pub frame: Frame<'a>,
    pub found: Vec<&'a Entry>,
}

/// Everything that can be found, in the order of the pages.
pub fn entries(guides: &[Guide], groups: &[Group], errors: &[CodeSection]) -> Vec<Entry> {
    let endpoints = groups.iter().flat_map(|group| {
        group.section.operations.iter().map(|operation| Entry {
            kind: Kind::Endpoint,
            title: operation.summary.clone(),
            path: path_of(group, operation),
            text: plain(&format!("{} {}", operation.name, operation.description)),
        })
    });
    let errors = errors.iter().map(|section| Entry {
        kind: Kind::Error,
        title: section.code.to_owned(),
        path: format!("{}#{}", errors_page::PATH, section.code),
        text: plain(&section.cases.iter().map(|case| case.meaning).collect::<Vec<_>>().join(" ")),
    });
    guides.iter().flat_map(of_guide).chain(endpoints).chain(errors).collect()
}

/// A guide and its parts.
fn of_guide(guide: &Guide) -> Vec<Entry> {
    let PageLink { path, title, .. } = guide.link();
    let parts = guide.article.parts.iter().map(|part| Entry {
        kind: Kind::Guide,
        title: format!("{title}: {}", part.title),
        path: format!("{path}#{}", part.id),
        text: plain(&part.text),
    });
    let whole = Entry {
        kind: Kind::Guide,
        title: title.clone(),
        path: path.clone(),
        text: plain(&guide.article.lead),
    };
    [whole].into_iter().chain(parts).collect()
}

/// The words of a text, without the marks of code.
fn plain(text: &str) -> String {
    text.replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ")
}

impl Entry {
    /// The beginning of the text, as a result shows it.
    pub fn beginning(&self) -> String {
        match self.text.char_indices().nth(SHOWN_LENGTH_MAX) {
            None => self.text.clone(),
            Some((end, _)) => {
                let end = self.text[..end].rfind(' ').unwrap_or(end);
                format!("{}…", &self.text[..end])
            }
        }
    }
}

pub fn shortened(query: &str) -> &str {
    let end = query.char_indices().nth(QUERY_LENGTH_MAX).map_or(query.len(), |(end, _)| end);
    query[..end].trim()
}

/// The entries that have all words of the query. Those that have them in the title come first.
pub fn find<'a>(entries: &'a [Entry], query: &str) -> Vec<&'a Entry> {
    let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
    if words.is_empty() {
        return Vec::new();
    }
    let mut found: Vec<_> =
        entries.iter().filter_map(|entry| rank(entry, &words).map(|rank| (rank, entry))).collect();
    found.sort_by_key(|(rank, _)| *rank);
    found.into_iter().map(|(_, entry)| entry).take(FOUND_MAX).collect()
}

/// How many of the words are not in the title. None if one is nowhere.
fn rank(entry: &Entry, words: &[String]) -> Option<usize> {
    let (title, text) = (entry.title.to_lowercase(), entry.text.to_lowercase());
    let missing: Vec<_> = words.iter().filter(|word| !title.contains(word.as_str())).collect();
    missing.iter().all(|word| text.contains(word.as_str())).then_some(missing.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(title: &str, text: &str) -> Entry {
        Entry { kind: Kind::Guide, title: title.into(), path: "/docs".into(), text: text.into() }
    }

    #[test]
    fn titles_come_before_texts_and_every_word_must_be_there() {
        let entries =
            [entry("Teams", "Invite an agent."), entry("Invite", "A person."), entry("Invite", "An agent.")];
        let titles = |query| find(&entries, query).into_iter().map(|it| &it.text[..]).collect::<Vec<_>>();
        assert_eq!(titles("INVITE"), ["A person.", "An agent.", "Invite an agent."]);
        assert_eq!(titles("agent invite"), ["An agent.", "Invite an agent."]);
        assert!(titles("invite nothing").is_empty() && titles(" ").is_empty());
    }

    #[test]
    fn a_long_query_is_cut_between_characters() {
        assert_eq!(shortened(&"ä".repeat(200)), "ä".repeat(QUERY_LENGTH_MAX));
        assert_eq!(shortened(" hello "), "hello");
    }
}
