//! The three rules of spec 3.3, over what a page asks for and what it says. Nothing here looks at markup.

mod asking;
mod boxes;
mod cards;
mod nearby;
mod passwords;
mod secrets;

use crate::site::Page;
use crate::{FINDINGS_MAX, Rule};

use nearby::View;

/// What a rule found, and in which file.
pub(crate) struct Found {
    pub(crate) rule: Rule,
    pub(crate) file: usize,
    pub(crate) field: String,
    pub(crate) words: Vec<String>,
}

/// What the page does that the rules forbid or have looked at, the worst first.
pub(crate) fn findings(page: &Page<'_>) -> Vec<Found> {
    let view = View::of(page);
    if !view.asks_anything() {
        return Vec::new();
    }
    let blocked = secrets::findings(&view).chain(boxes::findings(&view)).chain(cards::findings(&view));
    blocked.chain(passwords::findings(&view)).take(FINDINGS_MAX).collect()
}
