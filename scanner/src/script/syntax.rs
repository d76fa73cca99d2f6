//! JavaScript as tokens.

pub(super) mod jsx;
pub(super) mod lexer;
pub(super) mod tokens;
