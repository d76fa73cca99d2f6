//! The torture: clients ask for whatever their dice say while processes are killed and what they stand on is taken away;
//! then a checker that knows only what the clients were told looks whether the program kept its word.
//!
//! - `client` asks, and believes what it is told.
//! - `model` is what can be true, given what was told. It must never look at the program.
//! - `faults` breaks things, and mends what it broke.
//! - `checker` looks, when nothing is wrong and nothing is under way any more.
//!
//! A seed gives the same dice again: the same operations and the same faults, though never the same timing.

// A torture is test code: what it cannot do ends it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod checker;
mod client;
mod disk;
mod faults;
mod journal;
mod model;
mod report;
mod run;
mod scene;

pub use report::Report;
pub use run::{Length, RunPlan, torture};
