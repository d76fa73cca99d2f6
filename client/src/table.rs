//! Tables for people. On a terminal a table fits its width: it shortens its longest text and leaves out
//! columns, so that no line wraps. Elsewhere, such as in a pipe, it is complete.

use std::io::{self, IsTerminal};

use comfy_table::{ColumnConstraint, Row, Table, Width, presets};
use rustix::termios::tcgetwinsize;

const BOLD: &str = "\x1b[1m";
const PLAIN: &str = "\x1b[0m";
/// The spaces between two columns.
const GAP: u16 = 2;
/// A shortened text has at least this width, otherwise another column is left out first.
const SHORTENED_MIN: u16 = 16;
/// The last column that is left can be as narrow as this.
const COLUMN_MIN: u16 = 8;

/// What a table gives up if the terminal is too narrow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fit<'a> {
    /// The column whose cells can be shortened.
    pub shortened: Option<&'a str>,
    /// The columns to leave out, the least important one first.
    pub left_out: &'a [&'a str],
}

/// Columns with headings, or a text if there are no rows.
pub fn table<const N: usize>(
    names: [&str; N],
    fit: Fit<'_>,
    rows: impl IntoIterator<Item = [String; N]>,
    empty: &str,
) -> String {
    table_of_width(names, fit, rows, empty, terminal_width())
}

fn table_of_width<const N: usize>(
    names: [&str; N],
    fit: Fit<'_>,
    rows: impl IntoIterator<Item = [String; N]>,
    empty: &str,
    width: Option<u16>,
) -> String {
    let rows: Vec<_> = rows.into_iter().map(|row| row.map(|cell| harmless(&cell))).collect();
    if rows.is_empty() {
        return empty.to_owned();
    }
    let mut complete = plain();
    complete.set_header(names).add_rows(&rows);
    let Some(width) = width else { return headed(&trimmed(&complete)) };
    let columns = Columns::fitted(&names, fit, &complete.column_max_content_widths(), width);
    let left_out: Vec<_> = (0..N).filter(|column| !columns.shown.contains(column)).collect();
    let mut table = plain();
    table.set_truncation_indicator("…");
    table.set_header(columns.shown.iter().map(|column| names[*column]));
    for row in &rows {
        let mut row = Row::from(columns.shown.iter().map(|column| &row[*column]));
        row.max_height(1);
        table.add_row(row);
    }
    if let Some((column, narrowed)) = columns.narrowed
        && let Some(column) = columns.shown.iter().position(|shown| *shown == column)
        && let Some(column) = table.column_mut(column)
    {
        column.set_constraint(ColumnConstraint::Absolute(Width::Fixed(narrowed + GAP)));
    }
    let text = headed(&trimmed(&table));
    if left_out.is_empty() {
        return text;
    }
    let left_out: Vec<_> = left_out.into_iter().map(|column| names[column]).collect();
    format!("{text}\n{}", broken(&format!("Not shown: {}", left_out.join(", ")), Some(width)))
}

/// A sentence that is broken between words on a terminal. Elsewhere it is one line.
pub fn paragraph(text: &str) -> String {
    broken(text, terminal_width())
}

fn broken(text: &str, width: Option<u16>) -> String {
    let width = width.map_or(usize::MAX, usize::from);
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            None => lines.push(word.to_owned()),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) => lines.push(format!("  {word}")),
        }
    }
    lines.join("\n")
}

/// The columns that a terminal has room for.
#[derive(Debug, PartialEq, Eq)]
struct Columns {
    shown: Vec<usize>,
    /// A column that is narrower than its content, and its width.
    narrowed: Option<(usize, u16)>,
}

impl Columns {
    fn fitted(names: &[&str], fit: Fit<'_>, widths: &[u16], width: u16) -> Self {
        let position = |name: &str| names.iter().position(|other| *other == name);
        let mut shown: Vec<usize> = (0..names.len()).collect();
        let mut left_out = fit.left_out.iter().filter_map(|name| position(name));
        let shortened = fit.shortened.and_then(position);
        let total = |shown: &[usize]| {
            let gaps = GAP * u16::try_from(shown.len().saturating_sub(1)).unwrap_or(u16::MAX);
            shown.iter().fold(gaps, |sum, column| sum.saturating_add(widths[*column]))
        };
        let fitting = |shown: Vec<usize>| {
            let excess = total(&shown).saturating_sub(width);
            if excess == 0 {
                return Some(Self { shown, narrowed: None });
            }
            let column = shortened.filter(|column| shown.contains(column))?;
            let narrower = widths[column].saturating_sub(excess);
            (narrower >= SHORTENED_MIN).then_some(Self { narrowed: Some((column, narrower)), shown })
        };
        let mut without = Vec::new();
        let mut fitted = loop {
            if let Some(columns) = fitting(shown.clone()) {
                break columns;
            }
            let Some(column) = left_out.next() else {
                let excess = total(&shown).saturating_sub(width);
                let widest = shown.iter().copied().max_by_key(|column| widths[*column]);
                let narrowed =
                    widest.map(|column| (column, widths[column].saturating_sub(excess).max(COLUMN_MIN)));
                return Self { shown, narrowed };
            };
            shown.retain(|other| *other != column);
            without.push(column);
        };
        // The last one may have been so wide that others fit in its place.
        for column in without.into_iter().rev() {
            let mut more = fitted.shown.clone();
            more.push(column);
            more.sort_unstable();
            fitted = fitting(more).unwrap_or(fitted);
        }
        fitted
    }
}

/// The width of the terminal at standard output. `None` if there is no terminal or its width is unknown.
fn terminal_width() -> Option<u16> {
    let output = io::stdout();
    if !output.is_terminal() {
        return None;
    }
    tcgetwinsize(output).ok().map(|size| size.ws_col).filter(|columns| *columns > 0)
}

/// Removes control characters, which a terminal would interpret.
pub fn harmless(text: &str) -> String {
    text.chars().filter(|character| !character.is_control()).collect()
}

pub(crate) fn plain() -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table
}

/// Without the margins of the table's cells.
pub(crate) fn trimmed(table: &Table) -> String {
    let lines = table.lines().map(|line| line.strip_prefix(' ').unwrap_or(&line).trim_end().to_owned());
    lines.collect::<Vec<_>>().join("\n")
}

/// With the first line in bold.
fn headed(text: &str) -> String {
    let (head, body) = text.split_once('\n').unwrap_or((text, ""));
    format!("{BOLD}{head}{PLAIN}\n{body}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["SLUG", "TITLE", "SCOPES", "URL"];
    const FIT: Fit<'static> = Fit { shortened: Some("TITLE"), left_out: &["SCOPES", "TITLE"] };

    fn rows() -> [[String; 4]; 2] {
        [
            ["page", "A title of several words that is long", "read, write", "http://a.example/page/"],
            ["other-page", "日本語のとても長い題名です", "-", "http://a.example/other-page/"],
        ]
        .map(|row| row.map(str::to_owned))
    }

    fn lines(width: Option<u16>) -> Vec<String> {
        let text = table_of_width(NAMES, FIT, rows(), "nothing", width);
        text.replace(BOLD, "").replace(PLAIN, "").lines().map(str::to_owned).collect()
    }

    /// The width on a terminal, where Japanese characters take two columns.
    fn width_of(line: &str) -> usize {
        line.chars().map(|character| if character as u32 >= 0x3000 { 2 } else { 1 }).sum()
    }

    #[test]
    fn columns_are_aligned_for_any_content() {
        let rows = [["ünï".to_owned(), "1".to_owned()], ["longer name".to_owned(), "20".to_owned()]];
        let text = table_of_width(["SLUG", "N"], Fit::default(), rows, "nothing", None);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1..], ["ünï          1", "longer name  20"]);
        assert!(lines[0].contains("SLUG         N"), "{text}");
        assert_eq!(table(["SLUG"], Fit::default(), [], "nothing yet"), "nothing yet");
    }

    #[test]
    fn table_without_a_terminal_is_complete() {
        let complete = lines(None);
        assert_eq!(complete, lines(Some(200)));
        assert_eq!(complete.len(), 3);
        assert!(complete[1].contains("several words that is long") && complete[1].contains("read, write"));
    }

    #[test]
    fn table_fits_every_terminal_without_wrapping_a_row() {
        for width in 22..100 {
            let lines = lines(Some(width));
            let is_complete = width >= 10 + 37 + 11 + 28 + 6;
            let left_out = lines.iter().position(|line| line.starts_with("Not shown: "));
            assert_eq!(left_out, (width < 71).then_some(3), "{width}: {lines:#?}");
            for line in &lines {
                assert!(width_of(line) <= usize::from(width), "{width}: {lines:#?}");
            }
            assert_eq!(lines[1].contains("that is long"), is_complete, "{width}: {lines:#?}");
        }
    }

    #[test]
    fn paragraph_is_broken_between_words() {
        let text = "- One process with SQLite and files.";
        assert_eq!(broken(text, Some(16)), "- One process\n  with SQLite\n  and files.");
        assert_eq!(broken(text, None), text);
        assert_eq!(broken("unbreakable", Some(4)), "unbreakable");
    }

    #[test]
    fn narrow_terminal_loses_the_least_important_columns_first() {
        let at = |width| lines(Some(width));
        assert!(at(80)[1].starts_with("page        A title of") && at(80)[1].contains('…'), "{:#?}", at(80));
        assert!(!at(80)[1].contains("several wo…"), "words are whole: {:#?}", at(80));
        assert_eq!(at(60)[3], "Not shown: SCOPES");
        assert_eq!(at(55)[3], "Not shown: TITLE", "a column that fits in its place is shown");
        assert_eq!(at(45)[3], "Not shown: TITLE, SCOPES");
        assert_eq!(at(45)[2], "other-page  http://a.example/other-page/");
    }
}
