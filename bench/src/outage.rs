//! Pages in the memory of an edge while PostgreSQL or Redis hangs. Nothing can change without PostgreSQL, and
//! without Redis the edge asks PostgreSQL. In both cases it must continue to serve.

use std::time::Duration;

use anyhow::Context;
use domain::Chance;
use reqwest::Client;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, timeout};

use crate::Bench;
use crate::agent::Agent;
use crate::figure::{Figure, Goal};
use crate::latencies::Latencies;
use crate::page::page;
use crate::scale::processor::{postgres_id, process_tree, redis_id};
use crate::system::BenchSystem;
use crate::table::{Row, Table};

const PAGES: usize = 200;
const BEFORE: Duration = Duration::from_secs(60);
const OUTAGE: Duration = Duration::from_secs(300);
/// The rate is constant, so that both times have as many visits.
const VISIT_INTERVAL: Duration = Duration::from_millis(5);
/// A read that takes longer counts as failed.
const VISIT_MAX: Duration = Duration::from_secs(5);
/// How long a system may take to recover from the outage.
const RECOVERY_MAX: Duration = Duration::from_secs(60);
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The 99th percentile is "as before" up to this ratio.
const SAME: Goal = Goal::RatioAtMost(1.2);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let (postgres, redis) = (postgres_id(&bench.arguments).await?, redis_id(&bench.arguments).await?);
    let system = BenchSystem::production(bench, "outage").await?;
    let agent = Agent::sign_up(&system.api_url).await?;
    agent.claim().await?;
    let pages = Pages::publish(&agent).await?;
    for (server, id) in [("PostgreSQL", postgres), ("Redis", redis)] {
        pages.read_all().await?;
        let before = pages.visit(bench.extent().time(BEFORE)).await?;
        let frozen = Frozen::new(id)?;
        let time = bench.extent().time(OUTAGE);
        let meanwhile = pages.visit(time).await?;
        drop(frozen);
        add_rows(table, &format!("{server} hangs for {} seconds", time.as_secs()), before, meanwhile);
        recovered(&agent, &pages).await?;
    }
    Ok(())
}

/// Waits until the system publishes and serves again, so that its recovery is not measured.
async fn recovered(agent: &Agent, pages: &Pages) -> anyhow::Result<()> {
    let works =
        async || agent.publish(page(&Chance::from_system())).await.is_ok() && pages.read_all().await.is_ok();
    let recovery = async {
        while !works().await {
            sleep(RETRY_INTERVAL).await;
        }
    };
    timeout(RECOVERY_MAX, recovery).await.context("the system does not recover from the outage")
}

fn add_rows(table: &mut Table, outage: &str, before: Visits, meanwhile: Visits) {
    let [visits, visits_before] = [&meanwhile, &before].map(|visits| visits.taken.len());
    let [taken, before] = [meanwhile.taken, before.taken].map(|taken| Latencies::of(taken).percentile(99));
    let row = Row::of(format!("read a page while {outage}, p99"), taken).beside("before", before).goal(SAME);
    table.add(row.note(format!("{visits} reads, before {visits_before}")));
    for (what, count) in [("failed reads", meanwhile.failed), ("old pages", meanwhile.old)] {
        let row = Row::of(format!("{what} while {outage}"), Figure::Count(count));
        table.add(row.goal(Goal::AtMost(0.0)));
    }
}

/// Pages with the content that a visitor must get.
struct Pages {
    client: Client,
    pages: Vec<(String, String)>,
}

/// The visits of a period.
#[derive(Default)]
struct Visits {
    taken: Vec<Duration>,
    failed: usize,
    /// Responses with another content than the last published one.
    old: usize,
}

impl Pages {
    /// Publishes two versions of each page. The first one was read once, so that an edge may still have it.
    async fn publish(agent: &Agent) -> anyhow::Result<Self> {
        let chance = Chance::from_system();
        let client = Client::builder().no_proxy().timeout(VISIT_MAX).build()?;
        let mut pages = Vec::new();
        for number in 0..PAGES {
            let slug = format!("page-{number}");
            let first = agent.publish_as(&slug, page(&chance)).await?;
            client.get(&first.url).send().await?.error_for_status()?.bytes().await?;
            let html = page(&chance);
            pages.push((agent.publish_as(&slug, html.clone()).await?.url, html));
        }
        Ok(Self { client, pages })
    }

    /// Reads each page once, so that the edge has it in memory.
    async fn read_all(&self) -> anyhow::Result<()> {
        for (url, _) in &self.pages {
            self.read(url).await?;
        }
        Ok(())
    }

    /// Reads all pages in turn until the time is up. A read is due at each interval. If the read before is
    /// still running then, the wait counts.
    async fn visit(&self, time: Duration) -> anyhow::Result<Visits> {
        let (mut visits, end) = (Visits::default(), Instant::now() + time);
        let mut pace = interval(VISIT_INTERVAL);
        pace.set_missed_tick_behavior(MissedTickBehavior::Burst);
        let mut free_since = Instant::now();
        for (url, html) in self.pages.iter().cycle() {
            let due = pace.tick().await;
            if due >= end {
                break;
            }
            // A timer may fire 2 ms late, which is not the edge's time.
            let begun = if free_since > due { due } else { Instant::now() };
            // The limit includes the wait. Otherwise reads that hang would prolong the outage.
            let left = VISIT_MAX.saturating_sub(begun.elapsed());
            match timeout(left, self.read(url)).await {
                Ok(Ok(body)) => visits.old += usize::from(body != *html),
                Ok(Err(_)) | Err(_) => visits.failed += 1,
            }
            visits.taken.push(begun.elapsed());
            free_since = Instant::now();
        }
        Ok(visits)
    }

    async fn read(&self, url: &str) -> reqwest::Result<String> {
        self.client.get(url).send().await?.error_for_status()?.text().await
    }
}

/// A server whose processes are stopped, as on a machine that hangs. They continue when it is dropped.
struct Frozen(Vec<u32>);

impl Frozen {
    fn new(server: u32) -> anyhow::Result<Self> {
        let mut frozen = Self(Vec::new());
        // A stopped process creates no children, so that the search is complete when it finds no new ones.
        loop {
            let tree = process_tree(server)?;
            let new: Vec<_> = tree.into_iter().filter(|id| !frozen.0.contains(id)).collect();
            if new.is_empty() {
                return Ok(frozen);
            }
            for id in new {
                send(Signal::STOP, id)?;
                frozen.0.push(id);
            }
        }
    }
}

impl Drop for Frozen {
    fn drop(&mut self) {
        for id in &self.0 {
            let _ = send(Signal::CONT, *id);
        }
    }
}

/// A process of the server may have ended meanwhile.
fn send(signal: Signal, id: u32) -> anyhow::Result<()> {
    let process = i32::try_from(id).ok().and_then(Pid::from_raw).context("no process id")?;
    match kill_process(process, signal) {
        Err(Errno::SRCH) => Ok(()),
        sent => Ok(sent?),
    }
}
