//! The memory of `handbill serve` under a steady load: after a fifth of the time, when caches are full, and
//! at the end. If the memory grows in between, some of it is not returned.

use std::time::{Duration, Instant};

use anyhow::Context;
use domain::Chance;
use futures::future::try_join_all;
use reqwest::Client;
use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::Bench;
use crate::agent::Agent;
use crate::extent::Extent;
use crate::figure::Figure;
use crate::page::page;
use crate::system::BenchSystem;
use crate::table::{Row, Table};

const CLIENTS: usize = 8;
/// A client publishes a page this often, and then visits some of its pages. The rate is constant, so that a
/// faster build does not have more to remember.
const PUBLISH_INTERVAL: Duration = Duration::from_millis(200);
const VISITS_PER_PUBLISH: usize = 10;
const EARLY_SHARE: f64 = 0.2;

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let minutes = bench.arguments.minutes.unwrap_or(match bench.extent() {
        Extent::Full => 5.0,
        Extent::Quick => 0.2,
    });
    let length = Duration::try_from_secs_f64(minutes * 60.0).context("the minutes of the load")?;
    let system = BenchSystem::embedded(bench, "memory").await?;
    let agents = try_join_all((0..CLIENTS).map(|_| Agent::sign_up(&system.api_url))).await?;
    let started = Instant::now();
    let mut clients = Vec::new();
    for agent in agents {
        agent.claim().await?;
        clients.push(tokio::spawn(load(agent, started + length)));
    }
    sleep(length.mul_f64(EARLY_SHARE)).await;
    let early = resident(&system)?;
    let mut publishes = 0;
    for client in clients {
        publishes += client.await.context("a client fell")??;
    }
    let what = format!("memory of handbill serve, {minutes} minutes of load");
    table.add(Row::of(format!("{what}, at {:.0} %", EARLY_SHARE * 100.0), early));
    let note = format!("{publishes} publishes, {} views", publishes * VISITS_PER_PUBLISH);
    table.add(Row::of(format!("{what}, at the end"), resident(&system)?).beside("early", early).note(note));
    Ok(())
}

fn resident(system: &BenchSystem) -> anyhow::Result<Figure> {
    Ok(Figure::Megabytes(system.resident_bytes()? as f64 / 1e6))
}

/// Publishes new pages and visits any of them until the end. Returns the number of publishes.
async fn load(agent: Agent, end: Instant) -> anyhow::Result<usize> {
    let (chance, visitor) = (Chance::from_system(), Client::builder().no_proxy().build()?);
    let mut pace = interval(PUBLISH_INTERVAL);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut urls = Vec::new();
    while Instant::now() < end {
        pace.tick().await;
        urls.push(agent.publish(page(&chance)).await?.url);
        for _ in 0..VISITS_PER_PUBLISH {
            let url = &urls[usize::from(u16::from_le_bytes(chance.bytes())) % urls.len()];
            visitor.get(url).send().await?.error_for_status()?.bytes().await?;
        }
    }
    Ok(urls.len())
}
