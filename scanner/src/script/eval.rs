//! Goes through the tokens and computes what is known.

pub(super) mod closing;
pub(super) mod frame;
pub(super) mod functions;
pub(super) mod loops;
pub(super) mod machine;
pub(super) mod members;
pub(super) mod methods;
pub(super) mod operators;
pub(super) mod params;
pub(super) mod turns;
pub(super) mod words;
