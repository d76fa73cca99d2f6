//! The three rules of spec 3.3, over what a page asks for and what it says, and one more for provisional accounts.
//! Nothing here looks at markup.

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

/// What a rule found, and in which file.
pub(crate) struct RuleMatch {
    pub(crate) rule: Rule,
    pub(crate) file: usize,
    pub(crate) field: String,
    pub(crate) words: Vec<String>,
}

/// What the page does that the rules forbid or have looked at, the worst first.
pub(crate) fn findings(page: &Page<'_>, budget: &Budget<'_>) -> Vec<RuleMatch> {
    let view = View::of(page, budget);
    if !view.asks_anything() {
        return Vec::new();
    }
    let blocked = secrets::findings(&view).chain(boxes::findings(&view)).chain(cards::findings(&view));
    blocked.chain(passwords::findings(&view)).take(FINDINGS_MAX).collect()
}

/// The same for the page of a provisional account, which is held to more.
pub(crate) fn provisional_findings(page: &Page<'_>, budget: &Budget<'_>) -> Vec<RuleMatch> {
    let mut found = findings(page, budget);
    found.extend(flow::finding(page));
    found
}
