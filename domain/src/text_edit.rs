//! Edits of text: each replaces an old text that occurs exactly once.

use std::collections::HashMap;

use crate::{EditMismatch, NearestLine};

/// Lines that a mismatch shows.
const NEAREST_MAX: usize = 3;
const SHOWN_LENGTH_MAX: usize = 200;
/// Lines of a file that are compared with an old text that does not occur. The work is bounded.
const LINES_COMPARED_MAX: usize = 20_000;

/// A replacement in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// The path of the file.
    pub path: String,
    /// Not empty.
    pub old: String,
    pub new: String,
}

impl TextEdit {
    /// The text after this edit. `number` is the position of the edit in its request.
    pub fn apply(&self, number: usize, text: &str) -> Result<String, EditMismatch> {
        let mut hits = text.match_indices(&*self.old).map(|(at, _)| at);
        let Some(first) = hits.next() else { return Err(self.mismatch(number, 0, nearest(text, &self.old))) };
        let further: Vec<usize> =
            hits.clone().take(NEAREST_MAX - 1).chain(self.overlapping(text, first)).collect();
        if further.is_empty() {
            let (before, after) = (&text[..first], &text[first + self.old.len()..]);
            return Ok([before, &self.new, after].concat());
        }
        let count = 1 + hits.count().max(1);
        let lines = std::iter::once(first).chain(further).take(NEAREST_MAX).map(|at| line_at(text, at));
        Err(self.mismatch(number, count, lines.collect()))
    }

    /// A hit that begins within the first one, which the search for hits skips.
    fn overlapping(&self, text: &str, first: usize) -> Option<usize> {
        let begin = first + self.old.chars().next()?.len_utf8();
        let end = text.floor_char_boundary(first + 2 * self.old.len() - 1);
        text.get(begin..end)?.find(&*self.old).map(|at| begin + at)
    }

    fn mismatch(&self, edit: usize, hits: usize, nearest: Vec<NearestLine>) -> EditMismatch {
        EditMismatch { edit, path: self.path.clone(), hits, nearest }
    }
}

/// The line that has this position.
fn line_at(text: &str, at: usize) -> NearestLine {
    let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[begin..].lines().next().unwrap_or_default();
    NearestLine { line: text[..at].matches('\n').count() + 1, text: shown(line) }
}

/// The lines that are most similar to the longest line of a text.
fn nearest(text: &str, sought: &str) -> Vec<NearestLine> {
    let Some(sought) = sought.lines().map(str::trim).max_by_key(|line| line.len()) else { return vec![] };
    let sought = Bigrams::of(sought);
    let compared = text.lines().enumerate().take(LINES_COMPARED_MAX);
    let mut similar: Vec<(usize, usize, &str)> =
        compared.map(|(number, line)| (sought.per_mille_in(line), number, line)).collect();
    similar.retain(|(per_mille, ..)| *per_mille > 0);
    similar.sort_by_key(|(per_mille, number, _)| (std::cmp::Reverse(*per_mille), *number));
    similar.truncate(NEAREST_MAX);
    similar.into_iter().map(|(_, number, line)| NearestLine { line: number + 1, text: shown(line) }).collect()
}

fn shown(line: &str) -> String {
    line.chars().take(SHOWN_LENGTH_MAX).collect()
}

/// The pairs of adjacent characters of a line, and how often each occurs. Two lines are as similar as the
/// number of pairs that they share.
struct Bigrams {
    counts: HashMap<(char, char), usize>,
    total: usize,
}

impl Bigrams {
    fn of(line: &str) -> Self {
        let mut counts = HashMap::new();
        pairs(line).for_each(|pair| *counts.entry(pair).or_default() += 1);
        Self { total: counts.values().sum(), counts }
    }

    /// The similarity with a line. 1,000 if they have the same pairs.
    fn per_mille_in(&self, line: &str) -> usize {
        let (mut left, mut shared, mut total) = (HashMap::new(), 0, 0);
        for pair in pairs(line) {
            total += 1;
            let Some(count) = self.counts.get(&pair) else { continue };
            let left = left.entry(pair).or_insert(*count);
            if *left > 0 {
                *left -= 1;
                shared += 1;
            }
        }
        2_000 * shared / (self.total + total).max(1)
    }
}

fn pairs(line: &str) -> impl Iterator<Item = (char, char)> {
    let line = line.trim();
    line.chars().zip(line.chars().skip(1)).take(SHOWN_LENGTH_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apply(text: &str, old: &str, new: &str) -> Result<String, EditMismatch> {
        TextEdit { path: "a.html".into(), old: old.into(), new: new.into() }.apply(2, text)
    }

    fn lines(mismatch: &EditMismatch) -> Vec<(usize, &str)> {
        mismatch.nearest.iter().map(|near| (near.line, near.text.as_str())).collect()
    }

    #[test]
    fn the_only_hit_is_replaced() {
        for (text, old, new, edited) in [
            ("one two three", "two", "2", "one 2 three"),
            ("one", "one", "", ""),
            ("a\r\nb\n", "a\r\nb", "c", "c\n"),
            ("größe", "öß", "o", "groe"),
            ("ää", "ää", "b", "b"),
        ] {
            assert_eq!(apply(text, old, new).as_deref(), Ok(edited), "{text} {old}");
        }
    }

    #[test]
    fn several_hits_are_counted_and_their_lines_are_shown() {
        let text = "<p>\n  a<br>\n  b<br>\n  c<br>\n  d<br>\n";
        let refused = apply(text, "<br>", "").unwrap_err();
        assert_eq!((refused.edit, refused.hits, refused.path.as_str()), (2, 4, "a.html"));
        assert_eq!(lines(&refused), [(2, "  a<br>"), (3, "  b<br>"), (4, "  c<br>")]);
        let twice_in_a_line = apply("a-a", "a", "").unwrap_err();
        assert_eq!((twice_in_a_line.hits, lines(&twice_in_a_line)), (2, vec![(1, "a-a"), (1, "a-a")]));
        for (text, old) in [("aaa", "aa"), ("äää", "ää"), ("x abab ab", "abab ab")] {
            let hits = apply(text, old, "").map_err(|refused| refused.hits);
            assert_eq!(hits.err(), (old.len() < 6).then_some(2), "{text}");
        }
    }

    #[test]
    fn without_a_hit_the_most_similar_lines_are_shown() {
        let text = "<html>\n  <h1>Hello</h1>\n  <h2>Hello you</h2>\n  <p>Other</p>\n</html>\n";
        let refused = apply(text, "<h1>Helo</h1>\n", "").unwrap_err();
        assert_eq!(refused.hits, 0);
        assert_eq!(lines(&refused)[0], (2, "  <h1>Hello</h1>"));
        assert_eq!(refused.nearest.len(), 3);
        assert_eq!(lines(&apply("", "x", "").unwrap_err()), []);
        assert_eq!(lines(&apply("abc\n\n", " \n\t\n ", "").unwrap_err()), []);
        let long = "ä".repeat(1_000);
        let refused = apply(&long, &"ä".repeat(1_001), "").unwrap_err();
        assert_eq!(refused.nearest[0].text.chars().count(), SHOWN_LENGTH_MAX);
    }
}
