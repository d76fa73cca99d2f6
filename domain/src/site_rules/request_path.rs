//! Paths in one spelling, so that patterns can be compared with them as text.

use percent_encoding::percent_decode_str;

/// The path of a request, relative to the site's root, in the spelling that patterns use: letters, digits and
/// the other characters that a path may contain stand for themselves, and all others are percent-encoded. An
/// encoded separator stays encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestPath(String);

impl RequestPath {
    /// The path starts with a slash. Only the root without its slash is empty.
    pub fn new(path: &str) -> Self {
        Self(respelled(path))
    }

    /// The path by which files are found: encoded separators are decoded too.
    pub(super) fn decoded(&self) -> Self {
        let mut decoded = String::with_capacity(self.0.len());
        for byte in percent_decode_str(&self.0) {
            if stands_for_itself(byte) {
                decoded.push(char::from(byte));
            } else {
                push_encoded(&mut decoded, byte);
            }
        }
        Self(decoded)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The text in the common spelling. It is ASCII.
pub(super) fn respelled(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut respelled = String::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let encoded = decoded_at(bytes, at);
        at += if encoded.is_some() { 3 } else { 1 };
        match encoded {
            Some(decoded) if is_unreserved(decoded) => respelled.push(char::from(decoded)),
            Some(decoded) => push_encoded(&mut respelled, decoded),
            None if stands_for_itself(byte) => respelled.push(char::from(byte)),
            None => push_encoded(&mut respelled, byte),
        }
    }
    respelled
}

/// A captured part of a path as a value within a query or a header, where separators have another meaning.
pub(super) fn push_value(filled: &mut String, value: &str) {
    for byte in value.bytes() {
        // The value is in the common spelling: a percent sign already encodes something.
        if is_unreserved(byte) || matches!(byte, b'/' | b'%') {
            filled.push(char::from(byte));
        } else {
            push_encoded(filled, byte);
        }
    }
}

/// Whether browsers would resolve a segment of the path against its folder.
pub(super) fn has_dot_segment(path: &str) -> bool {
    path.split('/').any(|segment| matches!(segment, "." | ".."))
}

/// The byte that a percent encoding at this position stands for.
fn decoded_at(bytes: &[u8], at: usize) -> Option<u8> {
    let [b'%', high, low] = *bytes.get(at..at + 3)? else { return None };
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

fn push_encoded(text: &mut String, byte: u8) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    let digit = |number: u8| char::from(DIGITS[usize::from(number)]);
    text.extend(['%', digit(byte >> 4), digit(byte & 15)]);
}

/// Characters whose percent encoding means the same (RFC 3986, 2.3).
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

fn stands_for_itself(byte: u8) -> bool {
    is_unreserved(byte) || b"/:@!$&'()*+,;=".contains(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spellings_of_one_path_become_the_same() {
        for (path, expected) in [
            ("", ""),
            ("/a/b.html", "/a/b.html"),
            ("/%61%2E", "/a."),
            ("/ünï", "/%C3%BCn%C3%AF"),
            ("/%c3%bcn%C3%AF", "/%C3%BCn%C3%AF"),
            ("/a b%20c", "/a%20b%20c"),
            ("/%2f%3a%2A%5c\\", "/%2F%3A%2A%5C%5C"),
            ("/100%", "/100%25"),
            ("/%zz%4", "/%25zz%254"),
            ("/%00\u{7f}\"<>^`{|}[]", "/%00%7F%22%3C%3E%5E%60%7B%7C%7D%5B%5D"),
            ("/%2e%2E/x", "/../x"),
        ] {
            assert_eq!(respelled(path), expected, "{path:?}");
            assert_eq!(respelled(expected), expected, "{path:?} is respelled once");
        }
    }

    #[test]
    fn a_value_contains_no_separators() {
        let mut filled = String::new();
        push_value(&mut filled, "a/b&c=d+e;f,g:h%20i~");
        assert_eq!(filled, "a/b%26c%3Dd%2Be%3Bf%2Cg%3Ah%20i~");
    }
}
