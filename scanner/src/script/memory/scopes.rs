//! Variables. Those of a function shadow outer ones of the same name, and end with it.

use std::collections::HashMap;

use super::ids::NameId;
use super::values::Value;

#[derive(Debug, Default)]
pub(crate) struct Scopes {
    bindings: HashMap<NameId, Vec<(u32, Value)>>,
    scopes: Vec<Vec<NameId>>,
    /// Members of unknown objects, by the last name of the object.
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

    /// Whether a variable belongs to the code around the function that is being read.
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

    pub(crate) fn set(&mut self, name: NameId, value: Value, declares: bool) {
        if declares { self.declare(name, value) } else { self.assign(name, value) }
    }

    /// Sets a variable where it was declared; one that was not is global.
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
