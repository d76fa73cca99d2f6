//! Publishes by one client and by many, compared with the machine's own minimum for a publish.

use std::time::{Duration, Instant};

use domain::Chance;
use futures::future::try_join_all;

use crate::agent::Agent;
use crate::extent::Extent;
use crate::figure::{Figure, Goal};
use crate::latencies::Latencies;
use crate::page::page;
use crate::system::BenchSystem;
use crate::table::{Row, Table};
use crate::{Bench, floor};

/// Opens connections and fills caches before the measurement.
const WARM_UP_PUBLISHES: u32 = 50;
/// The publishes by one client, each timed. Their size is a tenth of the 20 MB that an account may store.
const PUBLISHES: usize = 500;
const CLIENTS: usize = 32;
const RUSH: Duration = Duration::from_secs(8);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let extent = bench.extent();
    let floor = floor::measure(&bench.folder.path().join("floor")).await?;
    table.add(Row::of("floor: fsynced file + SQLite commit, p50", floor.percentile(50)));
    table.add(Row::of("floor: the same, p99", floor.percentile(99)));

    let embedded = BenchSystem::embedded(bench, "embedded").await?;
    let taken = one_client(&embedded, extent).await?;
    for (percent, goal) in [(50, 6.0), (99, 20.0)] {
        let what = format!("publish, embedded, one client, p{percent}");
        table.add(beside_the_floor(what, &taken, &floor, percent).goal(Goal::AtMost(goal)));
    }
    let rate = many_clients(&embedded, extent.time(RUSH)).await?;
    table.add(rate.row("publish, embedded, 32 clients").goal(Goal::AtLeast(500.0)));
    drop(embedded);

    let production = BenchSystem::production(bench, "production").await?;
    let taken = one_client(&production, extent).await?;
    let row = beside_the_floor("publish, production, one client, p50".to_owned(), &taken, &floor, 50);
    table.add(row.goal(Goal::AtMost(12.0)).note(format!("p99 {}", taken.percentile(99))));
    let rate = many_clients(&production, extent.time(RUSH)).await?;
    table.add(rate.row("publish, production, 32 clients"));
    Ok(())
}

async fn one_client(system: &BenchSystem, extent: Extent) -> anyhow::Result<Latencies> {
    let chance = Chance::from_system();
    let agent = Agent::sign_up(&system.api_url).await?;
    for _ in 0..WARM_UP_PUBLISHES {
        agent.publish(page(&chance)).await?;
    }
    let mut taken = Vec::new();
    for _ in 0..extent.runs(PUBLISHES) {
        taken.push(publish(&agent, &chance).await?);
    }
    Ok(Latencies::of(taken))
}

async fn many_clients(system: &BenchSystem, length: Duration) -> anyhow::Result<Rush> {
    let agents = try_join_all((0..CLIENTS).map(|_| Agent::sign_up(&system.api_url))).await?;
    let end = Instant::now() + length;
    let clients = agents.into_iter().map(|agent| async move {
        let client = tokio::spawn(async move {
            let chance = Chance::from_system();
            let mut taken = Vec::new();
            while Instant::now() < end {
                taken.push(publish(&agent, &chance).await?);
            }
            anyhow::Ok(taken)
        });
        client.await?
    });
    Ok(Rush { taken: Latencies::of(try_join_all(clients).await?.concat()), length })
}

async fn publish(agent: &Agent, chance: &Chance) -> anyhow::Result<Duration> {
    let html = page(chance);
    let started = Instant::now();
    agent.publish(html).await?;
    Ok(started.elapsed())
}

fn beside_the_floor(what: String, taken: &Latencies, floor: &Latencies, percent: usize) -> Row {
    Row::of(what, taken.percentile(percent)).beside("the floor", floor.percentile(percent))
}

/// The times of all publishes of many clients.
struct Rush {
    taken: Latencies,
    length: Duration,
}

impl Rush {
    fn row(&self, what: &str) -> Row {
        let rate = self.taken.count() as f64 / self.length.as_secs_f64();
        let note = format!("p50 {}, p99 {}", self.taken.percentile(50), self.taken.percentile(99));
        Row::of(what, Figure::PerSecond(rate)).note(note)
    }
}
