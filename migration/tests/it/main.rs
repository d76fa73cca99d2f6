//! Expand, then contract: while a release is rolled out, processes of the one before run on the new schema, so no change
//! may take away or refuse what they lean on. `docs/decisions/0019-expand-then-contract.md` has the reasons.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rules;
mod schema;
mod statements;
