//! Collects the statements of a commit and runs them together, because each call costs more than most of
//! these statements. SQLite gets all of them in one call, which costs two thread switches. PostgreSQL gets
//! them as one statement, which is one round trip and one cached plan.

use std::collections::HashSet;

use anyhow::{Context, ensure};
use sea_orm::sea_query::{CommonTableExpression, InsertStatement, OnConflict, WithClause};
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
        let tables: Vec<&str> = insertions.iter().map(|(table, _)| table.as_str()).collect();
        let written = tables.join(", ");
        let is_each_once = tables.iter().collect::<HashSet<_>>().len() == tables.len();
        let joined = match backend {
            DbBackend::Postgres => {
                // Parts of one statement do not see each other's rows.
                ensure!(is_each_once, "one statement would write a table twice: {written}");
                as_one_statement(insertions)
            }
            _ => one_after_the_other(backend, insertions),
        };
        if let Some(joined) = joined {
            transaction.execute_raw(joined).await.with_context(|| format!("write {written}"))?;
        }
        Ok(())
    }
}

/// The first statement, with the others in its `WITH` clause, last first. Foreign keys are checked and
/// triggers fire after all of them. PostgreSQL runs the first one and then the others from the end of the
/// clause, so the order of the script is kept. Correctness must not depend on that, because PostgreSQL does
/// not promise it. But transactions that take their locks in one order do not deadlock.
fn as_one_statement(insertions: Vec<(String, InsertStatement)>) -> Option<Statement> {
    let backend = DbBackend::Postgres;
    let mut insertions = insertions.into_iter().map(|(_, insertion)| insertion);
    let first = insertions.next()?;
    let others: Vec<(usize, InsertStatement)> = insertions.enumerate().collect();
    if others.is_empty() {
        return Some(backend.build(&first));
    }
    let mut clause = WithClause::new();
    for (index, insertion) in others.into_iter().rev() {
        let mut part = CommonTableExpression::new();
        part.table_name(format!("part_{index}")).query(insertion);
        clause.cte(part);
    }
    Some(backend.build(&clause.query(first)))
}

/// Joins all statements and their values. SQLite's placeholders have no numbers, so the values simply follow
/// each other.
fn one_after_the_other(backend: DbBackend, insertions: Vec<(String, InsertStatement)>) -> Option<Statement> {
    if insertions.is_empty() {
        return None;
    }
    let (mut sql, mut values) = (Vec::new(), Vec::new());
    for (_, insertion) in insertions {
        let statement = backend.build(&insertion);
        sql.push(statement.sql);
        values.extend(statement.values.into_iter().flat_map(|values| values.0));
    }
    Some(Statement::from_sql_and_values(backend, sql.join(";\n"), values))
}

#[cfg(test)]
mod tests {
    use sea_orm::sea_query::Query;

    use super::*;

    fn insertion_into(table: &'static str) -> (String, InsertStatement) {
        let mut insertion = Query::insert();
        insertion.into_table(table).columns(["id"]).values_panic([table.into()]);
        (table.to_owned(), insertion)
    }

    #[test]
    fn postgres_gets_one_statement_with_the_parts_in_their_order_of_execution() {
        let statement = as_one_statement(["a", "b", "c"].map(insertion_into).into()).unwrap();
        assert_eq!(
            statement.sql,
            concat!(
                r#"WITH "part_1" AS (INSERT INTO "c" ("id") VALUES ($1)) , "#,
                r#""part_0" AS (INSERT INTO "b" ("id") VALUES ($2)) "#,
                r#"INSERT INTO "a" ("id") VALUES ($3)"#
            )
        );
        assert_eq!(statement.values.unwrap().0, ["c", "b", "a"].map(Into::into));
        assert_eq!(
            as_one_statement([insertion_into("a")].into()).unwrap().sql,
            r#"INSERT INTO "a" ("id") VALUES ($1)"#
        );
        assert!(as_one_statement(Vec::new()).is_none());
    }
}
