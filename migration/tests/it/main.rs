//! Expand, then contract. While a release is rolled out, processes of the previous release run on the new
//! schema. So no migration may remove or reject anything that they need. The reasons are in
//! `docs/decisions/0019-expand-then-contract.md`.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules;
mod schema;
mod statements;
