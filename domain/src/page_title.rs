//! The title of a page, as its HTML states it: one short line for lists.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::invisible::is_invisible;

/// A title without line breaks, control characters and characters that change the direction of other text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub struct PageTitle(String);

impl PageTitle {
    pub const LENGTH_MAX: usize = 120;
    const ELLIPSIS: char = '…';

    /// The title in a text, with whitespace collapsed and a long end cut off. `None` if nothing remains.
    pub fn from_text(text: &str) -> Option<Self> {
        let title = Self::from(text.to_owned());
        (!title.0.is_empty()).then_some(title)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<String> for PageTitle {
    fn from(text: String) -> Self {
        // Whitespace first: a line break is a control character too.
        let words = text
            .split_whitespace()
            .map(|word| word.chars().filter(|letter| !is_invisible(*letter)).collect());
        let words: Vec<String> = words.filter(|word: &String| !word.is_empty()).collect();
        let line = words.join(" ");
        if line.chars().count() <= Self::LENGTH_MAX {
            return Self(line);
        }
        let kept: String = line.chars().take(Self::LENGTH_MAX - 1).collect();
        Self(format!("{}{}", kept.trim_end(), Self::ELLIPSIS))
    }
}

impl From<PageTitle> for String {
    fn from(title: PageTitle) -> String {
        title.0
    }
}

impl fmt::Display for PageTitle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn title_is_one_short_line_without_control_characters() {
        let title = |text: &str| PageTitle::from_text(text).map(String::from);
        assert_eq!(title("  Plan \n\t for\u{a0}May "), Some("Plan for May".to_owned()));
        assert_eq!(title("a\u{1b}[0m\u{202e}b \u{0} c"), Some("a[0mb c".to_owned()));
        for empty in ["", " \n", "\u{202e}", "\u{0} \u{7f}"] {
            assert_eq!(title(empty), None, "{empty:?}");
        }
        let longest = "ü".repeat(PageTitle::LENGTH_MAX);
        assert_eq!(title(&longest), Some(longest.clone()));
        let cut = title(&format!("{longest}x")).unwrap();
        assert_eq!((cut.chars().count(), cut.ends_with("ü…")), (PageTitle::LENGTH_MAX, true));
        assert_eq!(title(&cut), Some(cut.clone()));
    }
}
