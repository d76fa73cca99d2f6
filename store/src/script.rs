//! Collects the statements of a commit and runs them together, because each call costs more than most of these
//! statements. SQLite gets all of them in one call, which costs two thread switches. PostgreSQL gets them as one
//! statement, which is one round trip and one cached plan.

use std::collections::HashSet;

use anyhow::Context;
use sea_orm::sea_query::{CommonTableExpression, InsertStatement, OnConflict, WithQuery};
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, Statement};

use crate::many::insertion;

/// Statements in the order of execution, each with the table that it writes.
pub(crate) struct Script {
    backend: DbBackend,
    insertions: Vec<(String, InsertStatement)>,
}

impl Script {
    pub(crate) fn for_the(transaction: &DatabaseTransaction) -> Self {
        Self { backend: transaction.get_database_backend(), insertions: Vec::new() }
    }

    /// Inserts rows in which every column is set.
    pub(crate) fn insert<E: EntityTrait>(
        &mut self,
        rows: impl IntoIterator<Item = E::ActiveModel>,
        on_conflict: Option<OnConflict>,
    ) -> anyhow::Result<()> {
        let insertion = insertion::<E>(self.backend, rows, on_conflict)?;
        self.insertions.extend(insertion.map(|insertion| (E::default().table_name().to_owned(), insertion)));
        Ok(())
    }

    /// Runs all statements.
    pub(crate) async fn run(self, transaction: &DatabaseTransaction) -> anyhow::Result<()> {
        let Self { backend, insertions } = self;
        if insertions.is_empty() {
            return Ok(());
        }
        let tables: Vec<&str> = insertions.iter().map(|(table, _)| table.as_str()).collect();
        let written = tables.join(", ");
        if backend == DbBackend::Postgres {
            // Parts of one statement do not see the rows of each other.
            let is_each_once = tables.iter().collect::<HashSet<_>>().len() == tables.len();
            anyhow::ensure!(is_each_once, "a table is written twice in one statement: {written}");
        }
        let joined = match backend {
            DbBackend::Postgres => backend.build(&as_one_statement(insertions)),
            _ => one_after_the_other(backend, insertions),
        };
        transaction.execute_raw(joined).await.with_context(|| format!("write {written}"))?;
        Ok(())
    }
}

/// The first statement, with the others in its `WITH` clause, last first. Foreign keys are checked and triggers
/// fire after all of them. PostgreSQL runs the first one and then the others from the end of the clause, so the
/// order of the script is kept. Correctness must not depend on that, because PostgreSQL does not promise it. But
/// transactions that take their locks in one order do not deadlock.
fn as_one_statement(insertions: Vec<(String, InsertStatement)>) -> WithQuery {
    let mut insertions = insertions.into_iter().map(|(_, insertion)| insertion);
    let mut all = WithQuery::new();
    if let Some(first) = insertions.next() {
        all.query(first);
    }
    for (index, insertion) in insertions.enumerate().collect::<Vec<_>>().into_iter().rev() {
        let mut part = CommonTableExpression::new();
        part.table_name(format!("part_{index}")).query(insertion);
        all.cte(part);
    }
    all
}

/// Joins all statements and their values. SQLite's placeholders have no numbers, so the values simply follow
/// each other.
fn one_after_the_other(backend: DbBackend, insertions: Vec<(String, InsertStatement)>) -> Statement {
    let (mut sql, mut values) = (Vec::new(), Vec::new());
    for (_, insertion) in insertions {
        let statement = backend.build(&insertion);
        sql.push(statement.sql);
        values.extend(statement.values.into_iter().flat_map(|values| values.0));
    }
    Statement::from_sql_and_values(backend, sql.join(";\n"), values)
}
