//! Lists and objects. Both are mutable, as in the script.

use std::collections::HashMap;

use super::ids::{ListId, NameId, ObjectId};
use super::values::Value;

#[derive(Debug, Default)]
pub(crate) struct Heap {
    lists: Vec<Vec<Value>>,
    keys: Vec<Vec<NameId>>,
    members: HashMap<(ObjectId, NameId), Value>,
}

impl Heap {
    /// The number of lists, objects and members.
    pub(crate) fn count(&self) -> usize {
        self.lists.len() + self.keys.len() + self.members.len()
    }

    pub(crate) fn list(&mut self, items: Vec<Value>) -> Value {
        self.lists.push(items);
        Value::List(ListId(u32::try_from(self.lists.len() - 1).unwrap_or(u32::MAX)))
    }

    pub(crate) fn items(&self, list: ListId) -> &[Value] {
        self.lists.get(list.0 as usize).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn set_item(&mut self, list: ListId, at: usize, value: Value) {
        if let Some(item) = self.lists.get_mut(list.0 as usize).and_then(|items| items.get_mut(at)) {
            *item = value;
        }
    }

    pub(crate) fn push_all(&mut self, list: ListId, values: &[Value]) {
        if let Some(items) = self.lists.get_mut(list.0 as usize) {
            items.extend_from_slice(values);
        }
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
