//! What a script did to the page, each with its position among the strings.

use super::elements::Elements;
use super::ids::TextId;

#[derive(Debug, Default)]
pub(crate) struct Page {
    /// All that `document.write` was given.
    pub(crate) written: Option<TextId>,
    pub(crate) shown: Vec<TextId>,
    pub(crate) titles: Vec<TextId>,
    pub(crate) fetched: Vec<(u32, String)>,
    /// Scripts and data within the script.
    pub(crate) scripts: Vec<(u32, String)>,
    pub(crate) data: Vec<(u32, String)>,
    pub(crate) elements: Elements,
    /// Objects that were checked for descriptions of fields, and fields that they described.
    pub(crate) objects_checked: usize,
    pub(crate) fields_described: usize,
}
