//! The log of route changes. An edge that has read it up to now knows which of its cached routes are current,
//! with one query for any number of routes.
//!
//! Database triggers write the log (`migration/src/m0023_route_changes.rs`). A reader must never miss a
//! change. If changes may be missing, the result says so, and the reader confirms nothing that it has cached.

use std::time::Duration;

use anyhow::Context;
use domain::Host;
use sea_orm::{ConnectionTrait, DbBackend, FromQueryResult, Statement, Value};

use crate::handles::{RouteStore, Upkeep};
use crate::rows;

/// How long a change stays in the log, by the database's clock. Edges read it once a second.
const KEPT: Duration = Duration::from_secs(600);
/// If there are more changes, none are listed.
const LISTED_MAX: usize = 10_000;

/// How far a reader has read the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteLogPosition {
    /// Identifies the log and, on PostgreSQL, the database and the start of the server. It differs after a
    /// restart, a failover or a restored backup.
    log: String,
    /// PostgreSQL: the snapshot of the read. SQLite: empty.
    snapshot: String,
    /// Every change below this was read. On PostgreSQL, some changes above it were read too: those that the
    /// snapshot shows.
    pub(crate) next: i64,
    trims: i64,
}

/// The result of reading the log.
#[derive(Clone, Debug)]
pub struct RouteLogRead {
    pub position: RouteLogPosition,
    /// The hosts whose routes changed since the earlier position. `None` if changes may be missing: there is
    /// no earlier position, the log is another one or was trimmed too far, or the changes are too many.
    pub changed: Option<Vec<Host>>,
}

/// The state of the log, and one of the changes. Without changes there is one row without a host.
#[derive(FromQueryResult)]
struct LogRow {
    log: String,
    snapshot: String,
    next: i64,
    trims: i64,
    trimmed_to: i64,
    host: Option<String>,
}

#[derive(FromQueryResult)]
pub(crate) struct Change {
    pub(crate) position: i64,
    written_at: i64,
}

/// One snapshot covers the whole statement. If a transaction becomes visible only after the snapshot, it was
/// either running at that time or began later. In both cases its id is not below the snapshot's `xmin`.
const POSTGRES: &str = "SELECT
        CONCAT_WS('/', log.id, (SELECT oid FROM pg_database WHERE datname = current_database()),
            EXTRACT(EPOCH FROM pg_postmaster_start_time())) AS log,
        CAST(pg_current_snapshot() AS TEXT) AS snapshot,
        CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS TEXT) AS BIGINT) AS next,
        log.trims, log.trimmed_to, change.host
    FROM route_log AS log
    LEFT JOIN (
        SELECT host FROM route_changes
        WHERE position >= $1
            AND NOT pg_visible_in_snapshot(CAST(CAST(position AS TEXT) AS xid8), CAST($2 AS pg_snapshot))
        LIMIT $3
    ) AS change ON TRUE";
const SQLITE: &str = "SELECT
        log.id AS log, $2 AS snapshot,
        MAX(log.trimmed_to, COALESCE((SELECT MAX(position) FROM route_changes), 0)) + 1 AS next,
        log.trims, log.trimmed_to, change.host
    FROM route_log AS log
    LEFT JOIN (SELECT host FROM route_changes WHERE position >= $1 LIMIT $3) AS change ON TRUE";
/// For the first read, which lists no changes.
const NO_SNAPSHOT: &str = "1:1:";

impl RouteStore<'_> {
    /// Reads the log from this position on. A route that is read after the result arrived contains every
    /// change up to the result's position.
    pub async fn changes_since(self, earlier: Option<&RouteLogPosition>) -> anyhow::Result<RouteLogRead> {
        let database = &self.0.database;
        let (sql, snapshot) = match database.reader.get_database_backend() {
            DbBackend::Postgres => (POSTGRES, earlier.map_or(NO_SNAPSHOT, |known| &known.snapshot)),
            _ => (SQLITE, ""),
        };
        let from = earlier.map_or(i64::MAX, |known| known.next);
        let values: [Value; 3] = [from.into(), snapshot.into(), (LISTED_MAX as i64 + 1).into()];
        let rows: Vec<LogRow> =
            database.find(sql.to_owned(), values).await.context("read the log of route changes")?;
        RouteLogRead::of(rows, earlier)
    }
}

impl RouteLogRead {
    fn of(rows: Vec<LogRow>, earlier: Option<&RouteLogPosition>) -> anyhow::Result<Self> {
        let LogRow { log, snapshot, next, trims, trimmed_to, .. } =
            rows.first().context("the log of route changes has no id")?;
        let position =
            RouteLogPosition { log: log.clone(), snapshot: snapshot.clone(), next: *next, trims: *trims };
        let is_whole = earlier.is_some_and(|known| {
            known.log == position.log
                && known.next <= position.next
                && (known.trims == position.trims || *trimmed_to < known.next)
        });
        if !is_whole || rows.len() > LISTED_MAX {
            return Ok(Self { position, changed: None });
        }
        let hosts = rows.iter().filter_map(|row| row.host.as_deref());
        let changed = hosts.map(|host| rows::parse(host, "a host")).collect::<anyhow::Result<_>>()?;
        Ok(Self { position, changed: Some(changed) })
    }
}

impl Upkeep<'_> {
    /// Deletes up to `at_most` changes that every running edge has read long ago. Returns how many. An edge
    /// that has not read them learns from the log's row that it was trimmed.
    pub async fn trim_route_log(self, at_most: u64) -> anyhow::Result<u64> {
        let written_before = self.0.now().await?.minus(KEPT).millis();
        let oldest = "SELECT position, written_at FROM route_changes ORDER BY position LIMIT $1";
        let oldest: Vec<Change> = self.0.database.find(oldest.to_owned(), [at_most.into()]).await?;
        let old = oldest.iter().take_while(|change| change.written_at < written_before);
        let Some(last) = old.last().map(|change| change.position) else { return Ok(0) };
        let transaction = self.0.database.begin().await?;
        let backend = transaction.get_database_backend();
        let mark = "UPDATE route_log SET trims = trims + 1,
            trimmed_to = CASE WHEN trimmed_to < $1 THEN $1 ELSE trimmed_to END";
        let delete = "DELETE FROM route_changes WHERE position <= $1";
        transaction.execute_raw(Statement::from_sql_and_values(backend, mark, [last.into()])).await?;
        let deleted =
            transaction.execute_raw(Statement::from_sql_and_values(backend, delete, [last.into()])).await?;
        transaction.commit().await.context("commit the trimmed log of route changes")?;
        Ok(deleted.rows_affected())
    }
}
