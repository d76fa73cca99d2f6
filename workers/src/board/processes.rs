//! The processes of the deployment. Each writes a heartbeat every two seconds, with its queues and its
//! counts, and deletes its row when it stops. A running process whose heartbeat fails continues to work.
//!
//! A starting process is refused while others run on the same database with another bus, because neither
//! would get the other's notices.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use anyhow::{Context, bail};
use domain::{Queue, Time};
use service::{ProcessInfo, RunningJob};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::index::{KIND_BYTES_MAX, kind_at_the_start};
use crate::Queues;
use crate::database::Database;
use crate::heartbeat::{HEARTBEAT_INTERVAL, LOST_AFTER_S};
use crate::sql::{self, on_either};

/// A process that has been silent for longer is only counted.
const LISTED_FOR: Duration = Duration::from_secs(300);
/// A process that has been silent for longer is not even counted.
const COUNTED_FOR: Duration = Duration::from_secs(3600);
const PROCESSES_SHOWN_MAX: i64 = 500;
const RUNNING_SHOWN_MAX: i64 = 500;
/// A slower deletion is given up. The process then counts as lost for a while.
const DELETE_TIMEOUT: Duration = Duration::from_secs(2);
/// By then a killed process counts as lost, and a running one has read the bus identity from Redis.
const OTHER_BUS_WAIT_MAX: Duration = Duration::from_secs(LOST_AFTER_S + HEARTBEAT_INTERVAL.as_secs());
const OTHER_BUS_CHECK_INTERVAL: Duration = Duration::from_millis(500);
/// The newest format of stored data that this release reads. It rises when a release stores data that the
/// previous one cannot read. 1: bundles. 2: jobs of publishes with a condition, and
/// generations of private links.
const FORMAT: i64 = 2;
/// Processes of older releases read each other's attempts here.
const NO_RATES: &str = "[]";

/// What a process writes about itself.
#[derive(Clone)]
pub struct Presence {
    /// `serve`, `api`, `edge` or `worker`.
    pub role: &'static str,
    pub host: String,
    /// The number of concurrent jobs of each queue that it takes.
    pub takes: BTreeMap<Queue, usize>,
    pub started_at: Time,
    /// The current identity of its bus. It is the same in all processes that receive each other's messages.
    pub bus: Arc<dyn Fn() -> String + Send + Sync>,
}

/// The processes with a recent heartbeat.
pub(super) struct RecentProcesses {
    /// The workers first, up to a limit.
    pub(super) processes: Vec<ProcessInfo>,
    pub(super) not_listed: u64,
}

/// The running jobs.
pub(super) struct Running {
    /// Each with its process, up to a limit.
    pub(super) jobs: Vec<(String, RunningJob)>,
    /// Whether there are more.
    pub(super) is_cut: bool,
}

#[derive(sqlx::FromRow)]
struct ProcessRow {
    instance: String,
    role: String,
    host: String,
    process_id: i64,
    version: String,
    takes: String,
    rss_bytes: Option<i64>,
    started_at_ms: i64,
    silent_ms: i64,
}

#[derive(sqlx::FromRow)]
struct RunningRow {
    id: String,
    job_type: String,
    lock_by: String,
    begun_ms: Option<i64>,
    /// Only its beginning.
    payload: Vec<u8>,
}

impl Queues {
    /// Writes the first heartbeat, unless other processes run on another bus. Waits for processes that were
    /// just killed, and for those that have yet to adopt a new identity of the bus after Redis lost the old
    /// one.
    pub async fn join(&self, presence: &Presence) -> anyhow::Result<()> {
        let give_up_at = Instant::now() + OTHER_BUS_WAIT_MAX;
        loop {
            // Before the check, so that of two processes that start together at least one sees the other.
            self.write_heartbeat(presence).await?;
            let Some((role, host, process_id)) = self.process_on_other_bus(presence).await? else {
                return Ok(());
            };
            if Instant::now() >= give_up_at {
                self.delete_heartbeat().await;
                bail!(
                    "`handbill {role}` on {host} (process {process_id}) works on the same database over another Redis, or one \
                     of the two has none, so neither would hear of the other's changes: give all processes the same \
                     redis.url (HANDBILL_REDIS__URL), or stop the others first"
                );
            }
            sleep(OTHER_BUS_CHECK_INTERVAL).await;
        }
    }

    async fn process_on_other_bus(
        &self,
        presence: &Presence,
    ) -> anyhow::Result<Option<(String, String, i64)>> {
        // The process that uses a SQLite file locks it, so other processes in the table were killed.
        let Database::Postgres(pool) = &self.database else { return Ok(None) };
        let query = sqlx::query_as(sql::postgres::ON_OTHER_BUS).bind(&*self.instance).bind((presence.bus)());
        let found = query.bind(i64::try_from(LOST_AFTER_S * 1000)?).fetch_optional(pool).await;
        found.context("querying processes on another bus")
    }

    /// Writes heartbeats until `cancel`, and then deletes the row of this process.
    pub async fn run_presence(&self, presence: Presence, cancel: CancellationToken) {
        let mut beat = interval(HEARTBEAT_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut was_written = true;
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                _ = beat.tick() => {}
            }
            let written = self.write_heartbeat(&presence).await;
            self.write_figures(&presence).await;
            if let Err(error) = &written
                && was_written
            {
                tracing::warn!(error = format!("{error:#}"), "could not write this process's heartbeat");
            }
            was_written = written.is_ok();
        }
        self.delete_heartbeat().await;
    }

    /// Adds to the figures of the queues. An edge runs no jobs, and its database user may not write them.
    async fn write_figures(&self, presence: &Presence) {
        if presence.role == "edge" {
            return;
        }
        for written in [self.write_rates().await, self.write_depths(self.clock.now()).await] {
            if let Err(error) = written {
                tracing::debug!(error = format!("{error:#}"), "could not write the figures of the queues");
            }
        }
    }

    async fn delete_heartbeat(&self) {
        let text = "DELETE FROM handbill_processes WHERE instance = $1";
        let deletion = async {
            on_either!(&self.database, pool => sqlx::query(text).bind(&*self.instance).execute(pool).await.map(drop))
        };
        if !matches!(timeout(DELETE_TIMEOUT, deletion).await, Ok(Ok(()))) {
            tracing::debug!("the queue board will count this process as lost");
        }
    }

    async fn write_heartbeat(&self, presence: &Presence) -> anyhow::Result<()> {
        let takes: BTreeMap<&str, usize> =
            presence.takes.iter().map(|(queue, at_a_time)| (queue.name(), *at_a_time)).collect();
        let takes = serde_json::to_string(&takes)?;
        let is_format_shared = on_either!(&self.database, sql, pool => {
            let upsert = sqlx::query_scalar(sql::HEARTBEAT).bind(&*self.instance).bind(presence.role).bind(&presence.host);
            let upsert = upsert.bind(i64::from(std::process::id())).bind(env!("CARGO_PKG_VERSION"));
            let upsert = upsert.bind(takes).bind(NO_RATES).bind(presence.started_at.millis()).bind((presence.bus)());
            let upsert = upsert.bind(FORMAT).bind(i64::try_from(LOST_AFTER_S * 1000)?);
            upsert.bind(resident_bytes()).fetch_one(pool).await
        })
        .context("writing the heartbeat of this process")?;
        self.is_format_shared.store(is_format_shared, Ordering::Relaxed);
        Ok(())
    }

    pub(super) async fn processes(&self, now: Time) -> anyhow::Result<RecentProcesses> {
        let listed_for_ms = i64::try_from(LISTED_FOR.as_millis())?;
        let rows: Vec<ProcessRow> = on_either!(&self.database, sql, pool => {
            sqlx::query_as(sql::PROCESSES).bind(listed_for_ms).bind(PROCESSES_SHOWN_MAX + 1).fetch_all(pool).await
        })
        .context("listing processes")?;
        let (rows, is_cut) = cut(rows, PROCESSES_SHOWN_MAX);
        let not_listed = if is_cut {
            // Heartbeats are written by the database's clock, so none is ahead of it.
            self.count_silent(Duration::ZERO, LISTED_FOR).await?.saturating_sub(rows.len() as u64)
        } else {
            0
        };
        let mut processes: Vec<_> = rows.into_iter().map(|row| read(row, now)).collect();
        processes
            .sort_by_key(|process| (role_order(&process.role), process.host.clone(), process.started_at));
        Ok(RecentProcesses { processes, not_listed })
    }

    /// How many processes were lost too long ago to be listed.
    pub(super) async fn lost_earlier(&self) -> anyhow::Result<u64> {
        self.count_silent(LISTED_FOR, COUNTED_FOR).await
    }

    /// How many processes have been silent at least for one duration, and less than for the other.
    async fn count_silent(&self, at_least: Duration, less_than: Duration) -> anyhow::Result<u64> {
        let (at_least, less_than) =
            (i64::try_from(at_least.as_millis())?, i64::try_from(less_than.as_millis())?);
        let counted: i64 = on_either!(&self.database, sql, pool => {
            sqlx::query_scalar(sql::COUNT_SILENT).bind(at_least).bind(less_than).fetch_one(pool).await
        })
        .context("counting processes")?;
        Ok(u64::try_from(counted)?)
    }

    pub(super) async fn running(&self) -> anyhow::Result<Running> {
        let queues = Queue::ALL.map(Queue::name);
        let rows: Vec<RunningRow> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_as(sql::sqlite::RUNNING)
                    .bind(KIND_BYTES_MAX)
                    .bind(sql::sqlite::names(&queues))
                    .bind(RUNNING_SHOWN_MAX + 1)
                    .fetch_all(pool)
                    .await
            }
            Database::Postgres(pool) => {
                sqlx::query_as(sql::postgres::RUNNING)
                    .bind(KIND_BYTES_MAX)
                    .bind(RUNNING_SHOWN_MAX + 1)
                    .fetch_all(pool)
                    .await
            }
        }
        .context("listing what runs")?;
        let (rows, is_cut) = cut(rows, RUNNING_SHOWN_MAX);
        Ok(Running { jobs: rows.into_iter().filter_map(read_running).collect(), is_cut })
    }
}

/// Truncates the rows, and returns whether there were more.
fn cut<T>(mut rows: Vec<T>, rows_max: i64) -> (Vec<T>, bool) {
    let rows_max = usize::try_from(rows_max).unwrap_or_default();
    let is_cut = rows.len() > rows_max;
    rows.truncate(rows_max);
    (rows, is_cut)
}

fn read_running(row: RunningRow) -> Option<(String, RunningJob)> {
    let job = RunningJob {
        id: row.id.parse().ok()?,
        queue: Queue::parse(&row.job_type)?,
        kind: kind_at_the_start(&row.payload),
        since: row.begun_ms.map(Time::from_millis),
    };
    Some((instance_of(&row.lock_by)?.to_owned(), job))
}

/// The process of a worker, which is named `<instance>-<start>-<queue>-<restart>`.
fn instance_of(worker: &str) -> Option<&str> {
    worker.rsplitn(4, '-').nth(3)
}

fn read(row: ProcessRow, now: Time) -> ProcessInfo {
    let takes: BTreeMap<String, usize> = serde_json::from_str(&row.takes).unwrap_or_default();
    let silent_for = Duration::from_millis(u64::try_from(row.silent_ms).unwrap_or_default());
    ProcessInfo {
        instance: row.instance,
        role: row.role,
        host: row.host,
        process_id: u32::try_from(row.process_id).unwrap_or_default(),
        version: row.version,
        started_at: Time::from_millis(row.started_at_ms),
        seen_at: now.minus(silent_for),
        is_lost: silent_for >= Duration::from_secs(LOST_AFTER_S),
        takes: Queue::ALL.into_iter().filter_map(|queue| Some((queue, *takes.get(queue.name())?))).collect(),
        memory_bytes: row.rss_bytes.and_then(|bytes| u64::try_from(bytes).ok()),
        running: Vec::new(),
    }
}

/// The resident memory of this process, where the operating system reports it in the way of Linux.
fn resident_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let kilobytes = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    kilobytes.trim().trim_end_matches(" kB").parse::<i64>().ok()?.checked_mul(1024)
}

/// Workers come first on the board.
fn role_order(role: &str) -> usize {
    ["worker", "serve", "api", "edge"].iter().position(|known| *known == role).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_knows_its_memory() {
        let bytes = resident_bytes().unwrap();
        assert!((1 << 20..1 << 36).contains(&bytes), "{bytes}");
    }

    #[test]
    fn worker_name_contains_its_process() {
        assert_eq!(instance_of("01JABC-x1y2z3-publish-0"), Some("01JABC"));
        assert_eq!(instance_of("a-host-1-x1y2z3-scan-12"), Some("a-host-1"));
        assert_eq!(instance_of("nobody"), None);
    }
}
