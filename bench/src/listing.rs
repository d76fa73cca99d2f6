//! How long the list of an account with 10,000 artifacts takes: one page, all pages, and the whole list in
//! one response.

use std::time::Instant;

use anyhow::ensure;

use crate::Bench;
use crate::agent::Agent;
use crate::growth::{Filling, Mode};
use crate::latencies::Latencies;
use crate::table::{Row, Table};

const ARTIFACTS: usize = 10_000;
const PAGE_ROWS: usize = 100;
const RUNS: usize = 200;
const WHOLE_RUNS: usize = 25;

/// How the list is read.
#[derive(Clone, Copy)]
enum Reading {
    OnePage,
    AllPages,
    OneResponse,
}

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let extent = bench.extent();
    for mode in Mode::ALL {
        let system = mode.start(bench, &format!("list-{}", mode.name())).await?;
        let mut filling = Filling::begin(&system, 1).await?;
        filling.grow_to(ARTIFACTS).await?;
        // The filling also has the page that it copied.
        let rows = ARTIFACTS + 1;
        for (reading, what, runs) in [
            (Reading::OnePage, format!("one page of {PAGE_ROWS}"), RUNS),
            (Reading::AllPages, format!("all in pages of {PAGE_ROWS}"), WHOLE_RUNS),
            (Reading::OneResponse, "all in one response".to_owned(), WHOLE_RUNS),
        ] {
            let taken = runs_of(reading, &filling.agent, rows, extent.runs(runs)).await?;
            let what = format!("list {ARTIFACTS} artifacts, {}, {what}, p50", mode.name());
            table.add(Row::of(what, taken.percentile(50)).note(format!("p99 {}", taken.percentile(99))));
        }
    }
    Ok(())
}

async fn runs_of(reading: Reading, agent: &Agent, rows: usize, runs: usize) -> anyhow::Result<Latencies> {
    let mut taken = Vec::new();
    // The first run opens the connection and fills caches.
    for number in 0..=runs {
        let started = Instant::now();
        let (read, expected) = match reading {
            Reading::OnePage => (agent.list(Some(PAGE_ROWS), 1).await?, PAGE_ROWS.min(rows)),
            Reading::AllPages => (agent.list(Some(PAGE_ROWS), usize::MAX).await?, rows),
            Reading::OneResponse => (agent.list(None, 1).await?, rows),
        };
        let took = started.elapsed();
        ensure!(read == expected, "{read} of {expected} artifacts were listed");
        if number > 0 {
            taken.push(took);
        }
    }
    Ok(Latencies::of(taken))
}
