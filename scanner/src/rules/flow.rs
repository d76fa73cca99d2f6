//! Detects pages of provisional accounts without enough content to decide by: they only redirect, or render
//! content that only their script knows at run time.

use crate::Rule;
use crate::page::Block;
use crate::site::Page;

use super::RuleMatch;

/// A page with fewer words than this only announces the redirect.
const REDIRECT_WORDS_MAX: usize = 40;
/// A page with fewer words than this shows little besides its script's output.
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
