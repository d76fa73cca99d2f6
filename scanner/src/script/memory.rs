//! The state while a script is read: its strings, values, variables and functions, and its effects on the
//! page.

mod choices;
mod collections;
mod elements;
mod functions;
mod heap;
mod ids;
mod json;
mod names;
mod page;
mod scopes;
mod state;
mod strings;
mod texts;
mod uses;
mod values;

pub(crate) use elements::{Child, Element, is_tag};
pub(crate) use functions::Function;
pub(crate) use ids::{ElementId, FunctionId, ListId, NameId, ObjectId, ReadingId, TextId};
pub(crate) use names::Names;
pub(crate) use state::Memory;
pub(crate) use strings::number_text;
pub(crate) use texts::{Record, Seen, Usage};
pub(crate) use values::{Base, Operand, Reference, Value};
