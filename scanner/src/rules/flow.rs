//! Pages of provisional accounts that show next to nothing to judge by: they only lead on, or show what their script
//! knows once it runs.

use crate::Rule;
use crate::page::Block;
use crate::site::Page;

use super::RuleMatch;

/// A page of fewer words only says that it leads on.
const REDIRECT_WORDS_MAX: usize = 40;
/// A page of fewer words shows little besides what its script writes.
const SHELL_WORDS_MAX: usize = 40;

pub(super) fn finding(page: &Page<'_>) -> Option<RuleMatch> {
    let root = page.root?;
    let asks = page.parts.iter().flat_map(|part| &part.fields).any(|field| field.takes_anything());
    let blocks = page.parts.iter().flat_map(|part| &part.blocks);
    let words: usize = blocks.filter(|block| block.spot.region.is_none()).map(Block::words).sum();
    let rule = if page.flow.leads_away && !asks && words <= REDIRECT_WORDS_MAX {
        Rule::RedirectsAway
    } else if page.flow.writes_unknown && !asks && words <= SHELL_WORDS_MAX {
        Rule::HiddenContent
    } else {
        return None;
    };
    Some(RuleMatch { rule, file: root, field: String::new(), words: Vec::new() })
}
