//! Custom properties that a page uses as constants, with one value everywhere.

use std::borrow::Cow;
use std::collections::HashMap;

use super::sheet::Rule;

const VARIABLES_MAX: usize = 20_000;
const VALUE_BYTES_MAX: usize = 300;
/// The number of uses in one value, and of nested values.
const USES_MAX: usize = 8;

#[derive(Debug, Default)]
pub(super) struct Variables {
    /// `None` for a property with several values.
    values: HashMap<String, Option<String>>,
}

impl Variables {
    pub(super) fn of(rules: &[Rule<'_>]) -> Self {
        let mut variables = Self::default();
        for text in rules.iter().flat_map(|rule| &rule.declarations).filter(|text| text.starts_with("--")) {
            let Some((name, value)) = text.split_once(':') else { continue };
            let (name, value) = (name.trim(), value.trim());
            if value.len() > VALUE_BYTES_MAX || variables.values.len() >= VARIABLES_MAX {
                continue;
            }
            let known = variables.values.entry(name.to_owned()).or_insert_with(|| Some(value.to_owned()));
            if known.as_deref() != Some(value) {
                *known = None;
            }
        }
        variables
    }

    /// Replaces each `var(…)` in a value. `None` if a value is not known.
    pub(super) fn put_into<'v>(&self, value: &'v str) -> Option<Cow<'v, str>> {
        let mut value = Cow::Borrowed(value);
        for _ in 0..USES_MAX {
            let Some(start) = value.find("var(") else { return Some(value) };
            let rest = value.get(start + 4..)?;
            let end = end_of(rest)?;
            let (name, fallback) = match rest.get(..end)?.split_once(',') {
                Some((name, fallback)) => (name, Some(fallback)),
                None => (rest.get(..end)?, None),
            };
            let known = match self.values.get(name.trim()) {
                Some(known) => known.as_deref(),
                None => fallback,
            };
            value = Cow::Owned(format!("{}{}{}", value.get(..start)?, known?, rest.get(end + 1..)?));
        }
        None
    }
}

/// The matching closing bracket.
fn end_of(rest: &str) -> Option<usize> {
    let mut deep = 0_usize;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'(' => deep += 1,
            b')' if deep == 0 => return Some(at),
            b')' => deep -= 1,
            _ => {}
        }
    }
    None
}
