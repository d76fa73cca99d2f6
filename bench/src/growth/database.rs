//! The database of a system, SQLite or PostgreSQL. Both execute the statements used here.

use anyhow::Context;
use sqlx::{AssertSqlSafe, Connection, PgConnection, SqliteConnection};

pub enum Database {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

/// The generated data is thrown away. It need not be durable, and a large cache makes writing faster.
const SQLITE_HASTE: &str =
    "PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; PRAGMA busy_timeout = 60000;";
/// Maintenance that a system with months of growth would have had.
const SQLITE_SETTLED: &str = "PRAGMA wal_checkpoint(TRUNCATE);";
const POSTGRES_SETTLED: &str = "VACUUM ANALYZE; CHECKPOINT;";

impl Database {
    pub async fn open(url: &str) -> anyhow::Result<Self> {
        if url.starts_with("sqlite:") {
            let mut connection =
                SqliteConnection::connect(url).await.context("open the system's database")?;
            sqlx::raw_sql(SQLITE_HASTE).execute(&mut connection).await?;
            return Ok(Self::Sqlite(connection));
        }
        Ok(Self::Postgres(PgConnection::connect(url).await.context("open the system's database")?))
    }

    pub async fn run(&mut self, sql: &str) -> anyhow::Result<()> {
        let text = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite(connection) => sqlx::raw_sql(text).execute(connection).await.map(drop),
            Self::Postgres(connection) => sqlx::raw_sql(text).execute(connection).await.map(drop),
        }
        .with_context(|| sql.to_owned())
    }

    /// The values of one text column.
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
                // These statements cannot run in a transaction, which a batch of statements is.
                for statement in POSTGRES_SETTLED.split_inclusive(';') {
                    self.run(statement).await?;
                }
                Ok(())
            }
        }
    }
}
