//! Publishes in production mode with an object store that takes 20 ms for each request, as distant ones do.

use std::time::{Duration, Instant};

use domain::Chance;

use crate::Bench;
use crate::agent::Agent;
use crate::latencies::Latencies;
use crate::page::SiteFile;
use crate::system::BenchSystem;
use crate::table::{Row, Table};

const LATENCY: Duration = Duration::from_millis(20);
/// The files of a site, and how many such sites are published.
const SITES: [(usize, usize); 3] = [(1, 100), (10, 50), (50, 25)];
/// Opens connections and fills caches.
const WARM_UP_RUNS: usize = 5;

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let system = BenchSystem::production_with(bench, "bucket", LATENCY).await?;
    let agent = Agent::sign_up(&system.api_url).await?;
    agent.claim().await?;
    publishes(&agent, 1, WARM_UP_RUNS).await?;
    for (files, runs) in SITES {
        let before = system.s3_requests();
        let taken = publishes(&agent, files, bench.extent().runs(runs)).await?;
        let requests = (system.s3_requests() - before) as f64 / taken.count() as f64;
        let plural = if files == 1 { "" } else { "s" };
        let latency_ms = LATENCY.as_millis();
        let what = format!("publish a new site of {files} file{plural}, S3 with {latency_ms} ms, p50");
        let note = format!("p99 {}, {requests:.1} requests to S3 with the scan", taken.percentile(99));
        table.add(Row::of(what, taken.percentile(50)).note(note));
    }
    Ok(())
}

async fn publishes(agent: &Agent, files: usize, runs: usize) -> anyhow::Result<Latencies> {
    let (chance, mut taken) = (Chance::from_system(), Vec::new());
    for _ in 0..runs {
        let slug = format!("site-{}", chance.base36(16));
        let mut site = SiteFile::others(&chance, files);
        site.push(SiteFile::index(&chance));
        let started = Instant::now();
        agent.publish_site(&slug, &site).await?;
        taken.push(started.elapsed());
    }
    Ok(Latencies::of(taken))
}
