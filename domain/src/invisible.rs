//! Characters that are not seen themselves.

/// Whether the character is not seen and has no place in a name of one line. With one that changes the
/// direction of the text around it, a name could pretend to be another. Joiners stay: some scripts and emoji
/// need them.
pub(crate) fn is_invisible(letter: char) -> bool {
    let is_mark = matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}');
    let is_directional = is_mark || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let is_empty =
        matches!(letter, '\u{ad}' | '\u{200b}' | '\u{2028}' | '\u{2029}' | '\u{2060}' | '\u{feff}');
    letter.is_control() || is_directional || is_empty
}
