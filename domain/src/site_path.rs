//! The path of a file in its site. A path that leads out of the site, or that two parsers could read
//! differently, must never become a [`SitePath`].

use std::fmt;
use std::str::FromStr;

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::{Deserialize, Serialize};

/// Characters that a URL's path must not contain (RFC 3986), that end it, or that encode others.
const NOT_IN_URLS: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The path of a file inside its site: relative, with forward slashes, and never outside the site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct SitePath(String);

impl SitePath {
    pub const LENGTH_MAX: usize = 512;

    pub fn index() -> Self {
        Self("index.html".to_owned())
    }

    /// The path of a newly uploaded file. Stored paths may be older than the rule about hidden characters,
    /// which can make two names look the same.
    pub fn of_upload(text: &str) -> Result<Self, MalformedPath> {
        if text.chars().any(is_hidden) { Err(MalformedPath::Hidden) } else { text.parse() }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path as part of a URL.
    pub fn in_url(&self) -> String {
        utf8_percent_encode(&self.0, NOT_IN_URLS).to_string()
    }

    /// The folders of this file, outermost first: for `a/b/c.txt`, `a` and `a/b`.
    pub fn folders(&self) -> impl Iterator<Item = &str> {
        self.0.match_indices('/').map(|(at, _)| &self.0[..at])
    }
}

/// What is wrong with a path. The message follows "the file path …".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MalformedPath {
    #[error("is empty")]
    Empty,
    #[error("is longer than {} bytes", SitePath::LENGTH_MAX)]
    TooLong,
    #[error("begins with a slash; paths are relative to the site")]
    Absolute,
    #[error("contains a backslash; separate folders with /")]
    Backslash,
    #[error("contains an empty, . or .. part")]
    Part,
    #[error("contains a control character")]
    Control,
    #[error("contains an invisible character or one that changes the text direction")]
    Hidden,
}

/// Bidirectional controls, zero-width characters and line separators, which are invisible in a name.
fn is_hidden(letter: char) -> bool {
    matches!(
        letter,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}'
    )
}

impl FromStr for SitePath {
    type Err = MalformedPath;

    fn from_str(text: &str) -> Result<Self, MalformedPath> {
        if text.is_empty() {
            return Err(MalformedPath::Empty);
        }
        if text.len() > Self::LENGTH_MAX {
            return Err(MalformedPath::TooLong);
        }
        if text.starts_with('/') {
            return Err(MalformedPath::Absolute);
        }
        if text.contains('\\') {
            return Err(MalformedPath::Backslash);
        }
        if text.chars().any(char::is_control) {
            return Err(MalformedPath::Control);
        }
        if text.split('/').any(|part| matches!(part.trim(), "" | "." | "..")) {
            return Err(MalformedPath::Part);
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for SitePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<SitePath> for String {
    fn from(path: SitePath) -> String {
        path.0
    }
}

impl TryFrom<String> for SitePath {
    type Error = MalformedPath;

    fn try_from(text: String) -> Result<Self, MalformedPath> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_inside_its_site() {
        for good in
            ["index.html", "css/app.css", "a/b/c.d", "ünïcode.html", "with space.html", "..a", ".hidden"]
        {
            assert!(good.parse::<SitePath>().is_ok(), "{good}");
        }
        for bad in
            ["", "/etc/passwd", "../x", "a/../b", "a//b", "a/", "./a", "a\\b", "a/\u{0}", "a/ ../b", ".. /a"]
        {
            assert!(bad.parse::<SitePath>().is_err(), "{bad:?}");
        }
        assert_eq!("a".repeat(513).parse::<SitePath>(), Err(MalformedPath::TooLong));
    }

    #[test]
    fn new_paths_must_not_have_invisible_characters() {
        for hidden in ['\u{202e}', '\u{200b}', '\u{200d}', '\u{2028}', '\u{2066}', '\u{feff}', '\u{ad}'] {
            let path = format!("a{hidden}.html");
            assert_eq!(SitePath::of_upload(&path), Err(MalformedPath::Hidden), "{hidden:?}");
            assert!(path.parse::<SitePath>().is_ok(), "a stored path is still read");
        }
        for control in ['\u{0}', '\n', '\u{7f}', '\u{85}'] {
            assert_eq!(
                SitePath::of_upload(&format!("a{control}")),
                Err(MalformedPath::Control),
                "{control:?}"
            );
        }
        assert!(SitePath::of_upload("b\u{fc}cher/\u{4f60}\u{597d}.html").is_ok());
    }

    #[test]
    fn in_a_url_a_path_keeps_its_slashes_and_nothing_ends_it() {
        let path: SitePath = "a b/c?d#e%f/\u{fc}.html".parse().unwrap();
        assert_eq!(path.in_url(), "a%20b/c%3Fd%23e%25f/%C3%BC.html");
    }

    #[test]
    fn the_folders_of_a_path_are_listed_from_the_outermost() {
        let path: SitePath = "a/b/c.txt".parse().unwrap();
        assert_eq!(path.folders().collect::<Vec<_>>(), ["a", "a/b"]);
    }
}
