//! The moderation scanner: how many honest pages it scans in a second on one core, how long the worst
//! publishes take, and how soon a publish has its verdict.
//!
//! The scanner is called directly in this process. The delay is measured with the program.

mod delay;
mod floor;
mod hostile;
mod pages;

use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use domain::{Chance, SitePath, content_type_of};
use scanner::{ScannedFile, Terms, Verdict};

use crate::Bench;
use crate::extent::Extent;
use crate::figure::{Figure, Goal};
use crate::latencies::{Latencies, Ms};
use crate::table::{Row, Table};
use hostile::{Files, Flood, Kind};

const SIZES: [(&str, usize); 3] = [("4 KB", 4_096), ("100 KB", 100_000), ("5 MB", 5_000_000)];
/// How long each size is scanned.
const RUN: Duration = Duration::from_secs(3);
/// The limit for a hostile page, because a scan without end would block the bench.
const HOSTILE_WAIT_MAX: Duration = Duration::from_secs(20);
const HOSTILE_GOAL: Duration = Duration::from_secs(3);

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let extent = bench.extent();
    // Another build of the program has another scanner, which is not linked into this process.
    if bench.arguments.against.is_some() {
        return delay::measure(bench, table).await;
    }
    for (name, size_bytes) in SIZES {
        honest(table, name, size_bytes, extent.time(RUN))?;
    }
    delay::measure(bench, table).await?;
    // Last, because a scan that exceeds the limit runs until the bench ends.
    hostile::kinds().iter().try_for_each(|kind| hostile(table, kind, extent))
}

fn honest(table: &mut Table, name: &str, size_bytes: usize, run: Duration) -> anyhow::Result<()> {
    let html = pages::honest(&Chance::seeded(1), size_bytes);
    let file = [ScannedFile { path: "index.html", bytes: html.as_bytes(), content_type: "text/html" }];
    let verdict = scanner::scan(&file, &Terms::default())?;
    let per_page = each(run, || drop(scanner::scan(&file, &Terms::default())));
    let floor = each(run, || floor::tokenize(&html));
    let per_second = 1.0 / per_page.as_secs_f64();
    let beside = format!(
        "{:.1} MB/s, {:.1} × html5ever's tokens alone, {}",
        html.len() as f64 * per_second / 1e6,
        Ms(per_page).ratio_to(Ms(floor)),
        verdict.status.as_str()
    );
    let row = Row::of(format!("scan, one core, pages of {name}"), Figure::PerSecond(per_second));
    table.add(row.note(beside));
    Ok(())
}

/// The average time of a call, over as many as the time allows.
fn each(time: Duration, call: impl Fn()) -> Duration {
    let (started, mut runs) = (Instant::now(), 0);
    while started.elapsed() < time {
        call();
        runs += 1;
    }
    started.elapsed() / runs
}

/// Adds a row for the slowest flood of a kind, and one for each other flood that misses the goal.
fn hostile(table: &mut Table, kind: &Kind, extent: Extent) -> anyhow::Result<()> {
    let mut taken = Vec::new();
    for flood in kind.floods.iter().take(extent.runs(kind.floods.len())) {
        taken.push((time_of(flood)?, flood.what));
    }
    taken.sort_by_key(|(took, _)| std::cmp::Reverse(*took));
    let median = Latencies::of(taken.iter().map(|(took, _)| *took).collect()).percentile(50);
    for (index, (took, what)) in taken.iter().enumerate() {
        if index > 0 && *took <= HOSTILE_GOAL {
            break;
        }
        let measured = if *took < HOSTILE_WAIT_MAX { Figure::Time(*took) } else { Figure::NotEnded };
        let of = if index == 0 { format!("; median of {} {median}", taken.len()) } else { String::new() };
        let row = Row::of(format!("scan 10 MB of hostile {}", kind.name), measured);
        let goal = Goal::AtMost(HOSTILE_GOAL.as_secs_f64() * 1e3);
        table.add(row.goal(goal).note(format!("{what}{of}")));
    }
    Ok(())
}

/// The time of a flood. A flood that exceeds the limit keeps running during the next ones.
fn time_of(flood: &Flood) -> anyhow::Result<Duration> {
    let files = flood.files();
    let (done, waiting) = channel();
    std::thread::Builder::new().name(flood.what.to_owned()).spawn(move || {
        let started = Instant::now();
        drop(scan(&files));
        // After a timeout nobody receives the result.
        let _ = done.send(started.elapsed());
    })?;
    Ok(waiting.recv_timeout(HOSTILE_WAIT_MAX).unwrap_or(HOSTILE_WAIT_MAX))
}

fn scan(files: &Files) -> anyhow::Result<Verdict> {
    let content_types: Vec<_> = files
        .iter()
        .map(|(path, _)| Ok(content_type_of(&path.parse::<SitePath>()?)))
        .collect::<anyhow::Result<_>>()?;
    let files: Vec<_> = files
        .iter()
        .zip(&content_types)
        .map(|((path, bytes), content_type)| ScannedFile { path, bytes, content_type })
        .collect();
    Ok(scanner::scan(&files, &Terms::default())?)
}
