//! What the script does to the page.

pub(super) mod building;
pub(super) mod described;
pub(super) mod elements;
pub(super) mod sinks;
