//! The whole door, over a real database and a real blob store in a folder.

mod forms;
mod gates;
mod harness;
mod load;
mod names;
mod packed;
mod store;
mod wire;
