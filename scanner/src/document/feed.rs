//! Feeds a text to a tokenizer one tag at a time, so that each oversized tag can be trimmed first. To find
//! the tags, it tracks comments, raw text and CDATA, which contain none.

use html5ever::LocalName;
use html5ever::tendril::StrTendril;
use memchr::memmem;

use super::tags;

/// The state of the tokenizer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InsertionPoint {
    Html,
    /// Inside `svg` or `math`, where CDATA sections are recognized.
    Foreign,
    Xml,
    /// In an element that contains only text, up to its end tag.
    Raw(LocalName),
    /// After `<plaintext>`, where nothing is a tag.
    Plain,
}

/// Pushes the whole text in pieces and calls `insertion_point` after each of them.
pub(super) fn feed(
    text: &str,
    insertion_point: impl Fn() -> InsertionPoint,
    mut push: impl FnMut(StrTendril),
) {
    let whole = StrTendril::from(text);
    let slice = |from: usize, to: usize| -> StrTendril {
        let (from, length) = (u32::try_from(from), u32::try_from(to.saturating_sub(from)));
        let (Ok(from), Ok(length)) = (from, length) else { return StrTendril::new() };
        whole.try_subtendril(from, length).unwrap_or_default()
    };
    let mut at = 0;
    while at < text.len() {
        let opens_at = match insertion_point() {
            InsertionPoint::Plain => None,
            InsertionPoint::Raw(name) => end_of_raw(text, at, &name),
            insertion_point @ (InsertionPoint::Html | InsertionPoint::Foreign | InsertionPoint::Xml) => {
                match next_markup(text, at, &insertion_point) {
                    Some(Markup::Tag(start)) => Some(start),
                    Some(Markup::Other { end }) => {
                        push(slice(at, end));
                        at = end;
                        continue;
                    }
                    None => None,
                }
            }
        };
        let Some(start) = opens_at else { return push(slice(at, text.len())) };
        let tag = tags::read(text, start);
        match tag.cut_down {
            None => push(slice(at, tag.end)),
            Some(cut_down) => {
                push(slice(at, start));
                push(StrTendril::from(cut_down));
            }
        }
        at = tag.end;
    }
}

enum Markup {
    /// The start of a tag.
    Tag(usize),
    Other {
        end: usize,
    },
}

fn next_markup(text: &str, from: usize, insertion_point: &InsertionPoint) -> Option<Markup> {
    let start = find(text, from, "<")?;
    let rest = text.get(start + 1..).unwrap_or_default();
    let name = rest.strip_prefix('/').unwrap_or(rest);
    if name.starts_with(|first: char| begins_name(first, insertion_point)) {
        return Some(Markup::Tag(start));
    }
    let end = if rest.starts_with("!--") {
        end_of_comment(text, start)
    } else if rest.starts_with("![CDATA[") && *insertion_point != InsertionPoint::Html {
        past(text, start, "]]>")
    } else if rest.starts_with(['!', '?', '/']) {
        past(text, start, ">")
    } else {
        start + 1
    };
    Some(Markup::Other { end })
}

fn begins_name(first: char, insertion_point: &InsertionPoint) -> bool {
    first.is_ascii_alphabetic()
        || (*insertion_point == InsertionPoint::Xml && (first == '_' || !first.is_ascii()))
}

/// Comments end at `-->` or `--!>`. In `<!-->` the opening dashes also close it.
pub(super) fn end_of_comment(text: &str, start: usize) -> usize {
    let rest = text.get(start + "<!--".len()..).unwrap_or_default();
    if rest.starts_with('>') || rest.starts_with("->") {
        return past(text, start, ">");
    }
    let mut at = start + "<!--".len();
    while let Some(dashes) = find(text, at, "--") {
        let rest = text.get(dashes + 2..).unwrap_or_default();
        if rest.starts_with('>') || rest.starts_with("!>") {
            return past(text, dashes, ">");
        }
        at = dashes + 1;
    }
    text.len()
}

/// The start of the end tag of a raw text element.
fn end_of_raw(text: &str, from: usize, name: &str) -> Option<usize> {
    if name == "script" {
        return end_of_script(text, from);
    }
    let mut at = from;
    while let Some(start) = find(text, at, "</") {
        if is_tag_of(text, start + 2, name) {
            return Some(start);
        }
        at = start + 2;
    }
    None
}

/// In a script, `<script>…</script>` inside of a comment is text, as the HTML standard defines it.
fn end_of_script(text: &str, from: usize) -> Option<usize> {
    #[derive(PartialEq)]
    enum Escape {
        None,
        Once,
        Twice,
    }
    let bytes = text.as_bytes();
    let mut escape = Escape::None;
    for (at, byte) in bytes.iter().enumerate().skip(from) {
        let rest = bytes.get(at..).unwrap_or_default();
        match byte {
            b'-' if rest.starts_with(b"-->") => escape = Escape::None,
            b'<' if rest.starts_with(b"<!--") && escape == Escape::None => escape = Escape::Once,
            b'<' if rest.starts_with(b"</") && is_tag_of(text, at + 2, "script") => {
                if escape != Escape::Twice {
                    return Some(at);
                }
                escape = Escape::Once;
            }
            b'<' if escape == Escape::Once && is_tag_of(text, at + 1, "script") => escape = Escape::Twice,
            _ => {}
        }
    }
    None
}

fn is_tag_of(text: &str, at: usize, name: &str) -> bool {
    let bytes = text.as_bytes();
    let end = at + name.len();
    let is_named = bytes.get(at..end).is_some_and(|found| found.eq_ignore_ascii_case(name.as_bytes()));
    is_named && bytes.get(end).is_some_and(|next| tags::is_space(*next) || matches!(next, b'/' | b'>'))
}

fn find(text: &str, from: usize, what: &str) -> Option<usize> {
    let rest = text.get(from..)?.as_bytes();
    memmem::find(rest, what.as_bytes()).map(|offset| from + offset)
}

fn past(text: &str, from: usize, what: &str) -> usize {
    find(text, from, what).map_or(text.len(), |at| at + what.len())
}
