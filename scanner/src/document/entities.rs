//! Expands the entities that an XML document declares. Browsers insert their markup into the page, so that an
//! entity can hide a form. The tokenizer does not expand them.

use std::borrow::Cow;
use std::collections::BTreeMap;

const ENTITIES_MAX: usize = 1000;
/// The bytes that all entities may add to a document. Browsers also reject exponential expansion.
const ADDED_BYTES_MAX: usize = 8 << 20;
/// The maximum depth of entities in entities.
const ROUNDS_MAX: usize = 4;
const DOCTYPE: &str = "<!DOCTYPE";

/// Expands the declared entities and removes their declarations.
pub(super) fn expand(text: &str) -> Cow<'_, str> {
    let Some((before, subset, after)) = cut_out_subset(text) else { return Cow::Borrowed(text) };
    let mut entities = declared(subset);
    let mut bytes_left = ADDED_BYTES_MAX;
    for _ in 0..ROUNDS_MAX {
        let inner = entities.clone();
        for value in entities.values_mut() {
            *value = put_in(value, &inner, &mut bytes_left);
        }
    }
    let mut bytes_left = ADDED_BYTES_MAX;
    Cow::Owned(format!("{before}{}", put_in(after, &entities, &mut bytes_left)))
}

/// Splits a document into the text before, inside and after the square brackets of its document type.
fn cut_out_subset(text: &str) -> Option<(&str, &str, &str)> {
    let doctype = text.find(DOCTYPE)?;
    let opens = doctype + text.get(doctype..)?.find(['[', '>'])?;
    let inside = text.get(opens..)?.strip_prefix('[')?;
    let closes = end_of_subset(inside)?;
    Some((text.get(..opens)?, inside.get(..closes)?, inside.get(closes + 1..)?))
}

/// The closing bracket, outside of quotes and comments.
fn end_of_subset(inside: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = inside.get(at..)?;
        let special = rest.find(['"', '\'', '<', ']'])?;
        let found = rest.get(special..)?;
        let skipped = match found.chars().next()? {
            ']' => return Some(at + special),
            '<' if found.starts_with("<!--") => found.find("-->")? + 3,
            '<' if found.starts_with("<?") => found.find("?>")? + 2,
            '<' => 1,
            quote => found.get(1..)?.find(quote)? + 2,
        };
        at += special + skipped;
    }
}

fn declared(subset: &str) -> BTreeMap<String, String> {
    let mut entities = BTreeMap::new();
    for declaration in subset.split("<!ENTITY").skip(1).take(ENTITIES_MAX) {
        let Some((name, rest)) = declaration.trim_start().split_once(char::is_whitespace) else { continue };
        let rest = rest.trim_start();
        let Some(quote) = rest.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else { continue };
        let Some(value) = rest.get(1..).and_then(|rest| rest.split(quote).next()) else { continue };
        entities.entry(name.to_owned()).or_insert_with(|| with_characters(value));
    }
    entities
}

/// Expands character references when the entity is declared, as XML requires, so that they can form markup.
fn with_characters(value: &str) -> String {
    let mut pieces = value.split("&#");
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let character = piece.split_once(';').and_then(|(number, rest)| Some((character(number)?, rest)));
        match character {
            Some((character, rest)) => {
                text.push(character);
                text.push_str(rest);
            }
            None => {
                text.push_str("&#");
                text.push_str(piece);
            }
        }
    }
    text
}

fn character(number: &str) -> Option<char> {
    let code = match number.strip_prefix('x') {
        Some(hexadecimal) => u32::from_str_radix(hexadecimal, 16),
        None => number.parse(),
    };
    char::from_u32(code.ok()?)
}

/// Replaces each `&name;` until `bytes_left` is used up.
fn put_in(text: &str, entities: &BTreeMap<String, String>, bytes_left: &mut usize) -> String {
    let mut pieces = text.split('&');
    let mut result = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let named = piece.split_once(';').and_then(|(name, rest)| Some((entities.get(name)?, rest)));
        match named {
            Some((value, rest)) if value.len() <= *bytes_left => {
                *bytes_left -= value.len();
                result.push_str(value);
                result.push_str(rest);
            }
            _ => {
                result.push('&');
                result.push_str(piece);
            }
        }
    }
    result
}
