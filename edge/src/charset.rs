//! Detects the character encoding of a page. Pages are served as UTF-8, but a byte order mark takes
//! precedence: browsers read a page that starts with a UTF-16 mark as UTF-16, so the rewriter must too.

use std::borrow::Cow;

use encoding_rs::{Decoder, Encoding, UTF_8};

/// Decodes a page to UTF-8, chunk by chunk.
#[derive(Default)]
pub enum PageReader {
    #[default]
    Unopened,
    Utf8,
    Utf16(Box<Decoder>),
}

impl PageReader {
    pub fn read<'c>(&mut self, chunk: &'c [u8]) -> Cow<'c, [u8]> {
        if matches!(self, Self::Unopened) && !chunk.is_empty() {
            *self = Self::open(chunk);
        }
        match self {
            Self::Unopened | Self::Utf8 => Cow::Borrowed(chunk),
            Self::Utf16(decoder) => Cow::Owned(decode(decoder, chunk, Position::Within)),
        }
    }

    /// Returns what remains when the page ends within a character.
    pub fn finish(self) -> Vec<u8> {
        match self {
            Self::Unopened | Self::Utf8 => vec![],
            Self::Utf16(mut decoder) => decode(&mut decoder, &[], Position::End),
        }
    }

    fn open(start: &[u8]) -> Self {
        match Encoding::for_bom(start) {
            Some((utf16, _)) if utf16 != UTF_8 => Self::Utf16(Box::new(utf16.new_decoder_with_bom_removal())),
            _ => Self::Utf8,
        }
    }
}

#[derive(PartialEq)]
enum Position {
    Within,
    End,
}

fn decode(decoder: &mut Decoder, chunk: &[u8], position: Position) -> Vec<u8> {
    // With this capacity one call consumes the whole chunk.
    let mut text = String::with_capacity(decoder.max_utf8_buffer_length(chunk.len()).unwrap_or_default());
    let _ = decoder.decode_to_string(chunk, &mut text, position == Position::End);
    text.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(page: &[u8], chunk_bytes: usize) -> String {
        let (mut reader, mut text) = (PageReader::default(), Vec::new());
        for chunk in page.chunks(chunk_bytes) {
            text.extend_from_slice(&reader.read(chunk));
        }
        text.extend_from_slice(&reader.finish());
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn utf_16_is_detected_by_its_byte_order_mark_and_converted_to_utf_8() {
        let page = "<body>grüße 🙂</body>";
        let mut little = vec![0xff, 0xfe];
        let mut big = vec![0xfe, 0xff];
        for unit in page.encode_utf16() {
            little.extend_from_slice(&unit.to_le_bytes());
            big.extend_from_slice(&unit.to_be_bytes());
        }
        for chunk_bytes in [2, 3, 7, 1000] {
            assert_eq!(read(&little, chunk_bytes), page);
            assert_eq!(read(&big, chunk_bytes), page);
        }
        little.push(b'x');
        assert_eq!(read(&little, 7), format!("{page}\u{fffd}"), "a half character");
    }

    #[test]
    fn pages_without_a_utf_16_mark_are_unchanged() {
        for page in ["<p>grüße", "\u{feff}<p>grüße", "", "x"] {
            assert_eq!(read(page.as_bytes(), 3.max(page.len() / 2)), page);
        }
    }
}
