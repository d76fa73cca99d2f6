//! Judges: what must hold whatever a stranger sends, a judge for each thing that takes input from outside.
//!
//! A judge takes bytes, hands them to the part of the program that would get them, and panics when what comes of it is
//! not as promised. Where it can it has a second opinion of its own, written apart from the code that it judges; it must
//! never ask that code whether that code is right. It says whether the bytes were taken for anything at all, so that
//! whoever makes them up knows that they are not all noise.
//!
//! The fuzzer feeds them in `fuzz/`, for minutes and steered by what was reached; `tests/short` feeds them the kept seeds
//! and some thousand mutations of those, in every test run.

// What these are for is to fail loudly.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "config")]
pub mod configuration;
#[cfg(feature = "api")]
pub mod json_rpc;
#[cfg(feature = "api")]
pub mod multipart;
#[cfg(feature = "edge")]
pub mod path_resolver;
#[cfg(feature = "scanner")]
pub mod scanned;
pub mod site_paths;
#[cfg(feature = "card")]
pub mod webhook;
#[cfg(feature = "api")]
mod world;
pub mod x_payment;

/// Cuts an input into the things that it is made of: no honest text has this byte.
pub const SEPARATOR: u8 = 0x1e;
