//! Evaluates a script as far as its constants allow. It reads the tokens once, concatenates constants and
//! records how they are used. Functions and loops over known values are read again with those values, as long
//! as the allowance lasts.

mod calls;
mod choices;
mod closing;
mod entries;
mod evaluator;
mod expressions;
mod frame;
mod functions;
mod keywords;
mod literals;
mod loops;
mod members;
mod opening;
mod operators;
mod params;
mod prescan;
mod run;

use evaluator::Evaluator;

use super::memory::Memory;
use super::syntax::Tokens;

/// Returns the state after the script was read.
pub(crate) fn evaluate<'s>(tokens: Tokens<'s>, memory: Memory<'s>) -> Memory<'s> {
    let mut evaluator = Evaluator::new(tokens, memory);
    run::run(&mut evaluator);
    evaluator.memory
}
