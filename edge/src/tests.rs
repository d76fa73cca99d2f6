//! Tests of the whole edge, with a real database and a real blob store in a directory.

mod forms;
mod front;
mod gates;
pub(crate) mod harness;
mod load;
mod names;
mod packed;
mod rules;
mod store;
mod wire;
