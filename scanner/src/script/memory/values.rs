//! What an expression evaluates to, as far as constants tell. Everything is an index, so nothing is copied, nested or
//! dropped in depth.

use super::ids::{ElementId, FunctionId, ListId, NameId, ObjectId, TextId};

#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(crate) enum Value {
    #[default]
    Unknown,
    Number(f64),
    Flag(bool),
    Text(TextId),
    List(ListId),
    Object(ObjectId),
    /// A member of a list or an object, but which is not known.
    OneOfList(ListId),
    OneOfObject(ObjectId),
    Element(ElementId),
    Function(FunctionId),
    /// A function that creates elements, under a name that the script gave it.
    ElementFactory,
    /// A regular expression that matches one text.
    Pattern {
        text: TextId,
        is_global: bool,
        is_caseless: bool,
    },
    /// A regular expression that matches so many characters of any kind.
    AnyChars(usize),
}

impl Value {
    pub(crate) fn as_text(self) -> Option<TextId> {
        if let Value::Text(text) = self { Some(text) } else { None }
    }

    pub(crate) fn as_number(self) -> Option<f64> {
        if let Value::Number(number) = self { Some(number) } else { None }
    }

    pub(crate) fn as_object(self) -> Option<ObjectId> {
        if let Value::Object(object) = self { Some(object) } else { None }
    }
}

/// Where a value was found, or where one is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) name: NameId,
    pub(crate) base: Base,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A variable, and no member of anything.
    None,
    /// A member of something of which no more than the last name is known.
    Named(NameId),
    Unnamed,
}

/// A value and where it is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) reference: Option<Reference>,
    /// What the reference is a member of.
    pub(crate) owner: Value,
}

impl Operand {
    /// An unknown value that is known by its name.
    pub(crate) fn named(name: NameId) -> Self {
        Self { reference: Some(Reference { name, base: Base::None }), ..Self::default() }
    }

    /// The last name of what it is a member of.
    pub(crate) fn base_name(&self) -> Option<NameId> {
        if let Base::Named(base) = self.reference?.base { Some(base) } else { None }
    }

    /// The variable that holds it, if it is no member of anything.
    pub(crate) fn variable(&self) -> Option<NameId> {
        self.reference.filter(|reference| reference.base == Base::None).map(|reference| reference.name)
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}
