//! Controls of bidirectional text.

/// Whether the character changes the direction of the text around it. In a list it would also reverse what
/// stands beside it, and with it a name could pretend to be another.
pub(crate) fn is_directional(letter: char) -> bool {
    matches!(letter, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}
