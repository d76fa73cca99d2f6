//! Methods of lists.

use std::sync::LazyLock;

use super::call::{Call, Outcome, Purpose, Table, by_name, result_of_unknown};
use crate::script::memory::{ListId, Memory, Value};

/// The number of indices that `keys` lists. Pages for people need no more.
const KEYS_MAX: usize = 1_000;

type ListMethod = fn(&mut Memory, &Call, ListId) -> Option<Outcome>;

pub(super) fn call(memory: &mut Memory, call: &Call, list: ListId) -> Option<Outcome> {
    METHODS.get(call.name).and_then(|method| method(memory, call, list))
}

static METHODS: Table<ListMethod> = LazyLock::new(|| {
    by_name::<ListMethod>(&[
        (&["slice", "filter", "sort", "flat", "toSorted", "values"], |_, _, list| {
            Some(Value::List(list).into())
        }),
        (&["find", "pop", "shift", "at"], |memory, _, list| Some(memory.one_of_list(list).into())),
        (&["join"], joined),
        (&["toString"], |memory, _, list| Some(Value::Text(memory.text_of(Value::List(list), ",")).into())),
        (&["reverse", "toReversed"], |memory, _, list| {
            let mut items = memory.copy_items(list);
            items.reverse();
            Some(memory.heap.list(items).into())
        }),
        (&["concat"], concatenated),
        (&["push", "unshift"], |memory, call, list| {
            memory.heap.push_all(list, call.arguments);
            Some(Value::Unknown.into())
        }),
        (&["fill"], |memory, call, list| {
            let count = memory.heap.items(list).len();
            Some(memory.list_of(call.argument(0), count).into())
        }),
        (&["keys"], |memory, _, list| {
            let count = memory.heap.items(list).len().min(KEYS_MAX);
            Some(memory.heap.list((0..count).map(|at| Value::Number(at as f64)).collect()).into())
        }),
        (&["entries"], entries),
        (&["map", "flatMap", "forEach", "reduce"], call_each),
    ])
});

fn joined(memory: &mut Memory, call: &Call, list: ListId) -> Option<Outcome> {
    let by = match call.text(0) {
        Some(by) => memory.flat(by)?,
        None => ",".to_owned(),
    };
    memory.consume_all(call.arguments);
    let items = memory.copy_items(list);
    Some(Value::Text(memory.join(&items, &by)).into())
}

fn concatenated(memory: &mut Memory, call: &Call, list: ListId) -> Option<Outcome> {
    let mut items = memory.copy_items(list);
    for &more in call.arguments {
        match more {
            Value::List(more) => items.extend(memory.copy_items(more)),
            one => items.push(one),
        }
    }
    Some(memory.heap.list(items).into())
}

fn entries(memory: &mut Memory, _: &Call, list: ListId) -> Option<Outcome> {
    let items = memory.copy_items(list).into_iter().enumerate();
    let pairs = items.map(|(at, item)| memory.heap.list(vec![Value::Number(at as f64), item])).collect();
    Some(memory.heap.list(pairs).into())
}

fn call_each(memory: &mut Memory, call: &Call, list: ListId) -> Option<Outcome> {
    match call.function(0) {
        Some(function) => {
            let items = memory.copy_items(list);
            Some(Outcome::CallEach { function, items, purpose: purpose(call.name), first: call.argument(1) })
        }
        // `map(Number)` and similar calls only convert the items.
        None if call.name == "map" => {
            let items = memory.copy_items(list);
            Some(memory.heap.list(items).into())
        }
        None => None,
    }
}

/// `map` and the like over unknown items.
pub(super) fn call_on_unknown(memory: &mut Memory, call: &Call) -> Option<Outcome> {
    if call.name == "find" {
        memory.note_lookup(call.base_name);
    }
    if !matches!(call.name, "map" | "flatMap" | "forEach" | "reduce") {
        return None;
    }
    Some(result_of_unknown(memory, call.function(0)?, purpose(call.name)).into())
}

fn purpose(name: &str) -> Purpose {
    match name {
        "forEach" => Purpose::ForEach,
        "reduce" => Purpose::Reduce,
        _ => Purpose::Map,
    }
}
