//! Judges: for each parser of untrusted input, a function that checks what must hold for any input.
//!
//! A judge takes bytes, passes them to the code under test, and panics if an invariant is violated. Where
//! possible it has an independent second implementation to compare with. It must never use the code under
//! test to decide whether that code is right. It returns whether the input was accepted, so that its
//! generator can avoid pure noise.
//!
//! The fuzzer in `fuzz/` runs the judges for minutes, guided by coverage. `tests/short` runs them on the
//! stored seeds and thousands of mutations in every test run.

// A judge reports a violation by a panic.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[cfg(feature = "api")]
pub mod archives;
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
pub mod site_rules;
#[cfg(feature = "card")]
pub mod webhook;
#[cfg(feature = "api")]
mod world;
pub mod x_payment;

/// Separates the parts of an input. No valid text contains this byte.
pub const SEPARATOR: u8 = 0x1e;
