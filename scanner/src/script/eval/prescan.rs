//! Collects facts about names before the script is read.

use std::collections::HashSet;

use super::evaluator::Evaluator;
use crate::script::syntax::TokenKind;

/// Finds functions that are declared exactly once. They may be called before they are read.
pub(super) fn find_declarations(eval: &mut Evaluator) {
    for at in 0..eval.tokens.len() {
        if !eval.tokens.is_word_at(at, &["function"]) {
            continue;
        }
        let Some(name) = eval.tokens.name_at(at + 1) else { continue };
        let name = eval.name_id(name);
        let is_known = eval.declared.contains_key(&name);
        eval.declared.insert(name, (!is_known).then_some(at + 2));
    }
}

/// Finds variables that are assigned several times or contain lists and objects.
pub(super) fn find_reassigned(eval: &mut Evaluator) {
    let mut given = HashSet::new();
    for at in 0..eval.tokens.len() {
        let Some(token) = eval.tokens.name_at(at) else { continue };
        let next = eval.tokens.kind(at + 1);
        let is_set = matches!(next, Some(TokenKind::Assign | TokenKind::PlusAssign | TokenKind::OtherAssign));
        let is_stepped = next == Some(TokenKind::Step) || eval.tokens.is_after(at, TokenKind::Step);
        if !is_set && !is_stepped {
            continue;
        }
        let name = eval.name_id(token);
        if next == Some(TokenKind::Assign)
            && matches!(eval.tokens.kind(at + 2), Some(TokenKind::SquareOpen | TokenKind::BraceOpen))
        {
            eval.memory.choices.collections.insert(name);
        }
        if !given.insert(name) || next != Some(TokenKind::Assign) {
            eval.memory.choices.reassigned.insert(name);
        }
    }
}
