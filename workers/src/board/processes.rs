//! The processes of the deployment: each says every two seconds that it lives, what it takes and how much it did, and
//! takes its leave when it stops. A process that cannot say so works all the same.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Context;
use domain::{Queue, Time};
use service::{ProcessShown, RunningJob};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tokio_util::sync::CancellationToken;

use super::index::{KIND_BYTES_MAX, kind_at_the_start};
use super::rates::{self, MinuteCount};
use crate::Queues;
use crate::database::{Database, on_either};
use crate::persistence::{HEARTBEAT_INTERVAL, LOST_AFTER_S};

/// Whoever has been silent for longer is not shown any more.
const SHOWN_FOR: Duration = Duration::from_secs(3600);
const PROCESSES_SHOWN_MAX: i64 = 500;
const RUNNING_SHOWN_MAX: i64 = 500;
/// A goodbye that takes longer is given up: the process counts as lost for a while.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(2);

// When somebody was heard of, and for how long not, is told by the database's clock alone: that of a process may be off.
macro_rules! say {
    ($now_ms:literal) => {
        concat!(
            "INSERT INTO handbill_processes
                (instance, role, host, process_id, version, takes, rates, started_at_ms, seen_at_ms)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8, ",
            $now_ms,
            ") ON CONFLICT (instance) DO UPDATE SET rates = excluded.rates, seen_at_ms = excluded.seen_at_ms"
        )
    };
}
macro_rules! list {
    ($now_ms:literal) => {
        concat!(
            "SELECT instance, role, host, process_id, version, takes, rates, started_at_ms, ",
            $now_ms,
            " - seen_at_ms FROM handbill_processes WHERE seen_at_ms > ",
            $now_ms,
            " - $1 ORDER BY seen_at_ms DESC LIMIT $2"
        )
    };
}
const SQLITE_SAY: &str = say!("CAST(unixepoch('subsec') * 1000 AS INTEGER)");
const POSTGRES_SAY: &str = say!("(extract(epoch FROM now()) * 1000)::bigint");
const SQLITE_LIST: &str = list!("CAST(unixepoch('subsec') * 1000 AS INTEGER)");
const POSTGRES_LIST: &str = list!("(extract(epoch FROM now()) * 1000)::bigint");

pub(crate) const SQLITE_RUNNING: &str = "
    SELECT id, job_type, lock_by, lock_at * 1000, substr(job, 1, ?1) FROM Jobs
    WHERE job_type IN (SELECT value FROM json_each(?2)) AND status IN ('Queued', 'Running')
    AND lock_by IS NOT NULL LIMIT ?3";
pub(crate) const POSTGRES_RUNNING: &str = "
    SELECT id, job_type, lock_by, (extract(epoch FROM lock_at) * 1000)::bigint,
    substr(job, 1, $1::integer) FROM apalis.jobs
    WHERE status IN ('Queued', 'Running') AND lock_by IS NOT NULL LIMIT $2";

/// What a process tells of itself.
#[derive(Clone, Debug)]
pub struct Presence {
    /// `serve`, `api`, `edge` or `worker`.
    pub role: &'static str,
    pub host: String,
    /// How many jobs of each queue it takes at a time.
    pub takes: BTreeMap<Queue, usize>,
}

/// As in the table's columns, but for the last: how many milliseconds it has been silent.
type ProcessRow = (String, String, String, i64, String, String, String, i64, i64);

impl Queues {
    /// Says that this process lives until `cancel`, and then that it is gone.
    pub async fn run_presence(&self, presence: Presence, cancel: CancellationToken) {
        let started_at = self.clock.now();
        let mut beat = interval(HEARTBEAT_INTERVAL);
        beat.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut is_heard = true;
        loop {
            tokio::select! {
                () = cancel.cancelled() => break,
                _ = beat.tick() => {}
            }
            let said = self.say_alive(&presence, started_at).await;
            if let Err(error) = &said
                && is_heard
            {
                tracing::warn!(error = format!("{error:#}"), "the queue board does not hear of this process");
            }
            is_heard = said.is_ok();
        }
        let text = "DELETE FROM handbill_processes WHERE instance = $1";
        let leave = async {
            on_either!(&self.database, pool => sqlx::query(text).bind(&*self.instance).execute(pool).await.map(drop))
        };
        if !matches!(timeout(GOODBYE_TIMEOUT, leave).await, Ok(Ok(()))) {
            tracing::debug!("the queue board will count this process as lost");
        }
    }

    async fn say_alive(&self, presence: &Presence, started_at: Time) -> anyhow::Result<()> {
        let now = self.clock.now();
        let takes: BTreeMap<&str, usize> =
            presence.takes.iter().map(|(queue, at_a_time)| (queue.name(), *at_a_time)).collect();
        let (takes, rates) = (serde_json::to_string(&takes)?, serde_json::to_string(&self.rates.told(now))?);
        let say_it = match &self.database {
            Database::Sqlite(_) => SQLITE_SAY,
            Database::Postgres(_) => POSTGRES_SAY,
        };
        on_either!(&self.database, pool => {
            let say = sqlx::query(say_it).bind(&*self.instance).bind(presence.role).bind(&presence.host);
            let say = say.bind(i64::from(std::process::id())).bind(env!("CARGO_PKG_VERSION"));
            let say = say.bind(takes).bind(rates).bind(started_at.millis());
            say.execute(pool).await.map(drop)
        })
        .context("telling the queue board of this process")
    }

    /// Every process that was heard of lately, the workers first, with what all of them did in the last minute.
    pub(super) async fn processes(&self, now: Time) -> anyhow::Result<(Vec<ProcessShown>, MinuteCount)> {
        let list = match &self.database {
            Database::Sqlite(_) => SQLITE_LIST,
            Database::Postgres(_) => POSTGRES_LIST,
        };
        let shown_for_ms = i64::try_from(SHOWN_FOR.as_millis())?;
        let rows: Vec<ProcessRow> = on_either!(&self.database, pool => {
            sqlx::query_as(list).bind(shown_for_ms).bind(PROCESSES_SHOWN_MAX).fetch_all(pool).await
        })
        .context("listing processes")?;
        let told: Vec<MinuteCount> =
            rows.iter().flat_map(|row| serde_json::from_str::<Vec<_>>(&row.6).unwrap_or_default()).collect();
        let mut processes: Vec<_> = rows.into_iter().map(|row| read(row, now)).collect();
        processes.sort_by_key(|process| (place_of(&process.role), process.host.clone(), process.started_at));
        Ok((processes, rates::sum(told.iter(), now)))
    }

    /// The jobs in somebody's hands, with the process that has them.
    pub(super) async fn running(&self) -> anyhow::Result<Vec<(String, RunningJob)>> {
        type Row = (String, String, String, Option<i64>, Vec<u8>);
        let rows: Vec<Row> = match &self.database {
            Database::Sqlite(pool) => {
                sqlx::query_as(SQLITE_RUNNING)
                    .bind(KIND_BYTES_MAX)
                    .bind(serde_json::to_string(&Queue::ALL.map(Queue::name))?)
                    .bind(RUNNING_SHOWN_MAX)
                    .fetch_all(pool)
                    .await
            }
            Database::Postgres(pool) => {
                sqlx::query_as(POSTGRES_RUNNING)
                    .bind(KIND_BYTES_MAX)
                    .bind(RUNNING_SHOWN_MAX)
                    .fetch_all(pool)
                    .await
            }
        }
        .context("listing what runs")?;
        Ok(rows.into_iter().filter_map(read_running).collect())
    }
}

fn read_running(
    (id, queue, worker, since_ms, start): (String, String, String, Option<i64>, Vec<u8>),
) -> Option<(String, RunningJob)> {
    let job = RunningJob {
        id: id.parse().ok()?,
        queue: Queue::parse(&queue)?,
        kind: kind_at_the_start(&start),
        since: since_ms.map(Time::from_millis),
    };
    Some((instance_of(&worker)?.to_owned(), job))
}

/// The process that a worker belongs to: it is named `<instance>-<start>-<queue>-<restart>`.
fn instance_of(worker: &str) -> Option<&str> {
    worker.rsplitn(4, '-').nth(3)
}

fn read(row: ProcessRow, now: Time) -> ProcessShown {
    let (instance, role, host, process_id, version, takes, _, started_ms, silent_ms) = row;
    let takes: BTreeMap<String, usize> = serde_json::from_str(&takes).unwrap_or_default();
    let silent_for = Duration::from_millis(u64::try_from(silent_ms).unwrap_or_default());
    ProcessShown {
        instance,
        role,
        host,
        process_id: u32::try_from(process_id).unwrap_or_default(),
        version,
        started_at: Time::from_millis(started_ms),
        seen_at: now.minus(silent_for),
        is_lost: silent_for >= Duration::from_secs(LOST_AFTER_S),
        takes: Queue::ALL.into_iter().filter_map(|queue| Some((queue, *takes.get(queue.name())?))).collect(),
        running: Vec::new(),
    }
}

/// Workers come first on the board.
fn place_of(role: &str) -> usize {
    ["worker", "serve", "api", "edge"].iter().position(|known| *known == role).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_s_name_tells_its_process() {
        assert_eq!(instance_of("01JABC-x1y2z3-publish-0"), Some("01JABC"));
        assert_eq!(instance_of("a-host-1-x1y2z3-scan-12"), Some("a-host-1"));
        assert_eq!(instance_of("nobody"), None);
    }
}
