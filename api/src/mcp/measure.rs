//! How much a message is made of, told by its bytes alone. The protocol's library makes a tree of a message, which for
//! a body of nothing but numbers is a hundred times as large; so nothing may be read into a tree before it came by here.

use domain::Refusal;

/// A publish of as many files as there may be has some 200 values.
const VALUES_MAX: usize = 10_000;

/// Refuses a message of too many values, whatever else may be wrong with it.
pub fn demand_few_values(message: &[u8]) -> Result<(), Refusal> {
    if has_more_values_than(VALUES_MAX, message) {
        return Err(Refusal::TooLarge { limit: format!("a message has at most {VALUES_MAX} JSON values") });
    }
    Ok(())
}

/// Counts what begins a value that is not the only one: outside of texts, every comma and every opening bracket.
fn has_more_values_than(most: usize, message: &[u8]) -> bool {
    let (mut values, mut rest) = (0, message);
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b',' | b'[' | b'{' | b'"')) {
        let found = rest[at];
        rest = &rest[at + 1..];
        if found == b'"' {
            rest = behind_text(rest);
            continue;
        }
        values += 1;
        if values > most {
            return true;
        }
    }
    false
}

/// What follows a text whose first quotation mark has been passed; nothing if it does not end.
fn behind_text(mut rest: &[u8]) -> &[u8] {
    while let Some(at) = rest.iter().position(|byte| matches!(byte, b'"' | b'\\')) {
        // What follows a backslash belongs to the text.
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
    fn values_are_counted_in_lists_and_objects_and_not_in_texts() {
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
            let told = String::from_utf8_lossy(message);
            assert!(!has_more_values_than(values, message), "{told}");
            assert!(values == 0 || has_more_values_than(values - 1, message), "{told}");
        }
    }

    #[test]
    fn the_largest_publish_is_far_below_the_bound() {
        let file = json!({ "path": "a", "content": ",[{\"".repeat(1_000), "encoding": "utf-8" });
        let files: Vec<_> = (0..FileSet::FILES_MAX).map(|_| &file).collect();
        let message = json!({ "params": { "arguments": { "slug": "my-page", "files": files } } }).to_string();
        assert!(!has_more_values_than(VALUES_MAX / 20, message.as_bytes()));
        assert_eq!(demand_few_values(message.as_bytes()), Ok(()));
        let many = format!("[{}0]", "0,".repeat(VALUES_MAX));
        assert_eq!(demand_few_values(many.as_bytes()).unwrap_err().code(), "too_large");
    }
}
