//! The attempts and depths of the last hour. All processes add to the same rows: one per queue and minute,
//! and one per queue and short interval of the last minutes. See decision 0046.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use anyhow::Context;
use domain::{Queue, Time};
use service::{HISTORY_MINUTES, QueueMinute};
use sqlx::QueryBuilder;

use crate::Queues;
use crate::rates::{BOUNDS_MS, BUCKETS, Interval, MINUTE_S, RECENT_S, Tally, start_of};
use crate::sql::on_either;

/// The rates are those of this time.
const WINDOW_S: i64 = 60;
/// Short intervals are deleted after this time.
const RECENT_KEPT_S: i64 = 180;
/// Minutes are deleted after this time. The board shows an hour; the rest is for questions on the next day.
const MINUTES_KEPT_S: i64 = 25 * 3600;

const DELETE: &str = "
    DELETE FROM handbill_queue_figures WHERE (width_s < 60 AND at_s < $1) OR (width_s = 60 AND at_s < $2)";
const HAS_DEPTH: &str = "
    SELECT EXISTS (SELECT 1 FROM handbill_queue_figures
        WHERE width_s = 60 AND at_s = $1 AND depth IS NOT NULL)";

/// What the table says about one queue.
#[derive(Clone, Debug, Default)]
pub(super) struct QueueHistory {
    /// Attempts that succeeded and failed in the last 60 seconds.
    pub(super) done: u64,
    pub(super) failed: u64,
    /// The last hour, oldest minute first, including minutes in which nothing happened.
    pub(super) minutes: Vec<QueueMinute>,
}

#[derive(sqlx::FromRow)]
struct FiguresRow {
    queue: String,
    width_s: i64,
    at_s: i64,
    depth: Option<i64>,
    done: i64,
    failed: i64,
    /// The counts of the buckets, separated by commas.
    took: String,
}

impl Queues {
    /// Adds what this process has counted since the last time. A failure loses nothing.
    pub(crate) async fn write_rates(&self) -> anyhow::Result<()> {
        let counted = self.rates.take();
        if counted.is_empty() {
            return Ok(());
        }
        let written = on_either!(&self.database, pool => {
            upsert_tallies(&counted).build().execute(pool).await.map(drop)
        });
        if written.is_err() {
            self.rates.add(counted);
        }
        written.context("writing the attempts of this process")
    }

    /// Records how many jobs are unfinished, once a minute in the whole deployment, and deletes old rows.
    /// Processes that do so at the same time write the same.
    pub(crate) async fn write_depths(&self, now: Time) -> anyhow::Result<()> {
        let minute = start_of(MINUTE_S, now);
        if self.depths_at_s.load(Ordering::Relaxed) == minute {
            return Ok(());
        }
        let is_written: bool = on_either!(&self.database, pool => {
            sqlx::query_scalar(HAS_DEPTH).bind(minute).fetch_one(pool).await
        })
        .context("reading the depths of the queues")?;
        if is_written {
            self.depths_at_s.store(minute, Ordering::Relaxed);
            return Ok(());
        }
        let depths: Vec<(Queue, u64)> = self
            .job_counts()
            .await?
            .into_iter()
            .map(|(queue, counts)| (queue, counts.unfinished()))
            .collect();
        on_either!(&self.database, pool => {
            upsert_depths(minute, &depths).build().execute(pool).await?;
            let (recent, minutes) = (start_of(1, now) - RECENT_KEPT_S, minute - MINUTES_KEPT_S);
            sqlx::query(DELETE).bind(recent).bind(minutes).execute(pool).await.map(drop)
        })
        .context("writing the depths of the queues")?;
        self.depths_at_s.store(minute, Ordering::Relaxed);
        Ok(())
    }

    /// The rates and the last hour of every queue.
    pub(super) async fn history(&self, now: Time) -> anyhow::Result<BTreeMap<Queue, QueueHistory>> {
        let select = sqlx::AssertSqlSafe(select_figures());
        let (first_minute, window) = (first_minute(now), start_of(1, now) - WINDOW_S);
        let rows: Vec<FiguresRow> = on_either!(&self.database, pool => {
            sqlx::query_as(select).bind(first_minute).bind(window).fetch_all(pool).await
        })
        .context("reading the figures of the queues")?;
        Ok(Queue::ALL.map(|queue| (queue, history_of(queue, &rows, now))).into())
    }
}

fn first_minute(now: Time) -> i64 {
    start_of(MINUTE_S, now) - (HISTORY_MINUTES as i64 - 1) * MINUTE_S
}

fn history_of(queue: Queue, rows: &[FiguresRow], now: Time) -> QueueHistory {
    let of_queue = || rows.iter().filter(|row| row.queue == queue.name());
    let recent = || of_queue().filter(|row| row.width_s == RECENT_S);
    let minutes: BTreeMap<i64, &FiguresRow> =
        of_queue().filter(|row| row.width_s == MINUTE_S).map(|row| (row.at_s, row)).collect();
    let starts = (0..HISTORY_MINUTES as i64).map(|number| first_minute(now) + number * MINUTE_S);
    QueueHistory {
        done: recent().map(|row| count(row.done)).sum(),
        failed: recent().map(|row| count(row.failed)).sum(),
        minutes: starts.map(|at_s| minute_of(at_s, minutes.get(&at_s).copied())).collect(),
    }
}

fn minute_of(at_s: i64, row: Option<&FiguresRow>) -> QueueMinute {
    let tally = row.map(tally_of).unwrap_or_default();
    QueueMinute {
        at: Time::from_millis(at_s * 1000),
        depth: row.and_then(|row| row.depth).map(count),
        done: tally.done,
        failed: tally.failed,
        took_p50_ms: tally.quantile_ms(0.5),
        took_p95_ms: tally.quantile_ms(0.95),
    }
}

fn tally_of(row: &FiguresRow) -> Tally {
    let mut took = [0; BUCKETS];
    for (bucket, text) in took.iter_mut().zip(row.took.split(',')) {
        *bucket = text.parse().unwrap_or_default();
    }
    Tally { done: count(row.done), failed: count(row.failed), took }
}

fn count(stored: i64) -> u64 {
    u64::try_from(stored).unwrap_or_default()
}

/// The columns of the histogram. [`crate::schema`] creates as many.
fn buckets() -> impl Iterator<Item = String> {
    (0..=BOUNDS_MS.len()).map(|number| format!("took_{number}"))
}

fn select_figures() -> String {
    let took = buckets().collect::<Vec<_>>().join(" || ',' || ");
    format!(
        "SELECT queue, width_s, at_s, depth, done, failed, {took} AS took FROM handbill_queue_figures
         WHERE (width_s = {MINUTE_S} AND at_s >= $1) OR (width_s = {RECENT_S} AND at_s >= $2)"
    )
}

fn upsert_tallies<D: sqlx::Database>(counted: &BTreeMap<Interval, Tally>) -> QueryBuilder<D>
where
    String: sqlx::Type<D> + for<'q> sqlx::Encode<'q, D>,
    i64: sqlx::Type<D> + for<'q> sqlx::Encode<'q, D>,
{
    let sums: Vec<String> = ["done".to_owned(), "failed".to_owned()].into_iter().chain(buckets()).collect();
    let mut upsert = QueryBuilder::new("INSERT INTO handbill_queue_figures (queue, width_s, at_s, ");
    upsert.push(sums.join(", ")).push(") ");
    upsert.push_values(counted, |mut values, (interval, tally)| {
        values.push_bind(interval.queue.name().to_owned());
        values.push_bind(interval.width_s).push_bind(interval.at_s);
        for sum in [tally.done, tally.failed].into_iter().chain(tally.took) {
            values.push_bind(i64::try_from(sum).unwrap_or(i64::MAX));
        }
    });
    let additions = sums.iter().map(|sum| format!("{sum} = handbill_queue_figures.{sum} + excluded.{sum}"));
    upsert.push(" ON CONFLICT (width_s, at_s, queue) DO UPDATE SET ");
    upsert.push(additions.collect::<Vec<_>>().join(", "));
    upsert
}

fn upsert_depths<D: sqlx::Database>(minute: i64, depths: &[(Queue, u64)]) -> QueryBuilder<D>
where
    String: sqlx::Type<D> + for<'q> sqlx::Encode<'q, D>,
    i64: sqlx::Type<D> + for<'q> sqlx::Encode<'q, D>,
{
    let mut upsert = QueryBuilder::new("INSERT INTO handbill_queue_figures (queue, width_s, at_s, depth) ");
    upsert.push_values(depths, |mut values, (queue, depth)| {
        values.push_bind(queue.name().to_owned()).push_bind(MINUTE_S).push_bind(minute);
        values.push_bind(i64::try_from(*depth).unwrap_or(i64::MAX));
    });
    upsert.push(" ON CONFLICT (width_s, at_s, queue) DO UPDATE SET depth = excluded.depth");
    upsert
}
