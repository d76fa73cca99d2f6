//! How soon a publish has its verdict while many clients publish, counted from the sending of the request.
//!
//! The times of the verdicts are read from the database at the end, so that reading does not add load. They
//! are the times that the worker took just before it wrote them. A few of the publishers also poll their page
//! every few milliseconds until the API no longer reports it as pending. Their times include the writing.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use domain::{Chance, Clock};
use futures::future::try_join_all;
use sqlx::{Connection, PgConnection, SqliteConnection};
use tokio::time::{Instant, interval, sleep};

use super::pages::honest;
use crate::Bench;
use crate::agent::Agent;
use crate::latencies::Latencies;
use crate::page::PAGE_BYTES;
use crate::system::BenchSystem;
use crate::table::{Row, Table};

const AGENTS: usize = 16;
const PUBLISHES_PER_SECOND: u64 = 100;
const RUN: Duration = Duration::from_secs(20);
const PUBLISHES: usize = PUBLISHES_PER_SECOND as usize * RUN.as_secs() as usize;
/// Opens connections and fills caches before the measurement.
const WARM_UP_PUBLISHES: usize = 100;

/// One in this many publishers polls its page.
const POLLER_EVERY: usize = 20;
const POLL_INTERVAL: Duration = Duration::from_millis(5);
const VERDICT_WAIT_MAX: Duration = Duration::from_secs(60);
const VERDICTS_READ_EVERY: Duration = Duration::from_secs(1);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let count = bench.extent().runs(PUBLISHES);
    let system = BenchSystem::embedded(bench, "scan-embedded").await?;
    add_rows(table, "embedded", &run(&system, count).await?);
    drop(system);
    let system = BenchSystem::production(bench, "scan-production").await?;
    add_rows(table, "production", &run(&system, count).await?);
    Ok(())
}

/// The results of one run.
struct Delays {
    verdicts: Latencies,
    polled: Latencies,
    answers: Latencies,
    took: Duration,
}

/// The time of one publish, by the clock of this machine.
struct Sent {
    host: String,
    at_ms: i64,
    answered_after: Duration,
    seen_after: Option<Duration>,
}

/// What a publisher does after the response.
enum After {
    Poll,
    Leave,
}

impl After {
    fn of(number: usize) -> Self {
        if number.is_multiple_of(POLLER_EVERY) { After::Poll } else { After::Leave }
    }
}

fn add_rows(table: &mut Table, mode: &str, delays: &Delays) {
    let rate = delays.verdicts.count() as f64 / delays.took.as_secs_f64();
    let beside = format!("{rate:.0} publishes /s; their answers took {}", delays.answers.percentile(50));
    let what = format!("publish to verdict, {mode}, 100 publishes /s");
    table.add(Row::of(format!("{what}, p50"), delays.verdicts.percentile(50)).note(beside));
    let (polled, answers) = (&delays.polled, delays.answers.percentile(99));
    let beside = format!(
        "answers {answers}; seen by GET, {} looked: p50 {}, worst {}",
        polled.count(),
        polled.percentile(50),
        polled.percentile(100)
    );
    table.add(Row::of(format!("{what}, p99"), delays.verdicts.percentile(99)).note(beside));
}

async fn run(system: &BenchSystem, count: usize) -> anyhow::Result<Delays> {
    let agents = try_join_all((0..AGENTS).map(|_| Agent::sign_up(&system.api_url))).await?;
    let agents: Vec<_> = agents.into_iter().map(Arc::new).collect();
    publishes(&agents, WARM_UP_PUBLISHES).await?;
    let started = Instant::now();
    let sent = publishes(&agents, count).await?;
    let took = sent.iter().map(|sent| sent.1).max().unwrap_or(started).duration_since(started);
    let sent: Vec<Sent> = sent.into_iter().map(|(sent, _)| sent).collect();
    let verdict_times = verdicts(system, WARM_UP_PUBLISHES + count).await?;
    let mut delays = Vec::new();
    for one in &sent {
        let at_ms = verdict_times.get(&one.host).context("a publish was never judged")?;
        delays.push(Duration::from_millis(u64::try_from(at_ms - one.at_ms).unwrap_or(0)));
    }
    Ok(Delays {
        verdicts: Latencies::of(delays),
        polled: Latencies::of(sent.iter().filter_map(|sent| sent.seen_after).collect()),
        answers: Latencies::of(sent.iter().map(|sent| sent.answered_after).collect()),
        took,
    })
}

/// Publishes at a constant rate, whether or not earlier ones have a response. Returns each with the time of
/// its response.
async fn publishes(agents: &[Arc<Agent>], count: usize) -> anyhow::Result<Vec<(Sent, Instant)>> {
    let mut pace = interval(Duration::from_secs(1) / u32::try_from(PUBLISHES_PER_SECOND)?);
    let mut publishing = Vec::new();
    for number in 0..count {
        let chance = Chance::from_system();
        let (slug, page) = (format!("page-{}", chance.base36(16)), honest(&chance, PAGE_BYTES));
        let agent = agents[number % agents.len()].clone();
        pace.tick().await;
        publishing.push(tokio::spawn(async move { publish(&agent, &slug, page, After::of(number)).await }));
    }
    try_join_all(publishing).await?.into_iter().collect()
}

async fn publish(agent: &Agent, slug: &str, page: String, after: After) -> anyhow::Result<(Sent, Instant)> {
    let (started, at_ms) = (Instant::now(), Clock::system().now().millis());
    let published = agent.publish_as(slug, page).await?;
    let answered = Instant::now();
    let seen_after = match after {
        After::Poll => Some(seen(agent, slug, started).await?),
        After::Leave => None,
    };
    let sent = Sent { host: published.host, at_ms, answered_after: answered - started, seen_after };
    Ok((sent, answered))
}

/// The time until the page first had a verdict.
async fn seen(agent: &Agent, slug: &str, started: Instant) -> anyhow::Result<Duration> {
    while started.elapsed() < VERDICT_WAIT_MAX {
        if agent.moderation_status(slug).await? != "pending" {
            return Ok(started.elapsed());
        }
        sleep(POLL_INTERVAL).await;
    }
    anyhow::bail!("{slug} had no verdict within {VERDICT_WAIT_MAX:?}")
}

/// The time of each host's verdict, in milliseconds since 1970, once there are this many.
async fn verdicts(system: &BenchSystem, count: usize) -> anyhow::Result<HashMap<String, i64>> {
    let started = Instant::now();
    loop {
        let verdict_times = read_verdicts(&system.database_url()).await.context("read the verdicts")?;
        if verdict_times.len() >= count {
            return Ok(verdict_times);
        }
        ensure!(
            started.elapsed() < VERDICT_WAIT_MAX,
            "{} of {count} publishes were judged",
            verdict_times.len()
        );
        sleep(VERDICTS_READ_EVERY).await;
    }
}

async fn read_verdicts(database: &str) -> sqlx::Result<HashMap<String, i64>> {
    const VERDICTS: &str = "SELECT artifacts.host, MIN(moderation_decisions.created_at) FROM moderation_decisions \
        JOIN artifacts ON artifacts.id = moderation_decisions.artifact_id \
        WHERE moderation_decisions.source = 'scan' GROUP BY artifacts.host";
    let rows: Vec<(String, i64)> = if database.starts_with("sqlite:") {
        sqlx::query_as(VERDICTS).fetch_all(&mut SqliteConnection::connect(database).await?).await?
    } else {
        sqlx::query_as(VERDICTS).fetch_all(&mut PgConnection::connect(database).await?).await?
    };
    Ok(rows.into_iter().collect())
}
