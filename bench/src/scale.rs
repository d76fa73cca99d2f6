//! How publishes scale with processes: 1, 2 and 4 workers and 1 or 2 APIs on the production stores, all on
//! this machine. Reports the processor time of each kind of process, and what saturates first.

pub mod processor;
mod saturation;

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use domain::Chance;
use futures::future::try_join_all;

use crate::Bench;
use crate::agent::Agent;
use crate::figure::Figure;
use crate::latencies::{Latencies, Ms};
use crate::page::page;
use crate::system::BenchSystem;
use crate::table::{Row, Table};
use processor::{Machine, Processes, Spent};
use saturation::Measured;

/// More than all processes handle at a time, so that no process waits for a client.
const CLIENTS: usize = 64;
/// Opens connections and fills caches, and lets every worker take part.
const WARM_UP: Duration = Duration::from_secs(2);
const RUSH: Duration = Duration::from_secs(8);
const CREWS: [Crew; 6] = [
    Crew { apis: 1, workers: 1 },
    Crew { apis: 1, workers: 2 },
    Crew { apis: 1, workers: 4 },
    Crew { apis: 2, workers: 1 },
    Crew { apis: 2, workers: 2 },
    Crew { apis: 2, workers: 4 },
];

/// The number of processes of each kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crew {
    pub apis: usize,
    pub workers: usize,
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let mut all = Vec::new();
    for workers in CREWS {
        let measured = rush_at(bench, workers).await?;
        add_rows(table, &measured);
        all.push(measured);
    }
    table.remark(saturation::sentence(&all));
    Ok(())
}

async fn rush_at(bench: &Bench, workers: Crew) -> anyhow::Result<Measured> {
    let name = format!("scale-{}-{}", workers.apis, workers.workers);
    let mut system = BenchSystem::production(bench, &name).await?;
    let mut apis = vec![system.api_url.clone()];
    for _ in 1..workers.apis {
        apis.push(system.start_api().await?);
    }
    for _ in 1..workers.workers {
        system.start_worker()?;
    }
    let agents = try_join_all((0..CLIENTS).map(|number| Agent::sign_up(&apis[number % apis.len()]))).await?;
    let agents: Vec<_> = agents.into_iter().map(Arc::new).collect();
    rush(&agents, WARM_UP).await?;

    let processes = Processes::of(&system, &bench.arguments).await?;
    let (before, machine_before) = (processes.spent()?, Machine::now()?);
    let started = Instant::now();
    let taken = rush(&agents, bench.extent().time(RUSH)).await?;
    let (took, spent) = (started.elapsed(), processes.spent()?.since(&before)?);
    Ok(Measured { workers, taken, took, spent, machine: Machine::now()?.since(&machine_before) })
}

/// Every client publishes without a pause. Returns the times of the publishes.
async fn rush(agents: &[Arc<Agent>], length: Duration) -> anyhow::Result<Latencies> {
    let end = Instant::now() + length;
    let clients = agents.iter().map(|agent| {
        let agent = agent.clone();
        let client = tokio::spawn(async move {
            let (chance, mut taken) = (Chance::from_system(), Vec::new());
            while Instant::now() < end {
                let html = page(&chance);
                let started = Instant::now();
                agent.publish(html).await?;
                taken.push(started.elapsed());
            }
            anyhow::Ok(taken)
        });
        async move { client.await.context("a client fell")? }
    });
    Ok(Latencies::of(try_join_all(clients).await?.concat()))
}

fn add_rows(table: &mut Table, measured: &Measured) {
    let Measured { workers, taken, machine, .. } = measured;
    let row =
        Row::of(format!("publish, {workers}, {CLIENTS} clients"), Figure::PerSecond(measured.per_second()));
    table.add(row.note(format!(
        "p50 {}, p99 {}; processors {:.0} % busy, {:.0} % waiting for the disk",
        taken.percentile(50),
        taken.percentile(99),
        machine.busy_percent,
        machine.disk_percent
    )));
    let each = per_publish(measured.spent.total(), taken.count());
    let kinds = by_kind(&measured.spent, taken.count());
    table.add(Row::of(format!("processor time per publish, {workers}"), each).note(kinds));
}

fn by_kind(spent: &Spent, publishes: usize) -> String {
    let kinds = spent.0.iter().map(|(kind, time)| format!("{kind} {}", per_publish(*time, publishes)));
    kinds.collect::<Vec<_>>().join(", ")
}

fn per_publish(time: Duration, publishes: usize) -> Ms {
    Ms(time.div_f64(publishes.max(1) as f64))
}
