//! What a commit writes, gathered to be run in one go: SQLite gets all of it by one call, because each call crosses to the
//! database's thread and back, which costs more than most of these statements. PostgreSQL takes one after the other.

use anyhow::Context;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, Statement, Value};

use crate::many::insertion;

/// Statements in the order in which they are to be run.
pub(crate) struct Script {
    backend: DbBackend,
    statements: Vec<Statement>,
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
        self.statements.extend(insertion::<E>(self.backend, rows, on_conflict)?);
        Ok(())
    }

    /// Runs all of it. The database's own words tell which of the statements it did not want.
    pub(crate) async fn run(self, transaction: &DatabaseTransaction) -> anyhow::Result<()> {
        let statements = match self.backend {
            DbBackend::Sqlite => joined(self.statements).into_iter().collect(),
            _ => self.statements,
        };
        for statement in statements {
            transaction.execute_raw(statement).await.context("write a commit")?;
        }
        Ok(())
    }
}

/// All of them as one, whose values follow each other as the places for them do: SQLite's have no numbers.
fn joined(statements: Vec<Statement>) -> Option<Statement> {
    let backend = statements.first()?.db_backend;
    let sql: Vec<&str> = statements.iter().map(|statement| statement.sql.as_str()).collect();
    let sql = sql.join(";\n");
    let values: Vec<Value> =
        statements.into_iter().filter_map(|statement| statement.values).flat_map(|values| values.0).collect();
    Some(Statement::from_sql_and_values(backend, sql, values))
}
