//! What an expression comes to, as far as it is told by constants, and the tables that hold what does not fit into
//! a word. Everything is an index, so nothing is copied, nested or dropped in depth.

use std::borrow::Cow;
use std::collections::HashMap;

use super::texts::TextId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct NameId(pub(crate) u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ListId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ObjectId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ElementId(pub(crate) u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct FunctionId(pub(crate) u32);

/// One time that a function was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReadingId(pub(crate) u32);

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
    /// What makes elements, by a name that the script gave it.
    ElementFactory,
    /// A regular expression that stands for one text.
    Pattern {
        text: TextId,
        is_global: bool,
        is_caseless: bool,
    },
    /// A regular expression that stands for so many letters, whichever they are.
    AnyChars(usize),
}

/// Where a value was found, or where one is put.
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

/// A value and where it stands.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operand {
    pub(crate) value: Value,
    pub(crate) reference: Option<Reference>,
    /// What the place is a member of.
    pub(crate) owner: Value,
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

/// Names as numbers. Those that are written with escapes are the same as those that are not.
#[derive(Debug, Default)]
pub(crate) struct Names<'s> {
    ids: HashMap<Cow<'s, str>, NameId>,
    texts: Vec<Cow<'s, str>>,
}

impl<'s> Names<'s> {
    pub(crate) fn id(&mut self, name: Cow<'s, str>) -> NameId {
        if let Some(&id) = self.ids.get(&name) {
            return id;
        }
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    pub(crate) fn text(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// The number of a name, if the script has it.
    pub(crate) fn known(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }
}

/// Lists and objects. Both can be written to after they were made, as in the script.
#[derive(Debug, Default)]
pub(crate) struct Heap {
    lists: Vec<Vec<Value>>,
    keys: Vec<Vec<NameId>>,
    members: HashMap<(ObjectId, NameId), Value>,
}

impl Heap {
    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        self.lists.push(items);
        Value::List(ListId(u32::try_from(self.lists.len() - 1).unwrap_or(u32::MAX)))
    }

    pub(crate) fn items(&self, list: ListId) -> &[Value] {
        self.lists.get(list.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn items_mut(&mut self, list: ListId) -> Option<&mut Vec<Value>> {
        self.lists.get_mut(list.0 as usize)
    }

    pub(crate) fn object(&mut self) -> ObjectId {
        self.keys.push(Vec::new());
        ObjectId(u32::try_from(self.keys.len() - 1).unwrap_or(u32::MAX))
    }

    pub(crate) fn keys(&self, object: ObjectId) -> &[NameId] {
        self.keys.get(object.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn member(&self, object: ObjectId, name: NameId) -> Option<Value> {
        self.members.get(&(object, name)).copied()
    }

    pub(crate) fn set(&mut self, object: ObjectId, name: NameId, value: Value) {
        if self.members.insert((object, name), value).is_none()
            && let Some(keys) = self.keys.get_mut(object.0 as usize)
        {
            keys.push(name);
        }
    }

    /// The members of an object by their names, in the order of the script.
    pub(crate) fn entries(&self, object: ObjectId) -> Vec<(NameId, Value)> {
        let keys = self.keys(object).iter();
        keys.map(|&name| (name, self.member(object, name).unwrap_or_default())).collect()
    }
}

/// Variables. A function's own hide those of the same name outside and go with it.
#[derive(Debug, Default)]
pub(crate) struct Scopes {
    bindings: HashMap<NameId, Vec<(u32, Value)>>,
    scopes: Vec<Vec<NameId>>,
    /// Members of things that are no known object, by the last name of the thing.
    members: HashMap<(NameId, NameId), Value>,
}

impl Scopes {
    pub(crate) fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(crate) fn leave(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(bindings) = self.bindings.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    pub(crate) fn get(&self, name: NameId) -> Option<Value> {
        self.bindings.get(&name)?.last().map(|&(_, value)| value)
    }

    /// Whether a variable belongs to what lies around the function that is being read.
    pub(crate) fn is_outer(&self, name: NameId) -> bool {
        let binding = self.bindings.get(&name).and_then(|bindings| bindings.last());
        binding.is_some_and(|&(depth, _)| (depth as usize) < self.scopes.len())
    }

    pub(crate) fn declare(&mut self, name: NameId, value: Value) {
        let depth = u32::try_from(self.scopes.len()).unwrap_or(u32::MAX);
        let bindings = self.bindings.entry(name).or_default();
        if let Some((_, held)) = bindings.last_mut().filter(|(scope, _)| *scope == depth) {
            *held = value;
            return;
        }
        bindings.push((depth, value));
        if let Some(scope) = self.scopes.last_mut() {
            scope.push(name);
        }
    }

    /// Sets a variable where it was declared; one that was not is everybody's.
    pub(crate) fn assign(&mut self, name: NameId, value: Value) {
        let bindings = self.bindings.entry(name).or_default();
        match bindings.last_mut() {
            Some((_, held)) => *held = value,
            None => bindings.push((0, value)),
        }
    }

    pub(crate) fn member(&self, base: NameId, name: NameId) -> Option<Value> {
        self.members.get(&(base, name)).copied()
    }

    pub(crate) fn set_member(&mut self, base: NameId, name: NameId, value: Value) {
        self.members.insert((base, name), value);
    }
}
