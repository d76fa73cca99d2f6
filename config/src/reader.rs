//! Reads each setting, records where its value came from, and collects the faults.
//!
//! Written by hand because the libraries for layered settings stop at the first fault.

use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use toml::{Table, Value as Toml};

use crate::fault::{Fault, Faults, Source};
use crate::value::Value;

pub(crate) const DEFAULT_TOML: &str = include_str!("../default.toml");
const DEFAULT_FILE: &str = "handbill.toml";
const PREFIX: &str = "HANDBILL_";
/// Variables of the program that are not settings: the client's, and the path of the settings file.
const NOT_SETTINGS: [&str; 3] = ["HANDBILL_CONFIG", "HANDBILL_TOKEN", "HANDBILL_URL"];
const TEST_PREFIX: &str = "HANDBILL_TEST_";
/// The similarity from which an unknown key is reported with a suggestion.
const LIKENESS_MIN: f64 = 0.7;
const SHOWN_LENGTH_MAX: usize = 100;

/// A setting in effect, as shown by `handbill config`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingLine {
    pub key: &'static str,
    pub value: String,
    pub source: Source,
}

pub(crate) struct Reader {
    defaults: BTreeMap<String, Toml>,
    file: BTreeMap<String, Toml>,
    file_path: PathBuf,
    environment: BTreeMap<String, String>,
    known: BTreeSet<&'static str>,
    lines: Vec<SettingLine>,
    faults: Vec<Fault>,
}

/// A value as given, and its source.
struct SettingValue {
    text: Result<String, &'static str>,
    source: Source,
}

impl Reader {
    pub fn new(file: Option<PathBuf>, environment: impl Iterator<Item = (String, String)>) -> Self {
        let mut reader = Self {
            defaults: BTreeMap::new(),
            file: BTreeMap::new(),
            file_path: file.clone().unwrap_or_else(|| DEFAULT_FILE.into()),
            environment: environment.filter(|(name, _)| may_be_setting(name)).collect(),
            known: BTreeSet::new(),
            lines: Vec::new(),
            faults: Vec::new(),
        };
        reader.defaults = reader.flat(DEFAULT_TOML, &Source::Default);
        let path = reader.file_path.clone();
        match std::fs::read_to_string(&path) {
            Ok(text) => reader.file = reader.flat(&text, &Source::File(path)),
            Err(error) if error.kind() == ErrorKind::NotFound && file.is_none() => {}
            Err(error) => reader.file_fault(&path, error.to_string()),
        }
        reader
    }

    /// A setting that always has a value. `None` means that a fault was recorded.
    pub fn required<T: Value>(&mut self, key: &'static str) -> Option<T> {
        let Some(given) = self.given(key) else {
            self.fault(key, "has no value", "expected one in the built-in defaults");
            return None;
        };
        self.parse(key, given)
    }

    /// A setting that may be unset. An empty string unsets it. `None` may also mean that a fault was
    /// recorded.
    pub fn optional<T: Value>(&mut self, key: &'static str) -> Option<T> {
        match self.given(key).filter(|given| given.text.as_deref() != Ok("")) {
            Some(given) => self.parse(key, given),
            None => {
                self.lines.push(SettingLine { key, value: "(unset)".into(), source: Source::Default });
                None
            }
        }
    }

    /// A setting that is derived from something else while it is unset.
    pub fn derived<T: Value>(
        &mut self,
        key: &'static str,
        from: &'static str,
        derive: impl FnOnce() -> T,
    ) -> T {
        match self.given(key).filter(|given| given.text.as_deref() != Ok("")) {
            // After a fault the derived value is used, so that the other settings are read. Loading fails in
            // the end.
            Some(given) => self.parse(key, given).unwrap_or_else(derive),
            None => {
                let value = derive();
                self.lines.push(SettingLine { key, value: value.show(), source: Source::Derived(from) });
                value
            }
        }
    }

    /// Records a fault of a setting that was already read, such as one that conflicts with another.
    pub fn fault(&mut self, key: &'static str, fault: impl Into<String>, expected: impl Into<String>) {
        let source = self
            .lines
            .iter()
            .find(|line| line.key == key)
            .map_or(Source::Default, |line| line.source.clone());
        self.faults.push(Fault {
            key: key.to_owned(),
            source,
            fault: fault.into(),
            expected: expected.into(),
        });
    }

    /// Returns the value with its lines, or all faults. Keys that were not read are unknown.
    pub fn finish<T>(mut self, read: Option<T>) -> Result<(T, Vec<SettingLine>), Faults> {
        self.report_unknown_keys();
        self.report_unknown_variables();
        match read {
            Some(read) if self.faults.is_empty() => Ok((read, self.lines)),
            _ => Err(Faults(self.faults)),
        }
    }

    #[cfg(test)]
    pub fn known_keys(&self) -> &BTreeSet<&'static str> {
        &self.known
    }

    fn given(&mut self, key: &'static str) -> Option<SettingValue> {
        self.known.insert(key);
        let variable = variable_of(key);
        if let Some(text) = self.environment.get(&variable) {
            return Some(SettingValue {
                text: Ok(text.trim().to_owned()),
                source: Source::Environment(variable),
            });
        }
        if let Some(value) = self.file.get(key) {
            return Some(SettingValue { text: text_of(value), source: Source::File(self.file_path.clone()) });
        }
        self.defaults.get(key).map(|value| SettingValue { text: text_of(value), source: Source::Default })
    }

    fn parse<T: Value>(&mut self, key: &'static str, given: SettingValue) -> Option<T> {
        let given = SettingValue { text: given.text.and_then(in_one_line), ..given };
        let parsed = given.text.as_deref().ok().and_then(T::parse);
        if let Some(value) = parsed {
            self.lines.push(SettingLine { key, value: value.show(), source: given.source });
            return Some(value);
        }
        let fault = match given.text {
            Err(fault) => fault.to_owned(),
            Ok(_) if T::IS_SECRET => "the value (not shown) is invalid".to_owned(),
            Ok(text) => format!("{:?} is invalid", text.chars().take(SHOWN_LENGTH_MAX).collect::<String>()),
        };
        let expected = format!("expected {}", T::EXPECTED);
        self.faults.push(Fault { key: key.to_owned(), source: given.source, fault, expected });
        None
    }

    fn flat(&mut self, text: &str, source: &Source) -> BTreeMap<String, Toml> {
        match text.parse::<Table>() {
            Ok(table) => flatten(table),
            // Only the position, because the error quotes the line, which may hold a secret.
            Err(error) => {
                let line = error.span().map_or(1, |span| 1 + text[..span.start].matches('\n').count());
                self.faults.push(Fault {
                    key: format!("line {line}"),
                    source: source.clone(),
                    fault: "is not valid TOML".to_owned(),
                    expected: "expected lines such as key = \"value\" under a [section]".to_owned(),
                });
                BTreeMap::new()
            }
        }
    }

    fn file_fault(&mut self, path: &Path, fault: String) {
        self.faults.push(Fault {
            key: "settings file".to_owned(),
            source: Source::File(path.to_owned()),
            fault: format!("cannot be read: {fault}"),
            expected: "expected a readable file in --config or HANDBILL_CONFIG".to_owned(),
        });
    }

    fn report_unknown_keys(&mut self) {
        for (key, value) in &self.file {
            let is_section = value.is_table() && self.known.iter().any(|known| is_key_of(known, key));
            if self.known.contains(key.as_str()) || is_section {
                continue;
            }
            self.faults.push(Fault {
                key: shortened(key),
                source: Source::File(self.file_path.clone()),
                fault: "unknown key".to_owned(),
                expected: suggestion(near_miss(&self.known, key).map(str::to_owned)),
            });
        }
    }

    fn report_unknown_variables(&mut self) {
        let known: BTreeSet<String> = self.known.iter().map(|key| variable_of(key)).collect();
        for name in self.environment.keys().filter(|name| !known.contains(*name)) {
            let key = name.trim_start_matches(PREFIX).to_ascii_lowercase().replace("__", ".");
            self.faults.push(Fault {
                key: shortened(&key),
                source: Source::Environment(shortened(name)),
                fault: "unknown key".to_owned(),
                expected: suggestion(near_miss(&self.known, &key).map(variable_of)),
            });
        }
    }
}

fn may_be_setting(name: &str) -> bool {
    name.starts_with(PREFIX) && !name.starts_with(TEST_PREFIX) && !NOT_SETTINGS.contains(&name)
}

/// `api.base_url` is `HANDBILL_API__BASE_URL`.
pub(crate) fn variable_of(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_ascii_uppercase())
}

/// Flattens sections to `section.key`. An empty section stays, so that a misspelled one is reported.
pub(crate) fn flatten(table: Table) -> BTreeMap<String, Toml> {
    let mut flat = BTreeMap::new();
    for (name, value) in table {
        match value {
            Toml::Table(section) if !section.is_empty() => {
                flat.extend(
                    flatten(section).into_iter().map(|(key, value)| (format!("{name}.{key}"), value)),
                );
            }
            value => {
                flat.insert(name, value);
            }
        }
    }
    flat
}

fn text_of(value: &Toml) -> Result<String, &'static str> {
    match value {
        Toml::String(text) => Ok(text.trim().to_owned()),
        Toml::Array(items) => {
            items.iter().map(text_of).collect::<Result<Vec<_>, _>>().map(|items| items.join(","))
        }
        Toml::Table(_) => Err("is a section, not a value"),
        value => Ok(value.to_string()),
    }
}

/// Values are shown in one line, and are used in addresses, headers and file names.
fn in_one_line(text: String) -> Result<String, &'static str> {
    if text.contains(char::is_control) {
        Err("has a control character, such as a line break")
    } else {
        Ok(text)
    }
}

/// An unknown name, escaped to one line and truncated.
fn shortened(name: &str) -> String {
    if name.is_empty() {
        return "\"\"".to_owned();
    }
    name.chars().take(SHOWN_LENGTH_MAX).flat_map(char::escape_debug).collect()
}

fn is_key_of(key: &str, section: &str) -> bool {
    key.strip_prefix(section).is_some_and(|rest| rest.starts_with('.'))
}

fn near_miss(known: &BTreeSet<&'static str>, key: &str) -> Option<&'static str> {
    let likeness = |candidate: &str| strsim::normalized_damerau_levenshtein(candidate, key);
    let nearest = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(nearest) >= LIKENESS_MIN).then_some(nearest)
}

fn suggestion(near_miss: Option<String>) -> String {
    near_miss.map_or_else(
        || "expected one of the keys that `handbill config` lists".to_owned(),
        |near_miss| format!("did you mean {near_miss}?"),
    )
}
