//! What a script would put on a page, told from its constants. Nothing is run: strings are put together as far as
//! they are known, and each is followed to where it goes. It must end in time linear in the source, whatever that is.

mod bound;
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

use crate::budget::Budget;

#[cfg(test)]
mod tests;

/// Scripts within scripts, as `eval` has them.
const INNER_DEPTH_MAX: usize = 4;

/// What a script would put on a page.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Script {
    /// Markup that is (or may be) written into the page, in the order of the source. Elements built by calls stand
    /// here too, as the markup that they amount to.
    pub(crate) markup: Vec<String>,
    /// Plain text put on the page where it is no part of a built element.
    pub(crate) texts: Vec<String>,
    /// What the title of the page is set to.
    pub(crate) titles: Vec<String>,
    /// Addresses that are fetched or imported.
    pub(crate) fetched: Vec<String>,
    /// Whether anything here could show what the page hides, or put a template to use.
    pub(crate) changes_the_page: bool,
    /// Whether anything here could copy a template into the page.
    pub(crate) uses_templates: bool,
}

/// Reads a script as far as its constants tell what it does. The scripts of one page know each other's variables, so
/// they are best read as one, in their order. The page shows what data has under the bound names.
pub(crate) fn read(source: &str, bound: &Bound, budget: &Budget<'_>) -> Script {
    report::read(source, bound, budget, INNER_DEPTH_MAX)
}

/// The same for a JSON text that a script fetches: any of its strings may be shown.
pub(crate) fn read_json(source: &str) -> Script {
    report::json(source)
}

/// What JSON tells by itself: the forms that it describes, and what the page shows of it by name.
pub(crate) fn read_data(sources: &[String], bound: &Bound, budget: &Budget<'_>) -> Script {
    report::data(sources, bound, budget)
}
