//! Collects the statements of a commit and runs them together. SQLite gets all of them in one call, because
//! each call costs two thread switches, which is more than most of these statements. PostgreSQL gets them one
//! by one.

use anyhow::Context;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, Statement};

use crate::many::insertion;

/// Statements in the order of execution, each with the table that it writes.
pub(crate) struct Script {
    backend: DbBackend,
    statements: Vec<(String, Statement)>,
}

impl Script {
    pub(crate) fn for_the(transaction: &DatabaseTransaction) -> Self {
        Self { backend: transaction.get_database_backend(), statements: Vec::new() }
    }

    /// Inserts rows in which every column is set.
    pub(crate) fn insert<E: EntityTrait>(
        &mut self,
        rows: impl IntoIterator<Item = E::ActiveModel>,
        on_conflict: Option<OnConflict>,
    ) -> anyhow::Result<()> {
        let insertion = insertion::<E>(self.backend, rows, on_conflict)?;
        self.statements.extend(insertion.map(|statement| (E::default().table_name().to_owned(), statement)));
        Ok(())
    }

    /// Runs all statements.
    pub(crate) async fn run(self, transaction: &DatabaseTransaction) -> anyhow::Result<()> {
        let statements = match self.backend {
            DbBackend::Sqlite => joined(self.statements).into_iter().collect(),
            _ => self.statements,
        };
        for (written, statement) in statements {
            transaction.execute_raw(statement).await.with_context(|| format!("write {written}"))?;
        }
        Ok(())
    }
}

/// Joins all statements and their values. SQLite's placeholders have no numbers, so the values simply follow
/// each other.
fn joined(statements: Vec<(String, Statement)>) -> Option<(String, Statement)> {
    let backend = statements.first()?.1.db_backend;
    let (mut written, mut sql, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for (table, statement) in statements {
        written.push(table);
        sql.push(statement.sql);
        values.extend(statement.values.into_iter().flat_map(|values| values.0));
    }
    Some((written.join(", "), Statement::from_sql_and_values(backend, sql.join(";\n"), values)))
}
