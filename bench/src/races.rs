//! Handbill's embedded default compared with boatramp, each with its default settings, on the same disk. They
//! alternate with each publish, so that a slow moment of the machine affects both.

mod heat;
mod racer;
mod rush;

use anyhow::Context;

use crate::Bench;
use crate::boatramp::{BOATRAMP, Boatramp};
use crate::figure::{Figure, Goal};
use crate::latencies::Latencies;
use crate::system::BenchSystem;
use crate::table::{Row, Table};
use heat::Heat;
use racer::Racer;

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let system = BenchSystem::embedded(bench, "races").await?;
    let boatramp = Boatramp::start(&bench.folder.path().join("races-boatramp")).await?;
    let ours = Racer::handbill(&system.api_url).await?;
    let theirs = boatramp.as_ref().map(Racer::boatramp).transpose()?;
    for heat in Heat::ALL {
        let (ours, theirs) = heat::run(heat, &ours, theirs.as_ref()).await.with_context(|| heat.what())?;
        table.add(row(heat, &ours, theirs.as_ref()));
    }
    let rushes = rush::run(&system.api_url, boatramp.as_ref()).await?;
    let theirs = rushes.theirs.map(|taken| Figure::PerSecond(rush::per_second(&taken)));
    let row = Row::of("publish a new page, 32 clients", Figure::PerSecond(rush::per_second(&rushes.ours)));
    table.add(row.beside_any(BOATRAMP, theirs).goal(Goal::AtLeast(500.0)));
    Ok(())
}

fn row(heat: Heat, ours: &Latencies, theirs: Option<&Latencies>) -> Row {
    let theirs_p99 = theirs.map(|taken| format!(", {BOATRAMP}'s {}", taken.percentile(99)));
    let note = format!("p99 {}{}", ours.percentile(99), theirs_p99.unwrap_or_default());
    Row::of(format!("{}, p50", heat.what()), ours.percentile(50))
        .beside_any(BOATRAMP, theirs.map(|taken| taken.percentile(50)))
        .goal_if(heat.goal())
        .note(note)
}
