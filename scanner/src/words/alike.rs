//! Homoglyphs: words with letters that look like those of another word, such as `pаypal` with a Cyrillic а,
//! `paypa1`, `rnicrosoft`. Only words without a meaning of their own are checked.

use unicode_normalization::char::is_combining_mark;
use unicode_security::confusable_detection::skeleton;

/// Longer words cannot imitate a known word.
const CHARS_MAX: usize = 40;
/// Short words in another script are more often real words than disguises.
const FOREIGN_CHARS_MIN: usize = 4;
/// Each ambiguous stroke doubles the number of readings.
const STROKES_MAX: usize = 3;
const DIGITS: &str = "01345789@$!|";

/// Whether a word contains a character that a disguise needs. Most words do not.
pub(super) fn may_be_disguised(word: &str, capitals: u64) -> bool {
    let odd = |byte: u8| byte.is_ascii_digit() || !byte.is_ascii_alphabetic();
    let is_number = word.bytes().all(|byte| byte.is_ascii_digit());
    // A capital after the first letter may be an I that imitates an l.
    !is_number && (capitals > 1 || word.bytes().any(odd) || word.contains("rn") || word.contains("vv"))
}

/// The words that this one may imitate, the most likely first. Empty for most words. `capitals` returns
/// whether a character was a capital.
pub(super) fn readings(word: &str, capitals: impl Fn(usize) -> bool) -> Vec<String> {
    let mut readings = Vec::new();
    if word.len() < 3 || word.len() > CHARS_MAX * 4 {
        return readings;
    }
    let Some(looks) = looks_of(word, &capitals) else { return readings };
    let mut put = |reading: String| {
        if reading != word && !readings.contains(&reading) {
            readings.push(reading);
        }
    };
    spelled(&looks).into_iter().for_each(&mut put);
    if looks.iter().any(|look| DIGITS.contains(look.likely)) {
        let letters: Vec<LetterShape> = looks.iter().map(|look| look.without_digit()).collect();
        spelled(&letters).into_iter().for_each(&mut put);
    }
    if word.is_ascii() && word.contains('i') {
        let unmasked =
            |(at, character)| if character == 'i' && at > 0 && capitals(at) { 'l' } else { character };
        put(word.chars().enumerate().map(unmasked).collect());
    }
    let latin: String = looks.iter().map(|look| look.likely).collect();
    if latin.contains("rn") || latin.contains("vv") {
        put(latin.replace("rn", "m").replace("vv", "w"));
    }
    readings
}

/// The letter that a character looks like, and an alternative.
#[derive(Clone, Copy)]
struct LetterShape {
    likely: char,
    other: Option<char>,
}

impl LetterShape {
    fn only(likely: char) -> LetterShape {
        LetterShape { likely, other: None }
    }

    /// An upright stroke is an l or a capital I.
    fn foreign(letter: char) -> LetterShape {
        match letter {
            'l' => LetterShape { likely: 'l', other: Some('i') },
            'i' => LetterShape { likely: 'i', other: Some('l') },
            _ => LetterShape::only(letter),
        }
    }

    fn without_digit(self) -> LetterShape {
        match self.likely {
            '0' => LetterShape::only('o'),
            '1' | '!' | '|' => LetterShape { likely: 'l', other: Some('i') },
            '3' => LetterShape::only('e'),
            '4' | '@' => LetterShape::only('a'),
            '5' | '$' => LetterShape::only('s'),
            '7' => LetterShape::only('t'),
            '8' => LetterShape::only('b'),
            '9' => LetterShape::only('g'),
            _ => self,
        }
    }
}

/// The word in Latin letters, if each of its characters looks like one.
fn looks_of(word: &str, capitals: impl Fn(usize) -> bool) -> Option<Vec<LetterShape>> {
    if !word.chars().any(|character| character.is_ascii()) && word.chars().count() < FOREIGN_CHARS_MIN {
        return None;
    }
    let look = |(at, character): (usize, char)| match character {
        character if character.is_ascii() => Some(LetterShape::only(character)),
        character if capitals(at) => {
            capital_of(character).or_else(|| latin_of(character)).map(LetterShape::foreign)
        }
        character => latin_of(character).map(LetterShape::foreign),
    };
    word.chars().enumerate().map(look).collect()
}

/// All readings of the first few ambiguous strokes.
fn spelled(looks: &[LetterShape]) -> Vec<String> {
    let strokes: Vec<usize> =
        (0..looks.len()).filter(|at| looks[*at].other.is_some()).take(STROKES_MAX).collect();
    let letter_in = |way: usize, at: usize| {
        let is_other = strokes.iter().position(|stroke| *stroke == at).is_some_and(|bit| way >> bit & 1 == 1);
        looks[at].other.filter(|_| is_other).unwrap_or(looks[at].likely)
    };
    (0..1 << strokes.len()).map(|way| (0..looks.len()).map(|at| letter_in(way, at)).collect()).collect()
}

/// A capital may look like another letter than its lower case: `Υ` and `υ`.
fn capital_of(small: char) -> Option<char> {
    small.to_uppercase().next().and_then(skeleton_of)
}

fn latin_of(character: char) -> Option<char> {
    // Letters that the standard's table merges wrongly, or whose lower case it lacks although the capital
    // looks the same.
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
        // Lower-case Cherokee letters look like their capitals, and only those are in the table.
        '\u{ab70}'..='\u{abbf}' => return skeleton_of(character).or_else(|| capital_of(character)),
        _ => return skeleton_of(character),
    };
    Some(known)
}

/// The letter of the standard's table without its marks.
fn skeleton_of(character: char) -> Option<char> {
    let mut buffer = [0; 4];
    let mut seen =
        skeleton(character.encode_utf8(&mut buffer)).filter(|character| !is_combining_mark(*character));
    let first = seen.next()?.to_ascii_lowercase();
    match seen.next() {
        // The table maps every m to r and n.
        Some('n') if first == 'r' && seen.next().is_none() => Some('m'),
        Some(_) => None,
        None => first.is_ascii_alphabetic().then_some(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguised_words_are_read_by_appearance() {
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
