//! The torture test: clients make random requests while processes are killed and servers are stopped. Then a
//! checker that knows only the clients' responses checks that the program kept its promises.
//!
//! - `client` makes requests, and trusts the responses.
//! - `model` contains the states that are possible, given the responses. It must never read from the program.
//! - `faults` injects faults, and undoes them.
//! - `checker` checks, when no fault is active and no request is in flight.
//!
//! A seed repeats the random choices: the same operations and the same faults, but not the same timing.

// This is test code: a failure ends the run.
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
