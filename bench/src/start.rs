//! How soon a start answers, and what it takes while nothing happens.

use std::time::{Duration, Instant};

use anyhow::Context;

use crate::Bench;
use crate::house::Site;
use crate::latencies::Latencies;
use crate::program::Program;
use crate::table::Table;

const STARTS: usize = 10;
const IDLE: Duration = Duration::from_secs(3);

/// From the start of the process to the first answer of `/v1/status`, on a new folder and on one that it knows.
pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let (mut fresh, mut known, mut idle_kib) = (Vec::new(), Vec::new(), 0);
    for number in 0..STARTS {
        let site = Site::new(bench, &format!("start-{number}"))?;
        let (took, program) = start(&site).await?;
        fresh.push(took);
        program.kill().await?;
        let (took, program) = start(&site).await?;
        known.push(took);
        if number == STARTS - 1 {
            tokio::time::sleep(IDLE).await;
            idle_kib = resident_kib(&program)?;
        }
        program.kill().await?;
    }
    for (what, taken) in [
        ("start of handbill serve, new folder, p50", Latencies::of(fresh)),
        ("start of handbill serve, known folder, p50", Latencies::of(known)),
    ] {
        let worst = format!("worst of {} {}", taken.count(), taken.percentile(100));
        table.add(what, taken.percentile(50).to_string(), "≤ 300 ms", worst);
    }
    table.add(
        "memory of an idle handbill serve",
        format!("{:.1} MB", idle_kib as f64 * 1024.0 / 1e6),
        "≤ 40 MB",
        "",
    );
    Ok(())
}

async fn start(site: &Site) -> anyhow::Result<(Duration, Program)> {
    let started = Instant::now();
    let mut program = site.launch("serve").start()?;
    program.answers(site.api, "/v1/status").await?;
    Ok((started.elapsed(), program))
}

fn resident_kib(program: &Program) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.id()?))?;
    let line =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("the system tells no memory")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}
