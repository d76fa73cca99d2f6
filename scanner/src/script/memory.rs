//! What the script holds: strings, values, names and variables.

pub(super) mod texts;
pub(super) mod values;
