//! Encodings by which scripts disguise text (escapes in literals, base64, percent-encoding), and the escaping
//! of text for markup. Nothing here fails: invalid input is returned unchanged.

use base64::Engine;

use crate::document::FORGIVING_BASE64;

/// The maximum length of one encoded character.
const CHARS_MAX: usize = 16;

/// Decodes the inside of a literal.
pub(crate) fn unescape(raw: &str, out: &mut String) {
    let mut rest = raw;
    while let Some(at) = rest.find('\\') {
        out.push_str(rest.get(..at).unwrap_or(""));
        rest = escape_sequence(rest.get(at + 1..).unwrap_or(""), out);
    }
    out.push_str(rest);
}

/// Decodes the sequence after a backslash and returns the rest.
fn escape_sequence<'s>(rest: &'s str, out: &mut String) -> &'s str {
    let Some(sign) = rest.chars().next() else { return rest };
    let after = rest.get(sign.len_utf8()..).unwrap_or("");
    match sign {
        'n' => out.push('\n'),
        't' => out.push('\t'),
        'r' => out.push('\r'),
        'b' | 'v' | 'f' => out.push(' '),
        '\n' | '\u{2028}' | '\u{2029}' => {}
        '\r' => return after.strip_prefix('\n').unwrap_or(after),
        'x' => return code(after, 2, out).unwrap_or(after),
        'u' => return unicode(after, out),
        '0'..='7' => return octal(rest, out),
        other => out.push(other),
    }
    after
}

fn code<'s>(rest: &'s str, digits: usize, out: &mut String) -> Option<&'s str> {
    let (value, after) = hex(rest, digits)?;
    out.push(char::from_u32(value).unwrap_or('\u{fffd}'));
    Some(after)
}

fn hex(rest: &str, digits: usize) -> Option<(u32, &str)> {
    let text = rest.get(..digits).filter(|text| text.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
    Some((u32::from_str_radix(text, 16).ok()?, rest.get(digits..)?))
}

fn unicode<'s>(rest: &'s str, out: &mut String) -> &'s str {
    if let Some((digits, after)) = rest.strip_prefix('{').and_then(|inside| {
        inside
            .get(..inside.len().min(10))?
            .find('}')
            .and_then(|end| Some((inside.get(..end)?, inside.get(end + 1..)?)))
    }) {
        out.push(u32::from_str_radix(digits, 16).ok().and_then(char::from_u32).unwrap_or('\u{fffd}'));
        return after;
    }
    let Some((high, after)) = hex(rest, 4) else { return rest };
    let low = after.strip_prefix("\\u").and_then(|after| hex(after, 4));
    if let (0xd800..=0xdbff, Some((low @ 0xdc00..=0xdfff, after))) = (high, low) {
        out.extend(char::from_u32(0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00)));
        return after;
    }
    out.push(char::from_u32(high).unwrap_or('\u{fffd}'));
    after
}

fn octal<'s>(rest: &'s str, out: &mut String) -> &'s str {
    let digits = rest.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
    let digits = if rest.as_bytes().first() > Some(&b'3') { digits.min(2) } else { digits };
    let value = rest.get(..digits).and_then(|text| u32::from_str_radix(text, 8).ok());
    out.extend(value.and_then(char::from_u32));
    rest.get(digits..).unwrap_or("")
}

/// Decodes as `atob` does. Pages with non-Latin text decode UTF-8 in a second step, which this does at once.
pub(crate) fn from_base64(text: &str) -> Option<String> {
    let compact: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = FORGIVING_BASE64.decode(compact).ok()?;
    Some(String::from_utf8(bytes).unwrap_or_else(|error| latin1(error.as_bytes())))
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

/// Decodes as `unescape` and `decodeURIComponent` do: `%3C`, and also `%u003C`.
pub(crate) fn from_percent(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('%') {
        let (before, after) = (rest.get(..at).unwrap_or(""), rest.get(at + 1..).unwrap_or(""));
        bytes.extend_from_slice(before.as_bytes());
        rest = after;
        let wide = after.strip_prefix(['u', 'U']).and_then(|digits| hex(digits, 4));
        if let Some((value, left)) = wide {
            let letter = char::from_u32(value).unwrap_or('\u{fffd}');
            bytes.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
            rest = left;
        } else if let Some((value, left)) = hex(after, 2) {
            bytes.push(value as u8);
            rest = left;
        } else {
            bytes.push(b'%');
        }
    }
    bytes.extend_from_slice(rest.as_bytes());
    String::from_utf8(bytes).unwrap_or_else(|error| latin1(error.as_bytes()))
}

/// The text that a regular expression matches, and its flags. `None` if it can match anything else.
pub(crate) fn plain_pattern(literal: &str) -> Option<(String, &str)> {
    let (pattern, flags) = literal.strip_prefix('/')?.rsplit_once('/')?;
    let mut rest = pattern;
    while let Some(at) = rest.find(|sign: char| "\\^$.|?*+()[]{}".contains(sign)) {
        let escaped = rest.get(at..)?.strip_prefix('\\')?.chars().next()?;
        if escaped.is_ascii_alphanumeric() && !matches!(escaped, 'n' | 't' | 'r' | 'x' | 'u') {
            return None;
        }
        rest = rest.get(at + 1 + escaped.len_utf8()..)?;
    }
    let mut text = String::new();
    unescape(pattern, &mut text);
    (!text.is_empty()).then_some((text, flags))
}

/// The number of characters that a regular expression matches each time, if it matches any characters:
/// `/./g`, `/[0-9a-f]{2}/gi`, `/\w\w/g`.
pub(crate) fn any_chars_pattern(literal: &str) -> Option<usize> {
    let (mut rest, flags) = literal.strip_prefix('/')?.rsplit_once('/')?;
    let mut letters = 0_usize;
    while !rest.is_empty() {
        rest = after_one_letter(rest)?;
        let mut times = 1;
        if let Some((count, behind)) = rest.strip_prefix('{').and_then(|count| count.split_once('}')) {
            times = count.rsplit(',').next()?.parse().ok()?;
            rest = behind;
        }
        letters = letters.saturating_add(times);
    }
    ((1..=CHARS_MAX).contains(&letters) && flags.contains('g')).then_some(letters)
}

/// The rest of a pattern after a part that matches one character.
fn after_one_letter(pattern: &str) -> Option<&str> {
    if let Some(class) = pattern.strip_prefix('[') {
        let is_all = class.starts_with("^]");
        let (within, rest) = if is_all { class.split_at(1) } else { class.split_at(class.find(']')?) };
        return (is_all || !within.starts_with('^')).then(|| rest.get(1..)).flatten();
    }
    ["\\w", "\\S", "."].into_iter().find_map(|sign| pattern.strip_prefix(sign))
}

/// Whether a text contains something that browsers parse as a tag.
pub(crate) fn has_tag(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.iter().zip(bytes.iter().skip(1)).any(|(&one, two)| one == b'<' && two.is_ascii_alphabetic())
}

/// Escapes a text for markup.
pub(crate) fn escape(text: &str, out: &mut String) {
    for sign in text.chars() {
        match sign {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
}

/// Parses a number literal.
pub(crate) fn number(text: &str) -> Option<f64> {
    let text: String = text.chars().filter(|&sign| sign != '_').collect();
    let text = text.strip_suffix('n').unwrap_or(&text);
    let radix = match text.get(..2).unwrap_or("") {
        "0x" | "0X" => 16,
        "0b" | "0B" => 2,
        "0o" | "0O" => 8,
        _ => return text.parse().ok(),
    };
    u64::from_str_radix(text.get(2..)?, radix).ok().map(|value| value as f64)
}
