//! Words written with letters that only look like those of another word: `pаypal` with a Cyrillic а, `paypa1`, `rnicrosoft`.
//! A reading is only ever tried for a word that means nothing as it stands.

use unicode_security::confusable_detection::skeleton;

/// Longer words are no disguise of one that we know.
const CHARS_MAX: usize = 40;
/// Short words in another script are real words of it more often than disguises.
const FOREIGN_CHARS_MIN: usize = 4;

/// Whether a word has anything in it that a disguise needs; most words have not.
pub(super) fn may_be_disguised(word: &str, capitals: u64) -> bool {
    let odd = |byte: u8| byte.is_ascii_digit() || !byte.is_ascii_alphabetic();
    // A capital behind the first letter may be an I that stands for an l.
    capitals > 1 || word.bytes().any(odd) || word.contains("rn") || word.contains("vv")
}

/// What the word may be meant to look like, likeliest first; empty for most words. `capitals` tells the capitals in it.
pub(super) fn readings(word: &str, capitals: impl Fn(usize) -> bool) -> Vec<String> {
    let mut readings = Vec::new();
    if word.len() < 3 || word.len() > CHARS_MAX * 4 {
        return readings;
    }
    let latin = if word.is_ascii() { Some(word.to_owned()) } else { as_latin(word) };
    let Some(latin) = latin else { return readings };
    push(&mut readings, latin.clone(), word);
    if latin.bytes().any(|byte| byte.is_ascii_digit() || b"@$!|".contains(&byte)) {
        push(&mut readings, without_digits(&latin, 'l'), word);
        push(&mut readings, without_digits(&latin, 'i'), word);
    }
    if word.is_ascii() && word.contains('i') {
        let unmasked =
            |(at, character)| if character == 'i' && at > 0 && capitals(at) { 'l' } else { character };
        push(&mut readings, word.chars().enumerate().map(unmasked).collect(), word);
    }
    if latin.contains("rn") || latin.contains("vv") {
        push(&mut readings, latin.replace("rn", "m").replace("vv", "w"), word);
    }
    readings
}

fn push(readings: &mut Vec<String>, reading: String, word: &str) {
    if reading != word && !readings.contains(&reading) {
        readings.push(reading);
    }
}

/// The word in Latin letters, when each of its characters looks like one.
fn as_latin(word: &str) -> Option<String> {
    if !word.chars().any(|character| character.is_ascii()) && word.chars().count() < FOREIGN_CHARS_MIN {
        return None;
    }
    word.chars().map(latin_of).collect()
}

fn latin_of(character: char) -> Option<char> {
    if character.is_ascii() {
        return Some(character);
    }
    // Where the standard's table joins what differs, or lacks a small letter whose capital looks the same.
    let known = match character {
        'а' | 'α' | 'ɑ' => 'a',
        'в' | 'β' | 'ь' => 'b',
        'с' | 'ϲ' => 'c',
        'ԁ' => 'd',
        'е' | 'є' | 'ε' => 'e',
        'ɡ' | 'ց' => 'g',
        'һ' | 'н' | 'η' | 'հ' => 'h',
        'і' | 'ι' => 'i',
        'ӏ' => 'l',
        'к' | 'κ' => 'k',
        'м' => 'm',
        'п' | 'ո' => 'n',
        'о' | 'ο' | 'σ' | 'օ' | 'ө' => 'o',
        'р' | 'ρ' => 'p',
        'ԛ' => 'q',
        'г' => 'r',
        'ѕ' | 'ꜱ' => 's',
        'т' | 'τ' => 't',
        'υ' | 'ս' | 'ц' => 'u',
        'ν' | 'ѵ' => 'v',
        'ԝ' | 'ω' | 'ш' => 'w',
        'х' | 'χ' => 'x',
        'у' | 'γ' | 'ү' => 'y',
        'ᴀ' => 'a',
        'ᴇ' => 'e',
        'ᴘ' => 'p',
        'ʜ' => 'h',
        'ʀ' => 'r',
        'ᴅ' => 'd',
        _ => return skeleton_of(character),
    };
    Some(known)
}

fn skeleton_of(character: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut seen = skeleton(character.encode_utf8(&mut buffer));
    let first = seen.next()?.to_ascii_lowercase();
    (first.is_ascii_alphabetic() && seen.next().is_none()).then_some(first)
}

fn without_digits(word: &str, one: char) -> String {
    let letter = |character| match character {
        '0' => 'o',
        '1' | '!' | '|' => one,
        '3' => 'e',
        '4' | '@' => 'a',
        '5' | '$' => 's',
        '7' => 't',
        '8' => 'b',
        '9' => 'g',
        other => other,
    };
    word.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguised_words_are_read_as_what_they_look_like() {
        for (word, meant) in [
            ("рауpal", "paypal"),
            ("аррӏе", "apple"),
            ("paypa1", "paypal"),
            ("g00gle", "google"),
            ("m1crosoft", "microsoft"),
            ("rnicrosoft", "microsoft"),
            ("s33d", "seed"),
            ("phr4se", "phrase"),
        ] {
            assert!(readings(word, |_| false).iter().any(|reading| reading == meant), "{word}");
        }
        assert!(readings("paypai", |at| at == 5).contains(&"paypal".to_owned()));
        assert!(readings("garden", |_| false).is_empty());
        assert!(readings("кошелек", |_| false).is_empty());
    }
}
