//! What an expression comes to, as far as it is told by constants, and the tables that hold what does not fit into
//! a word. Everything is an index, so nothing is copied, nested or dropped in depth.

use std::borrow::Cow;
use std::collections::HashMap;

use super::texts::TextId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct NameId(pub(super) u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ListId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ObjectId(u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct ElementId(pub(super) u32);
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FunctionId(pub(super) u32);

/// One time that a function was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ReadingId(pub(super) u32);

#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub(super) enum Value {
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
    Maker,
    /// A regular expression that stands for one text.
    Pattern {
        text: TextId,
        is_global: bool,
        is_caseless: bool,
    },
    /// A regular expression that stands for so many letters, whichever they are.
    Letters(usize),
}

/// Where a value was found, or where one is put.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) name: NameId,
    pub(super) base: Base,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// A variable, and no member of anything.
    None,
    /// A member of something of which no more than the last name is known.
    Named(NameId),
    Unnamed,
}

/// A value and where it stands.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Operand {
    pub(super) value: Value,
    pub(super) place: Option<Place>,
    /// What the place is a member of.
    pub(super) owner: Value,
}

impl From<Value> for Operand {
    fn from(value: Value) -> Self {
        Self { value, ..Self::default() }
    }
}

/// Names as numbers. Those that are written with escapes are the same as those that are not.
#[derive(Debug, Default)]
pub(super) struct Names<'s> {
    ids: HashMap<Cow<'s, str>, NameId>,
    texts: Vec<Cow<'s, str>>,
}

impl<'s> Names<'s> {
    pub(super) fn id(&mut self, name: Cow<'s, str>) -> NameId {
        if let Some(&id) = self.ids.get(&name) {
            return id;
        }
        let id = NameId(u32::try_from(self.texts.len()).unwrap_or(u32::MAX));
        self.texts.push(name.clone());
        self.ids.insert(name, id);
        id
    }

    pub(super) fn text(&self, id: NameId) -> &str {
        self.texts.get(id.0 as usize).map_or("", |text| text)
    }

    /// The number of a name, if the script has it.
    pub(super) fn known(&self, name: &str) -> Option<NameId> {
        self.ids.get(name).copied()
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.ids.contains_key(name)
    }
}

/// Lists and objects. Both can be written to after they were made, as in the script.
#[derive(Debug, Default)]
pub(super) struct Heap {
    lists: Vec<Vec<Value>>,
    keys: Vec<Vec<NameId>>,
    members: HashMap<(ObjectId, NameId), Value>,
}

impl Heap {
    pub(super) fn list(&mut self, items: Vec<Value>) -> Value {
        self.lists.push(items);
        Value::List(ListId(u32::try_from(self.lists.len() - 1).unwrap_or(u32::MAX)))
    }

    pub(super) fn items(&self, list: ListId) -> &[Value] {
        self.lists.get(list.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn items_mut(&mut self, list: ListId) -> Option<&mut Vec<Value>> {
        self.lists.get_mut(list.0 as usize)
    }

    pub(super) fn object(&mut self) -> ObjectId {
        self.keys.push(Vec::new());
        ObjectId(u32::try_from(self.keys.len() - 1).unwrap_or(u32::MAX))
    }

    pub(super) fn keys(&self, object: ObjectId) -> &[NameId] {
        self.keys.get(object.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub(super) fn member(&self, object: ObjectId, name: NameId) -> Option<Value> {
        self.members.get(&(object, name)).copied()
    }

    pub(super) fn set(&mut self, object: ObjectId, name: NameId, value: Value) {
        if self.members.insert((object, name), value).is_none()
            && let Some(keys) = self.keys.get_mut(object.0 as usize)
        {
            keys.push(name);
        }
    }

    /// The members of an object by their names, in the order of the script.
    pub(super) fn entries(&self, object: ObjectId) -> Vec<(NameId, Value)> {
        let keys = self.keys(object).iter();
        keys.map(|&name| (name, self.member(object, name).unwrap_or_default())).collect()
    }
}

/// Variables. A function's own hide those of the same name outside and go with it.
#[derive(Debug, Default)]
pub(super) struct Scopes {
    bindings: HashMap<NameId, Vec<(u32, Value)>>,
    scopes: Vec<Vec<NameId>>,
    /// Members of things that are no known object, by the last name of the thing.
    members: HashMap<(NameId, NameId), Value>,
}

impl Scopes {
    pub(super) fn enter(&mut self) {
        self.scopes.push(Vec::new());
    }

    pub(super) fn leave(&mut self) {
        for name in self.scopes.pop().unwrap_or_default() {
            if let Some(bindings) = self.bindings.get_mut(&name) {
                bindings.pop();
            }
        }
    }

    pub(super) fn get(&self, name: NameId) -> Option<Value> {
        self.bindings.get(&name)?.last().map(|&(_, value)| value)
    }

    /// Whether a variable belongs to what lies around the function that is being read.
    pub(super) fn is_outer(&self, name: NameId) -> bool {
        let binding = self.bindings.get(&name).and_then(|bindings| bindings.last());
        binding.is_some_and(|&(depth, _)| (depth as usize) < self.scopes.len())
    }

    pub(super) fn declare(&mut self, name: NameId, value: Value) {
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
    pub(super) fn assign(&mut self, name: NameId, value: Value) {
        let bindings = self.bindings.entry(name).or_default();
        match bindings.last_mut() {
            Some((_, held)) => *held = value,
            None => bindings.push((0, value)),
        }
    }

    pub(super) fn member(&self, base: NameId, name: NameId) -> Option<Value> {
        self.members.get(&(base, name)).copied()
    }

    pub(super) fn set_member(&mut self, base: NameId, name: NameId, value: Value) {
        self.members.insert((base, name), value);
    }
}
