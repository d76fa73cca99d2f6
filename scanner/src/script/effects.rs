//! The effects of a script on the page: text that it shows, markup that it writes, addresses that it fetches,
//! elements that it builds.

pub(crate) mod building;
pub(crate) mod forms;
pub(crate) mod output;
pub(crate) mod properties;
