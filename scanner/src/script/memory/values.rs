//! The value of an expression, as far as constants determine it. Everything is an index, so that nothing is
//! copied, nested or dropped recursively.

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
    /// An unknown member of a list or an object.
    OneOfList(ListId),
    OneOfObject(ObjectId),
    Element(ElementId),
    Function(FunctionId),
    /// A function that creates elements, under a name from the script.
    ElementFactory,
    /// A regular expression that matches one text.
    Pattern {
        text: TextId,
        is_global: bool,
        is_caseless: bool,
    },
    /// A regular expression that matches this many characters of any kind.
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

/// Where a value was found or is assigned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    pub(crate) name: NameId,
    pub(crate) base: Base,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Base {
    /// A variable, and not a member of anything.
    None,
    /// A member of an object of which only the last name is known.
    Named(NameId),
    Unnamed,
}

/// A value and where it is stored.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) reference: Option<Reference>,
    /// The object of a member reference.
    pub(crate) owner: Value,
}

impl Operand {
    /// An unknown value that is known by its name.
    pub(crate) fn named(name: NameId) -> Self {
        Self { reference: Some(Reference { name, base: Base::None }), ..Self::default() }
    }

    /// The last name of the object of a member reference.
    pub(crate) fn base_name(&self) -> Option<NameId> {
        if let Base::Named(base) = self.reference?.base { Some(base) } else { None }
    }

    /// The variable that contains it, if it is not a member of anything.
    pub(crate) fn variable(&self) -> Option<NameId> {
        self.reference.filter(|reference| reference.base == Base::None).map(|reference| reference.name)
    }
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}
