//! Replaces superscripts and subscripts by the Unicode characters for them, so that `phrase<sup>1</sup>` and
//! `phrase¹` read alike. This applies only to footnote marks. Other raised text is read as text.

/// Longer texts are not marks.
const MARK_BYTES_MAX: usize = 12;
const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// The mark for a raised text, or `None` if it is not a mark.
pub(super) fn mark(text: &str) -> Option<String> {
    let text = text.trim();
    let bare = text.trim_matches(['(', ')', '[', ']']);
    if text.len() > MARK_BYTES_MAX || bare.is_empty() {
        return None;
    }
    let is_sign = ["TM", "SM", "MC", "MD"].iter().any(|sign| bare.eq_ignore_ascii_case(sign));
    if is_sign {
        return Some("™".to_owned());
    }
    // Several footnote numbers are one mark.
    let notes = bare.chars().filter(|one| !matches!(one, ',' | ' ' | '*'));
    let digits: Option<String> =
        notes.map(|one| one.to_digit(10).map(|digit| DIGITS[digit as usize])).collect();
    digits.filter(|digits| !digits.is_empty()).or_else(|| ringed(bare))
}

/// A single letter may be a footnote or a letter of the word. A circled letter can be read as either.
fn ringed(text: &str) -> Option<String> {
    let mut letters = text.chars();
    let letter = letters.next().filter(|letter| letter.is_ascii_alphabetic() && letters.next().is_none())?;
    let at = letter.to_ascii_lowercase() as u32 - u32::from('a');
    char::from_u32(u32::from('ⓐ') + at).map(String::from)
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn superscript_marks_are_distinguished_from_superscript_text() {
        for (text, wanted) in
            [("1", "¹"), (" [12] ", "¹²"), ("1, 2", "¹²"), ("TM", "™"), ("sm", "™"), ("R", "ⓡ"), ("e", "ⓔ")]
        {
            assert_eq!(mark(text).as_deref(), Some(wanted), "{text}");
        }
        for text in ["", "ee", "th", "Enter it", "()", "*", "é", "123 456 789 012"] {
            assert_eq!(mark(text), None, "{text}");
        }
    }
}
