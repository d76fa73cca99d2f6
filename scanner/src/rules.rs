//! The three rules of spec 3.3 and those for provisional accounts. They decide by what a page asks for and
//! says, and never read markup.

mod asking;
mod boxes;
mod cards;
mod flow;
mod nearby;
mod passwords;
mod secrets;

use crate::budget::Budget;
use crate::site::Page;
use crate::{FINDINGS_MAX, Rule};

use nearby::View;

/// A rule that matched, and in which file.
pub(crate) struct RuleMatch {
    pub(crate) rule: Rule,
    pub(crate) file: usize,
    pub(crate) field: String,
    pub(crate) words: Vec<String>,
}

/// The matches of all rules on a page, the worst first.
pub(crate) fn findings(page: &Page<'_>, budget: &Budget<'_>) -> Vec<RuleMatch> {
    let view = View::of(page, budget);
    if !view.asks_anything() {
        return Vec::new();
    }
    let blocked = secrets::findings(&view).chain(boxes::findings(&view)).chain(cards::findings(&view));
    blocked.chain(passwords::findings(&view)).take(FINDINGS_MAX).collect()
}

/// The same for a page of a provisional account, to which stricter rules apply.
pub(crate) fn provisional_findings(page: &Page<'_>, budget: &Budget<'_>) -> Vec<RuleMatch> {
    let mut found = findings(page, budget);
    found.extend(flow::finding(page));
    found
}
