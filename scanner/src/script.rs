//! What a script would put on a page, found by following its constants. Nothing is run: strings are put together as
//! far as they are known, and each is followed to where it is used. This must end in time linear in the source,
//! whatever that is.
//!
//! The modules are layers, and each uses only those before it: `budget` (what reading may cost) and `encodings`,
//! `syntax` (tokens), `memory` (values, and what was done to the page), `effects` (what does it), `builtins` (tables
//! from the name of a call to a function), `eval` (reads the tokens), `report`.

mod bound;
mod budget;
mod builtins;
mod effects;
mod encodings;
mod eval;
mod files;
mod memory;
mod report;
mod syntax;

pub(crate) use bound::Bound;
pub(crate) use files::Files;
pub(crate) use report::Script;

use crate::budget::Budget;

#[cfg(test)]
mod tests;

/// Reads a script as far as its constants tell what it does. The scripts of one page share their variables, so they
/// are best read as one, in their order. The page shows the members of data that have bound names.
pub(crate) fn read(source: &str, bound: &Bound, budget: &Budget<'_>) -> Script {
    report::read(source, bound, budget)
}

/// The same for a JSON text that a script fetches: any of its strings may be shown.
pub(crate) fn read_json(source: &str) -> Script {
    report::json(source)
}

/// The forms that JSON describes, and what the page shows of it by name.
pub(crate) fn read_data(sources: &[String], bound: &Bound, budget: &Budget<'_>) -> Script {
    report::data(sources, bound, budget)
}
