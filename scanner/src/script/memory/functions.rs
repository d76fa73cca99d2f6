//! Functions that the script defines. Each is read once without arguments, and may be called with known ones.

use std::collections::HashMap;

use super::ids::{FunctionId, ReadingId};
use super::values::Value;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Function {
    /// The position of its parameters.
    pub(crate) params: usize,
    pub(crate) body: usize,
    pub(crate) is_block: bool,
    pub(crate) tokens: usize,
    /// The result if its arguments are unknown.
    pub(crate) result: Option<Value>,
    pub(crate) is_read: bool,
    pub(crate) has_literals: bool,
    pub(crate) was_called: bool,
    /// The number of items that it picks from. Its result is one of as many.
    pub(crate) choices: usize,
    pub(crate) is_scheduled: bool,
}

/// One time that a function was read without a call.
#[derive(Clone, Copy, Debug)]
struct Reading {
    function: FunctionId,
    /// It picked the current item, so that calls with other items do not supersede it.
    is_kept: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Functions {
    list: Vec<Function>,
    by_params: HashMap<usize, FunctionId>,
    readings: Vec<Reading>,
}

impl Functions {
    /// The function whose parameters are at a position.
    pub(crate) fn at(&self, params: usize) -> Option<FunctionId> {
        self.by_params.get(&params).copied()
    }

    pub(crate) fn add(&mut self, function: Function) -> FunctionId {
        let id = FunctionId(u32::try_from(self.list.len()).unwrap_or(u32::MAX));
        self.by_params.insert(function.params, id);
        self.list.push(function);
        id
    }

    pub(crate) fn get(&self, id: FunctionId) -> Option<&Function> {
        self.list.get(id.0 as usize)
    }

    pub(crate) fn get_mut(&mut self, id: FunctionId) -> Option<&mut Function> {
        self.list.get_mut(id.0 as usize)
    }

    /// The result of a function if its arguments are unknown.
    pub(crate) fn result_of(&self, id: FunctionId) -> Option<Value> {
        self.get(id)?.result
    }

    /// Whether a call may return an element: the function does, or was not read yet.
    pub(crate) fn may_return_element(&self, id: FunctionId) -> bool {
        self.get(id).is_some_and(|function| match function.result {
            Some(result) => matches!(result, Value::Element(_)),
            None => !function.is_read,
        })
    }

    pub(crate) fn mark_called(&mut self, id: FunctionId) {
        if let Some(function) = self.get_mut(id) {
            function.was_called = true;
        }
    }

    pub(crate) fn add_reading(&mut self, function: FunctionId) -> ReadingId {
        self.readings.push(Reading { function, is_kept: false });
        ReadingId(u32::try_from(self.readings.len() - 1).unwrap_or(u32::MAX))
    }

    /// Records that the reading picked the current item.
    pub(crate) fn keep_reading(&mut self, reader: Option<ReadingId>) {
        if let Some(reading) = reader.and_then(|reader| self.readings.get_mut(reader.0 as usize)) {
            reading.is_kept = true;
        }
    }

    /// Whether a reading was followed by calls of its function.
    pub(super) fn is_superseded(&self, reader: Option<ReadingId>) -> bool {
        let reading = reader.and_then(|reader| self.readings.get(reader.0 as usize));
        let function = reading.filter(|reading| !reading.is_kept).map(|reading| reading.function);
        function.and_then(|function| self.get(function)).is_some_and(|function| function.was_called)
    }
}
