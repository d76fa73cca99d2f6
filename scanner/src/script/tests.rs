//! Tests with scripts as pages contain them.

mod hostile;
mod telling;
mod writing;

use std::sync::atomic::AtomicBool;

use super::{Bound, Script};
use crate::STEPS_MAX;
use crate::budget::Budget;

/// Reads a script for a page that shows none of its data.
fn read(source: &str) -> Script {
    let never = AtomicBool::new(false);
    super::read(source, &Bound::default(), &Budget::new(STEPS_MAX, &never))
}

/// Checks that the markup of a script contains these pieces in this order.
fn assert_writes(source: &str, pieces: &[&str]) {
    let whole = read(source).markup.join("\n");
    let mut rest = whole.as_str();
    for piece in pieces {
        let at = rest.find(piece);
        assert!(at.is_some(), "{piece} is missing\n in: {whole}\n of: {source}");
        rest = &rest[at.unwrap() + piece.len()..];
    }
}

fn assert_writes_nothing(source: &str) {
    let markup = read(source).markup;
    assert!(markup.is_empty(), "{markup:?}\n of: {source}");
}
