//! Settings: a file, then the byte 0x1E and lines of the environment, `NAME=value`. Each error message names
//! its setting, no secret is printed, and accepted settings are printed in a form that can be loaded again.

use std::fmt::Write;
use std::io::Write as _;
use std::path::Path;

use config::{Faults, Role, SettingLine, Settings, Source, Sources, load};
use tempfile::NamedTempFile;
use toml::{Table, Value};
use url::Url;

use crate::SEPARATOR;

/// Stands for a secret in an input.
const MARK: &str = "s3cr3t";
const SECRET_KEYS: [&str; 7] = [
    "storage.access_key_id",
    "storage.secret_access_key",
    "secrets.signing",
    "secrets.links",
    "secrets.operator_password",
    "card.webhook_secret",
    "card.secret_key",
];
const ADDRESS_KEYS: [&str; 3] = ["database.url", "queue.url", "redis.url"];
const LIST_KEYS: [&str; 6] = [
    "api.trusted_proxies",
    "edge.trusted_proxies",
    "edge.font_hosts",
    "edge.script_hosts",
    "edge.image_hosts",
    "edge.frame_hosts",
];

type Env = Vec<(String, String)>;

pub fn judge(input: &[u8]) -> bool {
    let (file, env) = match input.iter().position(|byte| *byte == SEPARATOR) {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &[][..]),
    };
    let env: Env = String::from_utf8_lossy(env)
        .lines()
        .filter_map(|line| line.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let path = written(file);
    let loaded = load(Sources { file: Some(path.path().to_owned()), env: env.clone().into_iter() });
    let is_secret_safe = marks_are_secret(file, &env);
    match loaded {
        Ok(settings) => {
            judge_settings(&settings, is_secret_safe);
            true
        }
        Err(faults) => {
            judge_faults(&faults, path.path(), is_secret_safe);
            false
        }
    }
}

fn written(text: &[u8]) -> NamedTempFile {
    let mut file = NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    file
}

fn judge_faults(faults: &Faults, path: &Path, is_secret_safe: bool) {
    let message = faults.to_string();
    assert!(!faults.0.is_empty());
    assert_eq!(message.split('\n').count(), faults.0.len(), "a fault is a line: {message:?}");
    assert!(!message.chars().any(|letter| letter.is_control() && letter != '\n'), "{message:?}");
    for fault in &faults.0 {
        assert!(!fault.key.is_empty() && !fault.fault.is_empty() && !fault.expected.is_empty(), "{fault:?}");
    }
    let message = message.replace(&path.display().to_string(), "");
    assert!(!is_secret_safe || !message.contains(MARK), "a secret is printed: {message}");
}

fn judge_settings(settings: &Settings, is_secret_safe: bool) {
    let lines = settings.describe();
    for line in lines {
        assert!(!line.value.chars().any(char::is_control), "{} is shown in more than a line", line.key);
    }
    let printed = format!("{:?}", lines.iter().map(|line| (line.key, &line.value)).collect::<Vec<_>>());
    let debug = format!("{settings:?}");
    assert!(!is_secret_safe || !printed.contains(MARK), "a secret is shown: {printed}");
    assert!(!is_secret_safe || !debug.contains(MARK), "a secret is in Debug: {debug}");
    for role in [Role::Serve, Role::Api, Role::Edge, Role::Worker] {
        if let Err(faults) = settings.check_role(role) {
            assert_eq!(faults.to_string().split('\n').count(), faults.0.len(), "{faults}");
        }
    }
    let text = as_file(lines);
    let path = written(text.as_bytes());
    let again = load(Sources { file: Some(path.path().to_owned()), env: std::iter::empty() });
    let again = again.unwrap_or_else(|faults| panic!("shown settings are refused: {faults}\n{text}"));
    for (line, again) in lines.iter().zip(again.describe()) {
        assert_eq!((line.key, &line.value), (again.key, &again.value));
    }
}

/// Formats the printed settings as a settings file.
fn as_file(lines: &[SettingLine]) -> String {
    let mut text = String::new();
    for SettingLine { key, value, source } in lines {
        let value = match value.as_str() {
            "(unset)" if *source == Source::Default => continue,
            "(hidden)" if SECRET_KEYS.contains(key) => "a secret of more than thirty-two bytes",
            "(none)" if LIST_KEYS.contains(key) => "",
            value => value,
        };
        writeln!(text, "{key} = {}", Value::from(value)).unwrap();
    }
    text
}

/// Whether every mark in the input is in the position of a secret, so that none may be printed.
fn marks_are_secret(file: &[u8], env: &Env) -> bool {
    let file = String::from_utf8_lossy(file);
    let all = file.matches(MARK).count()
        + env
            .iter()
            .map(|(name, value)| name.matches(MARK).count() + value.matches(MARK).count())
            .sum::<usize>();
    let of_env: usize = env
        .iter()
        .filter_map(|(name, value)| Some((key_of(name)?, value)))
        .map(|(key, value)| marks_of(&key, value))
        .sum();
    // No value of an invalid TOML file is printed.
    let of_file = file.parse::<Table>().map_or_else(|_| file.matches(MARK).count(), |table| marks_in(&table));
    all == of_env + of_file
}

fn key_of(name: &str) -> Option<String> {
    Some(name.strip_prefix("HANDBILL_")?.to_ascii_lowercase().replace("__", "."))
}

fn marks_in(table: &Table) -> usize {
    let sections = table.iter().filter_map(|(name, value)| Some((name, value.as_table()?)));
    sections
        .flat_map(|(name, section)| section.iter().map(move |(key, value)| (format!("{name}.{key}"), value)))
        .filter_map(|(key, value)| Some(marks_of(&key, value.as_str()?)))
        .sum()
}

fn marks_of(key: &str, value: &str) -> usize {
    if SECRET_KEYS.contains(&key) {
        return value.matches(MARK).count();
    }
    if !ADDRESS_KEYS.contains(&key) {
        return 0;
    }
    let Ok(address) = Url::parse(value.trim()) else { return 0 };
    if address.scheme() == "sqlite" {
        return 0;
    }
    [address.password(), address.query()]
        .into_iter()
        .flatten()
        .map(|secret| secret.matches(MARK).count())
        .sum()
}
