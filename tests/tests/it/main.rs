//! The service as its users see it, a file per chapter of the specification.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod accounts;
mod artifacts;
mod errors;
mod expectations;
mod faults;
mod moderation;
mod outages;
mod payment;
mod program;
mod publish;
mod schedules;
mod serving;
mod simultaneous;
