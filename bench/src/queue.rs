//! The throughput of the queue with jobs that do nothing: ours compared with a table with `FOR UPDATE SKIP
//! LOCKED` on the same PostgreSQL, a table in SQLite, and a list in Redis.
//!
//! Every job is pushed by a caller that waits until it is stored, given to a worker once, and marked as done.

mod list;
mod ours;
mod postgres_table;
mod sqlite_table;
mod workers;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, ensure};
use futures::future::try_join_all;

use crate::Bench;
use crate::figure::Figure;
use crate::system::new_database;
use crate::table::{Row, Table};
use list::List;
use ours::Ours;
use postgres_table::PostgresTable;
use sqlite_table::SqliteTable;

const PUSHERS: usize = 32;
/// The number of jobs that a pool processes at a time.
const CONCURRENCY: usize = 32;
/// With this many undone jobs callers wait, because the measurement is not about storing a backlog.
const BACKLOG_MAX: u64 = 500;
const RUN: Duration = Duration::from_secs(5);
/// Longer than the jobs of a run take.
const DRAIN_WAIT_MAX: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The payload of a job, about as large as that of a scan.
const PAYLOAD: &str = r#"{"kind":"scan","payload":{"account":"01M807S6T83C3PBZ7D44TAV0FR","version":"01M807S7HQGXBRRRFMPVQWR2SF"}}"#;

/// A queue in the comparison, with its workers.
enum Contestant {
    Ours(Ours),
    Table(PostgresTable),
    File(SqliteTable),
    List(List),
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let run = bench.extent().time(RUN);
    let folder = bench.folder.path().join("queue");
    std::fs::create_dir_all(&folder)?;
    let sqlite = format!("sqlite://{}", folder.join("ours.db").display());
    let redis = bench.arguments.redis.as_deref().context("this needs a Redis: --redis")?;

    let ours = throughput(Contestant::Ours(Ours::start(&sqlite).await?), run).await?;
    let file = SqliteTable::start(&folder.join("plain.db")).await?;
    let file = throughput(Contestant::File(file), run).await?;
    let what = "jobs that do nothing, queue on SQLite";
    table.add(Row::of(what, ours).beside("a plain table in SQLite", file));

    let database = new_database(&bench.arguments).await?;
    let ours = throughput(Contestant::Ours(Ours::start(&database).await?), run).await?;
    let plain = PostgresTable::start(&new_database(&bench.arguments).await?).await?;
    let plain = throughput(Contestant::Table(plain), run).await?;
    let list = throughput(Contestant::List(List::start(redis).await?), run).await?;
    let row = || Row::of("jobs that do nothing, queue on PostgreSQL", ours);
    table.add(row().beside("a table with SKIP LOCKED", plain));
    table.add(
        row().beside("a list in Redis", list).note("the list keeps nothing when Redis or a worker falls"),
    );
    Ok(())
}

/// Callers push as fast as the jobs are done. Returns the rate until the last job was done.
async fn throughput(contestant: Contestant, run: Duration) -> anyhow::Result<Figure> {
    let (started, pushed) = (Instant::now(), AtomicU64::new(0));
    let pushers = (0..PUSHERS).map(|_| async {
        while started.elapsed() < run {
            if pushed.load(Ordering::Relaxed) > contestant.done() + BACKLOG_MAX {
                tokio::time::sleep(POLL_INTERVAL).await;
                continue;
            }
            contestant.push().await?;
            pushed.fetch_add(1, Ordering::Relaxed);
        }
        anyhow::Ok(())
    });
    try_join_all(pushers).await?;
    let pushed = pushed.into_inner();
    while contestant.done() < pushed {
        let (name, done) = (contestant.name(), contestant.done());
        ensure!(started.elapsed() < run + DRAIN_WAIT_MAX, "{name} has done {done} of {pushed} jobs");
        tokio::time::sleep(POLL_INTERVAL).await;
    }
    let took = started.elapsed();
    contestant.stop().await?;
    Ok(Figure::PerSecond(pushed as f64 / took.as_secs_f64()))
}

impl Contestant {
    async fn push(&self) -> anyhow::Result<()> {
        match self {
            Self::Ours(ours) => ours.push().await,
            Self::Table(table) => table.push().await,
            Self::File(file) => file.push().await,
            Self::List(list) => list.push().await,
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Ours(_) => "our queue",
            Self::Table(_) => "the table with SKIP LOCKED",
            Self::File(_) => "the table in SQLite",
            Self::List(_) => "the list in Redis",
        }
    }

    fn done(&self) -> u64 {
        match self {
            Self::Ours(ours) => ours.done(),
            Self::Table(table) => table.workers.done(),
            Self::File(file) => file.workers.done(),
            Self::List(list) => list.workers.done(),
        }
    }

    async fn stop(self) -> anyhow::Result<()> {
        match self {
            Self::Ours(ours) => ours.stop().await,
            Self::Table(table) => table.workers.stop().await,
            Self::File(file) => file.workers.stop().await,
            Self::List(list) => list.workers.stop().await,
        }
    }
}
