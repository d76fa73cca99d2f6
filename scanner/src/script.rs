//! Finds what a script would write to a page by tracking its constants. It runs nothing: it concatenates
//! strings as far as they are known, and tracks how each is used. It must take time linear in the source.
//!
//! The modules are layers, and each uses only those before it: `budget` (limits of the work), `files` and
//! `bound` (data of the site and the page), `encodings`, `syntax` (tokens), `memory` (values, and the effects
//! on the page), `effects` (operations on the page), `builtins` (tables from function names to functions),
//! `eval` (reads the tokens), `report`.

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

/// Evaluates a script as far as its constants allow. The scripts of one page share variables, so that callers
/// should pass them as one source, in order. The page shows members of data that have bound names.
pub(crate) fn read(source: &str, bound: &Bound, budget: &Budget<'_>) -> Script {
    report::read(source, bound, budget)
}

/// The same for JSON that a script fetches. Any of its strings may be shown.
pub(crate) fn read_json(source: &str) -> Script {
    report::json(source)
}

/// The forms that JSON data describes, and the data that the page shows by name.
pub(crate) fn read_data(sources: &[String], bound: &Bound, budget: &Budget<'_>) -> Script {
    report::data(sources, bound, budget)
}
