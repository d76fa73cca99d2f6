//! Calls of what the language itself defines.

pub(super) mod calls;
pub(super) mod patterns;
