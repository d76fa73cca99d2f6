//! Which statements do no harm to processes of the release before. What is not known to be harmless is
//! refused.

use std::collections::{BTreeSet, HashSet};

use migration::Migrator;
use sea_orm_migration::MigratorTrait;

use crate::statements::{Change, changes};

/// A statement that breaks a rule and may stay: the change, how the statement begins, and why it does no
/// harm.
const EXCEPTIONS: [(&str, &str, &str); 13] = [
    (
        "m0003_daily_views",
        "CREATE INDEX versions_by_account ON versions",
        "it landed before anybody had a database to upgrade",
    ),
    (
        "m0006_indexes_in_use",
        "CREATE INDEX IF NOT EXISTS {name} ON {on}",
        "SQLite's way, where one process has the file; PostgreSQL has its own, with CONCURRENTLY",
    ),
    ("m0006_indexes_in_use", "DROP INDEX CONCURRENTLY {name}", "the index is half built, so nobody uses it"),
    (
        "m0023_route_changes",
        "CREATE FUNCTION record_route_change()",
        "only the triggers of the same change call it",
    ),
    (
        "m0023_route_changes",
        "CREATE TRIGGER routes_",
        "it adds a row to a new table, which no older process reads and nothing can refuse",
    ),
    (
        "m0026_former_versions",
        "CREATE FUNCTION record_former_version()",
        "only the trigger of the same change calls it",
    ),
    (
        "m0026_former_versions",
        "CREATE TRIGGER routes_repointed",
        "it replaces a row of a new table, which no older process reads and nothing can refuse",
    ),
    (
        "m0035_monthly_views",
        "CREATE FUNCTION add_to_monthly_views()",
        "only the trigger of the same change calls it",
    ),
    (
        "m0035_monthly_views",
        "CREATE TRIGGER daily_views_",
        "it adds to a row of a new table, which no older process reads and nothing can refuse",
    ),
    ("m0035_statistics", "ANALYZE sqlite_schema", "it reads no table of ours"),
    ("m0035_statistics", "DELETE FROM sqlite_stat1", "only the query planner reads it"),
    ("m0035_statistics", "INSERT INTO sqlite_stat1", "only the query planner reads it"),
    (
        "m0036_days_without_views_index",
        "DROP INDEX IF EXISTS daily_views_of_pages",
        "older processes read the same rows through `daily_views_by_account`",
    ),
];

/// Types of the schema builder. These rules read only SQL text, so a change must not use the builder.
const BUILDER: [&str; 4] = ["Table", "Index", "ForeignKey", "Alias"];

#[test]
fn every_change_only_expands_the_schema() {
    let mut faults = Vec::new();
    let mut used = BTreeSet::new();
    for change in changes() {
        let mut made = HashSet::new();
        for statement in &change.statements {
            let Some(fault) = fault_of(statement, &mut made) else { continue };
            match exception(&change, statement) {
                Some(exception) => {
                    used.insert(exception);
                }
                None => faults.push(format!("{}: {fault}:\n    {statement}", change.name)),
            }
        }
    }
    assert!(
        faults.is_empty(),
        "processes of the release before may run while these changes are made; see \
         docs/decisions/0019-expand-then-contract.md\n{}",
        faults.join("\n")
    );
    assert_eq!(used.len(), EXCEPTIONS.len(), "an exception is needed no more");
}

#[test]
fn every_migration_is_checked_and_uses_plain_sql() {
    let changes = changes();
    let names: Vec<_> = changes.iter().map(|change| change.name.clone()).collect();
    let history: Vec<_> = Migrator::migrations().iter().map(|change| change.name().to_owned()).collect();
    assert_eq!(names, history);
    for change in &changes {
        let built = change.words.iter().find(|word| BUILDER.contains(&word.as_str()));
        assert_eq!(built, None, "{} builds what it does; write it as text", change.name);
        // m0006 has its tables and columns in a list, and its statements build those of later changes too.
        let is_read = !change.statements.is_empty() || change.words.iter().any(|word| word == "build_in_use");
        assert!(is_read, "{} has no statement that could be read", change.name);
    }
}

#[test]
fn statements_that_break_older_processes_are_detected() {
    let harmful = [
        "DROP TABLE versions",
        "DROP INDEX versions_by_account",
        "TRUNCATE versions",
        "DELETE FROM versions",
        "UPDATE versions SET seq = 1",
        "INSERT INTO versions (id) VALUES (1)",
        "ALTER TABLE versions RENAME TO editions",
        "ALTER TABLE versions RENAME COLUMN seq TO number",
        "ALTER TABLE versions DROP COLUMN seq",
        "ALTER TABLE versions DROP CONSTRAINT versions_pk",
        "ALTER TABLE versions ALTER COLUMN seq TYPE BIGINT",
        "ALTER TABLE versions ALTER COLUMN seq SET NOT NULL",
        "ALTER TABLE versions ADD CONSTRAINT versions_seq CHECK (seq > 0)",
        "ALTER TABLE versions ADD COLUMN note TEXT NOT NULL",
        "ALTER TABLE versions ADD COLUMN note TEXT UNIQUE",
        "ALTER TABLE versions ADD COLUMN parent TEXT REFERENCES versions (id)",
        "ALTER TABLE versions ADD COLUMN a TEXT, DROP COLUMN b",
        "CREATE INDEX versions_by_note ON versions (note)",
        "CREATE UNIQUE INDEX CONCURRENTLY versions_by_note ON versions (note)",
        "CREATE TRIGGER before_versions BEFORE INSERT ON versions",
        "GRANT SELECT ON versions TO somebody",
        "DO $$ BEGIN DROP TABLE versions",
        "SELECT drop_everything()",
    ];
    for statement in harmful {
        assert!(fault_of(statement, &mut HashSet::new()).is_some(), "{statement}");
    }
}

#[test]
fn purely_additive_statements_are_allowed() {
    let harmless = [
        "CREATE TABLE notes ( id TEXT NOT NULL, CONSTRAINT notes_pk PRIMARY KEY (id) )",
        "CREATE UNIQUE INDEX notes_by_text ON notes (text)",
        "INSERT INTO notes (id) VALUES (1)",
        "ALTER TABLE versions ADD COLUMN note TEXT",
        "ALTER TABLE versions ADD COLUMN tries INTEGER NOT NULL DEFAULT 0",
        "CREATE INDEX CONCURRENTLY IF NOT EXISTS versions_by_note ON versions (note)",
        "SET LOCAL lock_timeout = '3s'",
        "SELECT pg_try_advisory_lock(1)",
        "SELECT pg_advisory_unlock(1)",
    ];
    let mut made = HashSet::new();
    for statement in harmless {
        assert_eq!(fault_of(statement, &mut made), None, "{statement}");
    }
}

fn exception(change: &Change, statement: &str) -> Option<&'static str> {
    let of_change = EXCEPTIONS.into_iter().filter(|(name, ..)| *name == change.name);
    of_change.map(|(_, begins, _)| begins).find(|begins| statement.starts_with(begins))
}

/// What is wrong with a statement, if anything. `made` are the tables that the same change has made, which no
/// older process knows.
fn fault_of(statement: &str, made: &mut HashSet<String>) -> Option<&'static str> {
    let words = statement.split([' ', '(']).filter(|word| !["", "IF", "NOT", "EXISTS"].contains(word));
    let words: Vec<&str> = words.collect();
    match words.as_slice() {
        ["CREATE", "TABLE", table, ..] => {
            made.insert((*table).to_owned());
            None
        }
        ["CREATE", "INDEX" | "UNIQUE", ..] => fault_of_index(&words, made),
        ["INSERT", "INTO", table, ..] if made.contains(*table) => None,
        ["INSERT" | "UPDATE" | "DELETE", ..] => {
            Some("it changes rows that older processes have in use; let a job do it")
        }
        ["ALTER", "TABLE", table, ..] if made.contains(*table) => None,
        ["ALTER", "TABLE", _, "ADD", "COLUMN", ..] => fault_of_column(statement),
        ["ALTER", ..] => Some("it changes what older processes know"),
        ["DROP" | "TRUNCATE", ..] => Some("it takes away what older processes lean on"),
        ["SET", setting, ..]
            if is_patience(setting) || words.get(2).is_some_and(|word| is_patience(word)) =>
        {
            None
        }
        ["SELECT", "SELECT" | "FROM" | "pg_try_advisory_lock" | "pg_advisory_unlock", ..] => None,
        _ => Some("it is not known to do no harm; if it does none, say so in this test"),
    }
}

fn fault_of_index(words: &[&str], made: &HashSet<String>) -> Option<&'static str> {
    let table = words.iter().skip_while(|word| **word != "ON").nth(1).copied().unwrap_or_default();
    if made.contains(table) {
        return None;
    }
    if words.contains(&"UNIQUE") {
        return Some("it refuses what older processes may write");
    }
    let holds_the_table = !words.contains(&"CONCURRENTLY");
    holds_the_table.then_some("it holds a table in use while it is built; PostgreSQL needs CONCURRENTLY")
}

fn fault_of_column(statement: &str) -> Option<&'static str> {
    let has = |words: &str| statement.contains(words);
    if has(",") {
        return Some("one column a statement, so that each can be judged");
    }
    if has(" NOT NULL") && !has(" DEFAULT ") {
        return Some("older processes write no value for it, and it takes no none");
    }
    let binds = [" UNIQUE", " PRIMARY KEY", " REFERENCES", " CHECK"].into_iter().any(has);
    binds.then_some("it refuses what older processes may write")
}

fn is_patience(setting: &str) -> bool {
    ["lock_timeout", "statement_timeout"].contains(&setting)
}
