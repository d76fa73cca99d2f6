//! Opens SQLite or PostgreSQL with durable commits.

use std::time::Duration;

use anyhow::{Context, bail};
use domain::{Clock, Time};
use sea_orm::sqlx::Connection;
use sea_orm::sqlx::sqlite::{SqliteJournalMode, SqliteSynchronous};
use sea_orm::{
    ConnectOptions, ConnectionTrait, Database as SeaDatabase, DatabaseConnection, DatabaseTransaction,
    DbBackend, FromQueryResult, IsolationLevel, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait, Value,
};

const ACQUIRE_WAIT: Duration = Duration::from_secs(5);
const SQLITE_READERS_MAX: u32 = 4;
/// A connection that was idle for this long is tested before use, because its server may be gone. Busy
/// connections are not tested, which saves a round trip for each query.
const TESTED_AFTER: Duration = Duration::from_millis(500);
/// Statements take longer only if the database is in trouble. The caller then gets an error that asks it to
/// retry.
const STATEMENT_TIMEOUT_MS: &str = "10000";

/// SQLite has one pool for its single writer and one for readers. PostgreSQL has one pool for both.
#[derive(Clone, Debug)]
pub(crate) struct Database {
    pub(crate) writer: DatabaseConnection,
    pub(crate) reader: DatabaseConnection,
}

impl Database {
    /// SQLite ignores the maximum and uses its fixed pool sizes.
    pub(crate) async fn open(url: &str, postgres_connections_max: u32) -> anyhow::Result<Self> {
        if url.starts_with("sqlite:") {
            // The writer creates the file, so it is opened first.
            let writer = sqlite(url, 1).await?;
            return Ok(Self { writer, reader: sqlite(url, SQLITE_READERS_MAX).await? });
        }
        if url.starts_with("postgres") {
            let pool = postgres(url, postgres_connections_max).await?;
            return Ok(Self { writer: pool.clone(), reader: pool });
        }
        bail!("the database URL begins with neither sqlite nor postgres")
    }

    /// Begins a transaction that will write. On SQLite it takes the write lock at once, because a transaction
    /// that reads first and writes later can fail as busy.
    pub(crate) async fn begin(&self) -> anyhow::Result<DatabaseTransaction> {
        let options = TransactionOptions {
            sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
            ..TransactionOptions::default()
        };
        self.writer.begin_with_options(options).await.context("begin a transaction")
    }

    /// Whether the database serializes writing transactions anyway.
    pub(crate) fn has_one_writer(&self) -> bool {
        self.writer.get_database_backend() == DbBackend::Sqlite
    }

    /// Begins a transaction that sees one snapshot of all tables.
    pub(crate) async fn begin_reading(&self) -> anyhow::Result<DatabaseTransaction> {
        let database = &self.reader;
        if database.get_database_backend() != DbBackend::Postgres {
            return database.begin().await.context("begin reading the source");
        }
        let reading = database.begin_with_config(Some(IsolationLevel::RepeatableRead), None).await?;
        // Reading a large table takes longer than the service's statement timeout.
        let no_timeouts =
            "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";
        reading.execute_unprepared(no_timeouts).await.context("begin reading the source")?;
        Ok(reading)
    }

    pub(crate) async fn find<T: FromQueryResult>(
        &self,
        sql: String,
        values: impl IntoIterator<Item = Value>,
    ) -> anyhow::Result<Vec<T>> {
        let reader = &self.reader;
        let statement = Statement::from_sql_and_values(reader.get_database_backend(), sql, values);
        Ok(T::find_by_statement(statement).all(reader).await?)
    }

    pub(crate) async fn now(&self) -> anyhow::Result<Time> {
        let sql = match self.reader.get_database_backend() {
            DbBackend::Postgres => {
                "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS millis"
            }
            _ => "SELECT CAST(unixepoch('subsec') * 1000 AS INTEGER) AS millis",
        };
        let row = self
            .reader
            .query_one_raw(Statement::from_string(self.reader.get_database_backend(), sql))
            .await?;
        let millis: i64 = row.context("the database returned no time")?.try_get("", "millis")?;
        Ok(Time::from_millis(millis))
    }
}

/// The database's clock at this moment, not at the beginning of the transaction. All processes share that
/// clock.
pub(crate) async fn clock_time(transaction: &DatabaseTransaction) -> anyhow::Result<Time> {
    const POSTGRES: &str = "SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) AS millis";
    match transaction.get_database_backend() {
        DbBackend::Postgres => {
            let statement = Statement::from_string(DbBackend::Postgres, POSTGRES);
            let row = transaction.query_one_raw(statement).await?.context("the database returned no time")?;
            Ok(Time::from_millis(row.try_get("", "millis")?))
        }
        // SQLite uses this host's clock. A query would cost two thread switches for each commit.
        _ => Ok(Clock::system().now()),
    }
}

async fn sqlite(url: &str, connections_max: u32) -> anyhow::Result<DatabaseConnection> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections_max)
        .min_connections(1)
        .acquire_timeout(ACQUIRE_WAIT)
        .sqlx_logging(false)
        // A file does not disconnect like a server.
        .test_before_acquire(false)
        // On a full disk SQLite ends a transaction by itself. Its driver still counts it as open and would
        // treat all later transactions as parts of it, which are never committed. Therefore such a connection
        // is discarded.
        .map_sqlx_sqlite_before_acquire(|connection, _| {
            let is_between = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_between) })
        })
        .map_sqlx_sqlite_opts(|sqlite| {
            sqlite
                .create_if_missing(true)
                .journal_mode(SqliteJournalMode::Wal)
                .synchronous(SqliteSynchronous::Full)
                .busy_timeout(ACQUIRE_WAIT)
                .foreign_keys(true)
        });
    SeaDatabase::connect(options).await.context("open the SQLite database")
}

async fn postgres(url: &str, connections_max: u32) -> anyhow::Result<DatabaseConnection> {
    let mut options = ConnectOptions::new(url);
    options
        .max_connections(connections_max)
        .acquire_timeout(ACQUIRE_WAIT)
        .connect_timeout(ACQUIRE_WAIT)
        .sqlx_logging(false)
        .test_before_acquire_if_idle_for(TESTED_AFTER)
        .map_sqlx_postgres_opts(|postgres| {
            postgres.options([
                ("statement_timeout", STATEMENT_TIMEOUT_MS),
                ("idle_in_transaction_session_timeout", STATEMENT_TIMEOUT_MS),
                // A connection keeps the plan that it made while a table was small. That plan is a sequential
                // scan, which is slow for the minutes in which the table grows. Every query on a hot path has
                // an index.
                ("enable_seqscan", "off"),
                // Without an index, disabling sequential scans inflates the estimated cost, so that compiling
                // the query would seem to pay.
                ("jit", "off"),
            ])
        });
    SeaDatabase::connect(options).await.context("connect to PostgreSQL")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn sqlite_is_built_with_the_options_of_cargo_config() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("empty.db").display());
        let database = Database::open(&url, 1).await.unwrap();
        let sql = Statement::from_string(DbBackend::Sqlite, "PRAGMA compile_options");
        let rows = database.reader.query_all_raw(sql).await.unwrap();
        let options: Vec<String> = rows.iter().map(|row| row.try_get_by_index(0).unwrap()).collect();
        for option in ["ENABLE_QPSG", "DEFAULT_MEMSTATUS=0", "STMTJRNL_SPILL=4194304"] {
            assert!(options.iter().any(|known| known == option), "{option}: {options:?}");
        }
    }

    #[tokio::test]
    async fn commit_after_a_full_disk_is_persisted() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("full.db").display());
        let database = Database::open(&url, 1).await.unwrap();
        let writer = &database.writer;
        writer.execute_unprepared("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)").await.unwrap();
        // Not enough space for one more page: SQLite ends the whole transaction by itself, and its driver
        // does not notice.
        writer.execute_unprepared("PRAGMA max_page_count = 1").await.unwrap();
        let too_much = database.begin().await.unwrap();
        let full = too_much.execute_unprepared("INSERT INTO notes VALUES (1, hex(zeroblob(100000)))").await;
        assert!(full.unwrap_err().to_string().contains("full"));
        drop(too_much);
        writer.execute_unprepared("PRAGMA max_page_count = 1000000").await.unwrap();
        // A rollback must not affect later transactions.
        let given_up = database.begin().await.unwrap();
        given_up.execute_unprepared("INSERT INTO notes VALUES (2, 'given up')").await.unwrap();
        given_up.rollback().await.unwrap();
        let committed = database.begin().await.unwrap();
        committed.execute_unprepared("INSERT INTO notes VALUES (3, 'committed')").await.unwrap();
        committed.commit().await.unwrap();
        let sql = Statement::from_string(DbBackend::Sqlite, "SELECT id FROM notes");
        let rows = database.reader.query_all_raw(sql).await.unwrap();
        let ids: Vec<i64> = rows.iter().map(|row| row.try_get("", "id").unwrap()).collect();
        assert_eq!(ids, [3]);
    }
}
