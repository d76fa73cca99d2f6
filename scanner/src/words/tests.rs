//! Tables of texts and their meanings.

mod disguises;
mod eastern;
mod english;
mod lures;
mod paraphrases;
mod places;
mod scenes;
mod speed;
mod western;

use super::*;

fn sensed(text: &str, thing: Thing) -> Option<Sense> {
    Text::of(text).sense(thing).map(|sensed| sensed.sense)
}

/// Checks all texts of a table at once, so that a change of the vocabulary shows all its effects.
fn assert_each(wanted: &str, texts: &[(Thing, &str)], is_right: impl Fn(Option<Sense>) -> bool) {
    let wrong: Vec<String> = texts
        .iter()
        .filter(|(thing, text)| !is_right(sensed(text, *thing)))
        .map(|(thing, text)| format!("{thing:?} {:?}: {text}", sensed(text, *thing)))
        .collect();
    assert!(wrong.is_empty(), "{} of {} should be {wanted}:\n{}", wrong.len(), texts.len(), wrong.join("\n"));
}

fn assert_requested(texts: &[(Thing, &str)]) {
    assert_each("requested", texts, |sense| sense == Some(Sense::Requested));
}

fn assert_asked(texts: &[(Thing, &str)]) {
    assert_each("named or requested", texts, |sense| sense >= Some(Sense::Named));
}

fn assert_talk(texts: &[(Thing, &str)]) {
    assert_each("talk", texts, |sense| sense <= Some(Sense::Mentioned));
}

fn assert_named(texts: &[(Thing, &str)]) {
    assert_each("named", texts, |sense| sense == Some(Sense::Named));
}

fn assert_none(texts: &[(Thing, &str)]) {
    assert_each("nothing", texts, |sense| sense.is_none());
}

#[test]
fn a_text_without_findings_is_small() {
    assert!(size_of::<Text>() <= 64, "{}", size_of::<Text>());
    let text = Text::of("The quick brown fox jumps over the lazy dog.");
    assert_eq!((text.senses.capacity(), text.lures.capacity()), (0, 0));
}
