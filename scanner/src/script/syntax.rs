//! The tokens of JavaScript.

mod jsx;
mod lexer;
mod tokens;

pub(crate) use jsx::markup as jsx_markup;
pub(crate) use lexer::{TOKENS_MAX, lex};
pub(crate) use tokens::{Token, TokenKind, Tokens};
