//! What a commit writes, gathered to be run in one go: SQLite gets all of it by one call, because each call crosses to the
//! database's thread and back, which costs more than most of these statements. PostgreSQL takes one after the other.

use anyhow::Context;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, Statement};

use crate::many::insertion;

/// Statements in the order in which they are to be run, and the table that each of them writes.
pub(crate) struct Script {
    backend: DbBackend,
    statements: Vec<(String, Statement)>,
}

impl Script {
    pub(crate) fn for_the(transaction: &DatabaseTransaction) -> Self {
        Self { backend: transaction.get_database_backend(), statements: Vec::new() }
    }

    /// Inserts rows that say something of every column.
    pub(crate) fn insert<E: EntityTrait>(
        &mut self,
        rows: impl IntoIterator<Item = E::ActiveModel>,
        on_conflict: Option<OnConflict>,
    ) -> anyhow::Result<()> {
        let insertion = insertion::<E>(self.backend, rows, on_conflict)?;
        self.statements.extend(insertion.map(|statement| (E::default().table_name().to_owned(), statement)));
        Ok(())
    }

    /// Runs all of it.
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

/// All of them as one, whose values follow each other as the places for them do: SQLite's have no numbers.
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
