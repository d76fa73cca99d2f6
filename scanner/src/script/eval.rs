//! Goes through the tokens and computes what is known.

pub(super) mod choices;
pub(super) mod closing;
pub(super) mod evaluator;
pub(super) mod frame;
pub(super) mod functions;
pub(super) mod keywords;
pub(super) mod loops;
pub(super) mod members;
pub(super) mod methods;
pub(super) mod operators;
pub(super) mod params;
