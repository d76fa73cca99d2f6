//! Publishes by one client and by many, compared with the machine's own minimum for a publish.

use std::time::{Duration, Instant};

use domain::Chance;
use futures::future::try_join_all;

use crate::agent::Agent;
use crate::figure::{Figure, Goal};
use crate::latencies::Latencies;
use crate::page::page;
use crate::system::BenchSystem;
use crate::table::{Row, Table};
use crate::{Bench, floor};

/// Opens connections and fills caches before the measurement.
const WARM_UP_PUBLISHES: u32 = 50;
/// By one client, each timed. An account may store 20 MB, ten times as much.
const PUBLISHES: u32 = 500;
const CLIENTS: usize = 32;
const RUSH: Duration = Duration::from_secs(8);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let floor = floor::measure(&bench.folder.path().join("floor")).await?;
    table.add(Row::of("floor: fsynced file + SQLite commit, p50", floor.percentile(50)));
    table.add(Row::of("floor: the same, p99", floor.percentile(99)));

    let embedded = BenchSystem::embedded(bench, "embedded").await?;
    let taken = one_client(&embedded).await?;
    for (percent, goal) in [(50, 6.0), (99, 20.0)] {
        let what = format!("publish, embedded, one client, p{percent}");
        table.add(beside_the_floor(what, &taken, &floor, percent).goal(Goal::AtMost(goal)));
    }
    let taken = many_clients(&embedded).await?;
    table.add(per_second("publish, embedded, 32 clients", &taken).goal(Goal::AtLeast(500.0)));
    drop(embedded);

    let production = BenchSystem::production(bench, "production").await?;
    let taken = one_client(&production).await?;
    let row = beside_the_floor("publish, production, one client, p50".to_owned(), &taken, &floor, 50);
    table.add(row.goal(Goal::AtMost(12.0)).note(format!("p99 {}", taken.percentile(99))));
    let taken = many_clients(&production).await?;
    table.add(per_second("publish, production, 32 clients", &taken));
    Ok(())
}

async fn one_client(system: &BenchSystem) -> anyhow::Result<Latencies> {
    let chance = Chance::from_system();
    let agent = Agent::sign_up(&system.api_url).await?;
    for _ in 0..WARM_UP_PUBLISHES {
        agent.publish(page(&chance)).await?;
    }
    let mut taken = Vec::new();
    for _ in 0..PUBLISHES {
        taken.push(publish(&agent, &chance).await?);
    }
    Ok(Latencies::of(taken))
}

async fn many_clients(system: &BenchSystem) -> anyhow::Result<Latencies> {
    let agents = try_join_all((0..CLIENTS).map(|_| Agent::sign_up(&system.api_url))).await?;
    let end = Instant::now() + RUSH;
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
    Ok(Latencies::of(try_join_all(clients).await?.concat()))
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

fn per_second(what: &str, taken: &Latencies) -> Row {
    let rate = taken.count() as f64 / RUSH.as_secs_f64();
    let note = format!("p50 {}, p99 {}", taken.percentile(50), taken.percentile(99));
    Row::of(what, Figure::PerSecond(rate)).note(note)
}
