//! Operations on whole lists and objects, as far as the allowance for copying lasts.

use super::ids::{ListId, NameId, ObjectId};
use super::state::Memory;
use super::values::Value;

impl Memory<'_> {
    pub(crate) fn copy_items(&mut self, list: ListId) -> Vec<Value> {
        let len = self.heap.items(list).len();
        if self.budget.may_copy_items(len) { self.heap.items(list).to_vec() } else { Vec::new() }
    }

    pub(crate) fn copy_entries(&mut self, object: ObjectId) -> Vec<(NameId, Value)> {
        let count = self.heap.keys(object).len();
        if self.budget.may_copy(count) { self.heap.entries(object) } else { Vec::new() }
    }

    /// The values that this may be one of, or the value itself.
    pub(crate) fn alternatives(&mut self, value: Value) -> Vec<Value> {
        match value {
            Value::OneOfList(list) => self.copy_items(list),
            Value::OneOfObject(object) => self.copy_values(object),
            value => vec![value],
        }
    }

    pub(crate) fn copy_values(&mut self, object: ObjectId) -> Vec<Value> {
        self.copy_entries(object).into_iter().map(|(_, value)| value).collect()
    }

    /// Copies all members of one object into another.
    pub(crate) fn copy_members(&mut self, from: ObjectId, to: ObjectId) {
        for (name, value) in self.copy_entries(from) {
            self.heap.set(to, name, value);
        }
    }

    /// A list of this many unknown items.
    pub(crate) fn list_of(&mut self, item: Value, count: usize) -> Value {
        let items = if self.budget.may_copy_items(count) { vec![item; count] } else { Vec::new() };
        self.heap.list(items)
    }

    /// A member of an object by its written name, if the script has that name.
    pub(crate) fn member_named(&self, object: ObjectId, name: &str) -> Option<Value> {
        self.heap.member(object, self.names.known(name)?)
    }

    /// An item of a list at an unknown index.
    pub(crate) fn one_of_list(&mut self, list: ListId) -> Value {
        let item = self.choices.pick(self.heap.items(list).iter().copied());
        item.unwrap_or(Value::OneOfList(list))
    }

    /// The same for an object.
    pub(crate) fn one_of_object(&mut self, object: ObjectId) -> Value {
        let member = |&key: &NameId| self.heap.member(object, key).unwrap_or_default();
        let item = self.choices.pick(self.heap.keys(object).iter().map(member));
        item.unwrap_or(Value::OneOfObject(object))
    }

    /// Records that an item is read from a variable that may contain a list later.
    pub(crate) fn note_lookup(&mut self, name: Option<NameId>) {
        if name.is_some_and(|name| self.choices.collections.contains(&name)) {
            self.literals_read += 1;
            self.choices.note(1);
        }
    }
}
