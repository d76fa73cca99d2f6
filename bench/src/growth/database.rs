//! A house's database, whichever it is: what is asked of it here is text that both understand.

use anyhow::Context;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

pub enum Database {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// What is filled in is thrown away: it need not outlast a fall, and it is written faster from a large cache.
const SQLITE_HASTE: &str =
    "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA busy_timeout = 60000;";
/// What a house that has grown this way over months would have done by itself.
const SQLITE_SETTLED: &str = "PRAGMA wal_checkpoint(TRUNCATE);";
const POSTGRES_SETTLED: &str = "VACUUM ANALYZE; CHECKPOINT;";

impl Database {
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        if url.starts_with("sqlite:") {
            let mut connection = SqliteConnection::connect(url).await.context("open the house's database")?;
            sqlx::raw_sql(SQLITE_HASTE).execute(&mut connection).await?;
            return Ok(Self::Sqlite(connection));
        }
        Ok(Self::Postgres(PgConnection::connect(url).await.context("open the house's database")?))
    }

    pub async fn run(&mut self, sql: &str) -> anyhow::Result<()> {
        let text = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::raw_sql(text).execute(connection).await.map(drop),
            Self::Postgres(connection) => sqlx::raw_sql(text).execute(connection).await.map(drop),
        }
        .with_context(|| sql.to_owned())
    }

    /// The texts of one column.
    pub async fn texts(&mut self, sql: &str) -> anyhow::Result<Vec<String>> {
        let text = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::query_scalar(text).fetch_all(connection).await,
            Self::Postgres(connection) => sqlx::query_scalar(text).fetch_all(connection).await,
        }
        .with_context(|| sql.to_owned())
    }

    pub async fn columns(&mut self, table: &str) -> anyhow::Result<Vec<String>> {
        let sql = match self {
            Self::Sqlite(_) => format!("SELECT name FROM pragma_table_info('{table}')"),
            Self::Postgres(_) => format!(
                "SELECT column_name::text FROM information_schema.columns
                 WHERE table_schema = 'public' AND table_name = '{table}'"
            ),
        };
        self.texts(&sql).await
    }

    pub async fn settle(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(_) => self.run(SQLITE_SETTLED).await,
            Self::Postgres(_) => {
                // Neither can be part of a transaction, which several statements in one text are.
                for statement in POSTGRES_SETTLED.split_inclusive(';') {
                    self.run(statement).await?;
                }
                Ok(())
            }
        }
    }
}
