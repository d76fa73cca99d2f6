//! Counts the JSON values of a message before it is parsed. The library parses a message into a tree, which
//! for a body of numbers is a hundred times as large as its bytes. Nothing may be parsed before this check.

use domain::Refusal;

/// A publish of the maximum number of files has about 200 values.
const VALUES_MAX: usize = 10_000;

/// Refuses a message with too many values, even if it is malformed.
pub fn require_few_values(message: &[u8]) -> Result<(), Refusal> {
    if has_more_values_than(VALUES_MAX, message) {
        return Err(Refusal::TooLarge {
            limit: format!("a message may have at most {VALUES_MAX} JSON values"),
        });
    }
    Ok(())
}

/// Counts every comma and every opening bracket outside of strings: each begins at most one further value.
fn has_more_values_than(most: usize, message: &[u8]) -> bool {
    let (mut values, mut rest) = (0, message);
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b',' | b'[' | b'{' | b'"')) {
        let found = rest[at];
        rest = &rest[at + 1..];
        if found == b'"' {
            rest = after_string(rest);
            continue;
        }
        values += 1;
        if values > most {
            return true;
        }
    }
    false
}

/// The bytes after a string whose opening quote has been passed. Empty if it does not end.
fn after_string(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        // A backslash escapes the next byte.
        let passed = if rest[at] == b'"' { at + 1 } else { at + 2 };
        let is_end = rest[at] == b'"';
        rest = rest.get(passed..).unwrap_or_default();
        if is_end {
            return rest;
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use domain::FileSet;
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_counted_in_arrays_and_objects_but_not_in_strings() {
        for (message, values) in [
            (&b""[..], 0),
            (b"7", 0),
            (b"[0,0,0]", 3),
            (br#"{"a": 1, "b": {"c": [true]}}"#, 4),
            (br#"["[[,,{{", "\\", "\"[,", "\\\",,"]"#, 4),
            (br#"{"never ends ,,,,"#, 1),
            (br#"["ends in a backslash ,\"#, 1),
            (b"\xff[[", 2),
        ] {
            let text = String::from_utf8_lossy(message);
            assert!(!has_more_values_than(values, message), "{text}");
            assert!(values == 0 || has_more_values_than(values - 1, message), "{text}");
        }
    }

    #[test]
    fn largest_publish_has_far_fewer_values_than_the_limit() {
        let file = json!({ "path": "a", "content": ",[{\"".repeat(1_000), "encoding": "utf-8" });
        let files: Vec<_> = (0..FileSet::FILES_MAX).map(|_| &file).collect();
        let message = json!({ "params": { "arguments": { "slug": "my-page", "files": files } } }).to_string();
        assert!(!has_more_values_than(VALUES_MAX / 20, message.as_bytes()));
        assert_eq!(require_few_values(message.as_bytes()), Ok(()));
        let many = format!("[{}0]", "0,".repeat(VALUES_MAX));
        assert_eq!(require_few_values(many.as_bytes()).unwrap_err().code(), "too_large");
    }
}
