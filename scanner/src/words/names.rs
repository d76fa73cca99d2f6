//! Splits identifiers of the markup into words.

/// Longer identifiers are generated.
const CHARS_MAX: usize = 200;

/// `seedPhrase_12` becomes `seed Phrase 12`. Names in one word stay unchanged, because the lexicon knows
/// them.
pub(super) fn spaced(name: &str) -> String {
    let mut spaced = String::with_capacity(name.len() + 8);
    let mut before: Option<char> = None;
    let mut characters = name.chars().take(CHARS_MAX).peekable();
    while let Some(character) = characters.next() {
        if before.is_some_and(|before| is_edge(before, character, characters.peek().copied())) {
            spaced.push(' ');
        }
        spaced.push(if character.is_alphanumeric() { character } else { ' ' });
        before = Some(character);
    }
    spaced
}

fn is_edge(before: char, character: char, after: Option<char>) -> bool {
    let capital_begins = character.is_uppercase() && before.is_lowercase();
    // The last of several capitals begins the next word: `CVVCode`.
    let capitals_end =
        character.is_uppercase() && before.is_uppercase() && after.is_some_and(char::is_lowercase);
    // A number at the end is a word of its own, but not in `cvv2` or `cc1_number`. The lexicon tries both.
    let number_begins = character.is_numeric() && before.is_alphabetic() && character != '2';
    let number_ends = character.is_alphabetic() && before.is_numeric();
    capital_begins || capitals_end || number_begins || number_ends
}

#[cfg(test)]
mod tests {
    use super::spaced;

    #[test]
    fn identifiers_are_split_into_words() {
        for (name, words) in [
            ("seedPhrase", "seed Phrase"),
            ("seed_phrase", "seed phrase"),
            ("word12", "word 12"),
            ("CVVCode", "CVV Code"),
            ("cvv2", "cvv2"),
            ("inputCVV", "input CVV"),
            ("user[private-key]", "user private key "),
        ] {
            assert_eq!(spaced(name), words);
        }
    }
}
