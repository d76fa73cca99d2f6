//! Publishes by one client and by many, beside what the machine itself takes for the least of it.

use std::time::{Duration, Instant};

use domain::Chance;
use futures::future::try_join_all;

use crate::agent::Agent;
use crate::house::House;
use crate::latencies::{Latencies, Ms};
use crate::page::page;
use crate::table::{NO_GOAL, Table};
use crate::{Bench, floor};

/// Before anything is timed: connections are open, caches are warm.
const WARM_UP_PUBLISHES: u32 = 50;
/// By one client, timed each; an account stores 20 MB, which is ten times as much.
const PUBLISHES: u32 = 500;
const CLIENTS: usize = 32;
const RUSH: Duration = Duration::from_secs(8);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let floor = floor::measure(&bench.folder.path().join("floor")).await?;
    table.add("floor: fsynced file + SQLite commit, p50", floor.percentile(50).to_string(), NO_GOAL, "");
    table.add("floor: the same, p99", floor.percentile(99).to_string(), NO_GOAL, "");

    let embedded = House::embedded(bench, "embedded").await?;
    let taken = one_client(&embedded).await?;
    table.add(
        "publish, embedded, one client, p50",
        taken.percentile(50).to_string(),
        "≤ 6 ms",
        beside_the_floor(&taken, &floor, 50),
    );
    table.add(
        "publish, embedded, one client, p99",
        taken.percentile(99).to_string(),
        "≤ 20 ms",
        beside_the_floor(&taken, &floor, 99),
    );
    let taken = many_clients(&embedded).await?;
    table.add(
        "publish, embedded, 32 clients",
        per_second(&taken),
        "≥ 400 /s",
        format!("p50 {}, p99 {}", taken.percentile(50), taken.percentile(99)),
    );
    drop(embedded);

    let production = House::production(bench, "production").await?;
    let taken = one_client(&production).await?;
    let p99 = format!("{}, p99 {}", beside_the_floor(&taken, &floor, 50), taken.percentile(99));
    table.add("publish, production, one client, p50", taken.percentile(50).to_string(), "≤ 12 ms", p99);
    let taken = many_clients(&production).await?;
    table.add(
        "publish, production, 32 clients",
        per_second(&taken),
        NO_GOAL,
        format!("p50 {}, p99 {}", taken.percentile(50), taken.percentile(99)),
    );
    Ok(())
}

async fn one_client(house: &House) -> anyhow::Result<Latencies> {
    let chance = Chance::from_system();
    let agent = Agent::sign_up(&house.api_url).await?;
    for _ in 0..WARM_UP_PUBLISHES {
        agent.publish(page(&chance)).await?;
    }
    let mut taken = Vec::new();
    for _ in 0..PUBLISHES {
        taken.push(publish(&agent, &chance).await?);
    }
    Ok(Latencies::of(taken))
}

async fn many_clients(house: &House) -> anyhow::Result<Latencies> {
    let agents = try_join_all((0..CLIENTS).map(|_| Agent::sign_up(&house.api_url))).await?;
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

fn beside_the_floor(taken: &Latencies, floor: &Latencies, percent: usize) -> String {
    let (taken, floor): (Ms, Ms) = (taken.percentile(percent), floor.percentile(percent));
    format!("{:.1} × the floor", taken.ratio_to(floor))
}

fn per_second(taken: &Latencies) -> String {
    format!("{} /s", taken.count() / RUSH.as_secs() as usize)
}
