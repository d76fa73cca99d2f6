//! A call and its outcome.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::script::memory::{FunctionId, Memory, NameId, Operand, TextId, Value};

/// Functions by their names.
pub(super) type Table<F> = LazyLock<HashMap<&'static str, F>>;

/// Names that share a function.
pub(super) type Row<'r, F> = (&'r [&'static str], F);

pub(super) fn by_name<F: Copy>(rows: &[Row<F>]) -> HashMap<&'static str, F> {
    rows.iter().flat_map(|&(names, function)| names.iter().map(move |&name| (name, function))).collect()
}

/// A call: the last name of the callee, and the last name of what the callee is a member of.
pub(crate) struct Call<'a> {
    pub(crate) name: &'a str,
    pub(crate) base: &'a str,
    pub(crate) base_name: Option<NameId>,
    pub(crate) callee: Operand,
    pub(crate) arguments: &'a [Value],
    pub(crate) is_new: bool,
}

impl Call<'_> {
    pub(super) fn argument(&self, at: usize) -> Value {
        self.arguments.get(at).copied().unwrap_or_default()
    }

    pub(super) fn text(&self, at: usize) -> Option<TextId> {
        self.argument(at).as_text()
    }

    pub(super) fn number(&self, at: usize) -> Option<f64> {
        self.argument(at).as_number()
    }

    pub(super) fn function(&self, at: usize) -> Option<FunctionId> {
        if let Value::Function(function) = self.argument(at) { Some(function) } else { None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Map,
    ForEach,
    Reduce,
    /// The results are joined to one string.
    Join,
    /// Called once for each item that the function may pick, without arguments.
    Choices,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Value(Operand),
    /// The evaluator has to call a function of the script.
    Call {
        function: FunctionId,
        arguments: Vec<Value>,
    },
    /// The evaluator has to call a function of the script for each item.
    CallEach {
        function: FunctionId,
        items: Vec<Value>,
        purpose: Purpose,
        first: Value,
    },
}

impl Outcome {
    pub(super) fn call(function: FunctionId, arguments: &[Value]) -> Self {
        Outcome::Call { function, arguments: arguments.to_vec() }
    }

    pub(super) fn map(function: FunctionId, items: Vec<Value>) -> Self {
        Outcome::CallEach { function, items, purpose: Purpose::Map, first: Value::Unknown }
    }
}

impl<T: Into<Operand>> From<T> for Outcome {
    fn from(value: T) -> Self {
        Outcome::Value(value.into())
    }
}

/// The result of calls for unknown items, as if there were one.
pub(crate) fn result_of_unknown(memory: &mut Memory, function: FunctionId, purpose: Purpose) -> Operand {
    let result = memory.functions.result_of(function).unwrap_or_default();
    match purpose {
        Purpose::Map => memory.heap.list(vec![result]).into(),
        Purpose::ForEach | Purpose::Choices => Operand::default(),
        Purpose::Reduce | Purpose::Join => result.into(),
    }
}
