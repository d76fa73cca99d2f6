//! How soon a started program responds, also with many artifacts, and what it uses while idle.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::Bench;
use crate::boatramp::{self, BOATRAMP};
use crate::figure::{Figure, Goal};
use crate::growth::Filling;
use crate::latencies::Latencies;
use crate::program::{Launch, Program, free_address};
use crate::system::{BenchSystem, Site};
use crate::table::{Row, Table};

const STARTS: usize = 10;
const START_GOAL: Goal = Goal::AtMost(300.0);
const IDLE: Duration = Duration::from_secs(3);
/// The artifacts of a filled system, and the accounts that share them.
const ARTIFACTS: usize = 1_000_000;
const ACCOUNTS: usize = 1_000;

/// A program to start, and the path that it responds to when it is ready.
struct Starter {
    launch: Launch,
    address: SocketAddr,
    path: &'static str,
}

/// The results of one program's starts.
#[derive(Default)]
struct Starts {
    fresh: Vec<Duration>,
    known: Vec<Duration>,
    idle_bytes: u64,
}

/// The time from the start of the process to its first response, with a new folder and with an existing one.
/// The programs alternate.
pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let (mut ours, mut theirs) = (Starts::default(), bench.has_rival(BOATRAMP).then(Starts::default));
    for number in 0..STARTS {
        let is_last = number == STARTS - 1;
        ours.add(&handbill(Site::new(bench, &format!("start-{number}"))?), is_last).await?;
        if let Some(theirs) = &mut theirs {
            theirs
                .add(&rival(bench.folder.path().join(format!("start-boatramp-{number}")))?, is_last)
                .await?;
        }
    }
    add_rows(table, ours, theirs);
    filled(bench, table).await
}

/// Starts of a system whose artifacts were copied into its database.
async fn filled(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let artifacts = bench.extent().artifacts(ARTIFACTS);
    let system = BenchSystem::embedded(bench, "start-filled").await?;
    let mut filling = Filling::begin(&system, ACCOUNTS).await?;
    filling.grow_to(artifacts).await?;
    drop(filling);
    let starter = handbill(system.stop().await?);
    let mut taken = Vec::new();
    for _ in 0..STARTS {
        let (took, program) = starter.start().await?;
        taken.push(took);
        program.kill().await?;
    }
    let taken = Latencies::of(taken);
    let what = format!("start of handbill serve, {artifacts} artifacts of {ACCOUNTS} accounts, p50");
    table.add(Row::of(what, taken.percentile(50)).goal(START_GOAL).note(worst(&taken)));
    Ok(())
}

fn add_rows(table: &mut Table, ours: Starts, theirs: Option<Starts>) {
    let megabytes = |bytes: u64| Figure::Megabytes(bytes as f64 / 1e6);
    let idle = theirs.as_ref().map(|starts| megabytes(starts.idle_bytes));
    let (their_fresh, their_known) = theirs.map(|starts| (starts.fresh, starts.known)).unzip();
    for (what, taken, theirs) in [
        ("start of handbill serve, new folder, p50", ours.fresh, their_fresh),
        ("start of handbill serve, known folder, p50", ours.known, their_known),
    ] {
        let taken = Latencies::of(taken);
        let theirs = theirs.map(|taken| Latencies::of(taken).percentile(50));
        let row = Row::of(what, taken.percentile(50)).beside_any(BOATRAMP, theirs);
        table.add(row.goal(START_GOAL).note(worst(&taken)));
    }
    let row = Row::of("memory of an idle handbill serve", megabytes(ours.idle_bytes));
    table.add(row.beside_any(BOATRAMP, idle).goal(Goal::AtMost(40.0)));
}

fn worst(taken: &Latencies) -> String {
    format!("worst of {} {}", taken.count(), taken.percentile(100))
}

fn handbill(site: Site) -> Starter {
    Starter { launch: site.launch("serve"), address: site.api, path: "/v1/status" }
}

fn rival(folder: PathBuf) -> anyhow::Result<Starter> {
    let address = free_address()?;
    Ok(Starter { launch: boatramp::launch(&folder, address), address, path: boatramp::HEALTH })
}

impl Starts {
    async fn add(&mut self, starter: &Starter, is_last: bool) -> anyhow::Result<()> {
        let (took, program) = starter.start().await?;
        self.fresh.push(took);
        program.kill().await?;
        let (took, program) = starter.start().await?;
        self.known.push(took);
        if is_last {
            tokio::time::sleep(IDLE).await;
            self.idle_bytes = program.resident_bytes()?;
        }
        program.kill().await
    }
}

impl Starter {
    async fn start(&self) -> anyhow::Result<(Duration, Program)> {
        let started = Instant::now();
        let mut program = self.launch.start()?;
        program.answers(self.address, self.path).await?;
        Ok((started.elapsed(), program))
    }
}
