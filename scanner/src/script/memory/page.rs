//! The effects of a script on the page, each with its position among the strings.

use super::elements::Elements;
use super::ids::TextId;

#[derive(Debug, Default)]
pub(crate) struct Page {
    /// The arguments of all `document.write` calls, joined.
    pub(crate) written: Option<TextId>,
    pub(crate) shown: Vec<TextId>,
    pub(crate) titles: Vec<TextId>,
    pub(crate) fetched: Vec<(u32, String)>,
    /// Scripts and data inside of the script.
    pub(crate) scripts: Vec<(u32, String)>,
    pub(crate) data: Vec<(u32, String)>,
    pub(crate) elements: Elements,
    /// The numbers of objects that were checked for descriptions of fields, and of fields that they describe.
    pub(crate) objects_checked: usize,
    pub(crate) fields_described: usize,
}
