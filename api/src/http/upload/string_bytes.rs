//! Counts the content of a JSON body while it arrives. A body may be six times as long as its content, if
//! every character is escaped. So the content has a limit of its own, and a body that exceeds it is not read
//! to its end.

use domain::{FileSet, Refusal};

/// The content of a publish of the maximum size, in base64.
const CONTENT_BYTES_MAX: u64 = FileSet::BYTES_MAX / 3 * 4;
/// For the paths, the slug, the message and the names of the fields.
const OTHER_BYTES_MAX: u64 = 262_144;

/// Counts every character in a string once, whether it is escaped or not. The parsed strings have at least
/// this many bytes.
#[derive(Default)]
pub struct StringBytes {
    place: StringPlace,
    counted: u64,
}

#[derive(Clone, Copy, Default)]
enum StringPlace {
    #[default]
    Outside,
    Inside,
    AfterBackslash,
    /// Within a `\u`, with the number of hexadecimal digits that are still missing.
    Digits(u8),
}

impl StringBytes {
    /// Takes the next part of the body.
    pub fn take(&mut self, part: &[u8]) -> Result<(), Refusal> {
        for byte in part {
            self.step(*byte);
        }
        if self.counted > CONTENT_BYTES_MAX + OTHER_BYTES_MAX {
            return FileSet::default().grow(usize::MAX);
        }
        Ok(())
    }

    fn step(&mut self, byte: u8) {
        use StringPlace::{AfterBackslash, Digits, Inside, Outside};
        self.place = match (self.place, byte) {
            (Outside, b'"') => Inside,
            (Outside, _) | (Inside, b'"') => Outside,
            (Inside, b'\\') => AfterBackslash,
            (AfterBackslash, b'u') => Digits(4),
            (Digits(left @ 2..), _) => Digits(left - 1),
            (Inside | AfterBackslash | Digits(_), _) => {
                self.counted += 1;
                Inside
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(body: &str) -> u64 {
        let (mut whole, mut in_bytes) = (StringBytes::default(), StringBytes::default());
        whole.take(body.as_bytes()).unwrap();
        for byte in body.as_bytes() {
            in_bytes.take(&[*byte]).unwrap();
        }
        assert_eq!(whole.counted, in_bytes.counted);
        whole.counted
    }

    #[test]
    fn a_character_in_a_string_counts_once_however_it_is_written() {
        for (body, count) in [
            ("", 0),
            ("[1, true, {}]", 0),
            (r#""abc""#, 3),
            (r#"{"a": "b\u003cc", "d": ""}"#, 5),
            (r#""\\\"\n\u00e9""#, 4),
            (r#""cut off \u00"#, 8),
        ] {
            assert_eq!(counted(body), count, "{body}");
        }
    }

    #[test]
    fn content_beyond_the_limit_is_refused_before_its_body_ends() {
        let most = vec![b'x'; (CONTENT_BYTES_MAX + OTHER_BYTES_MAX) as usize];
        let mut strings = StringBytes::default();
        strings.take(b"\"").unwrap();
        strings.take(&most).unwrap();
        assert_eq!(strings.take(b"x").unwrap_err().code(), "too_large");
    }
}
