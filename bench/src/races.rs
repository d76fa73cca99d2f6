//! Handbill's embedded default compared with boatramp, each with its default settings, on the same disk, or
//! with another build. They alternate with each publish, so that a slow moment of the machine affects both.

mod heat;
mod racer;
mod rival;
mod rush;

use anyhow::Context;

use crate::Bench;
use crate::figure::Goal;
use crate::latencies::Latencies;
use crate::system::BenchSystem;
use crate::table::{Row, Table};
use heat::Heat;
use racer::Racer;
use rival::Rival;

pub async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    let system = BenchSystem::embedded(bench, "races").await?;
    let rival = Rival::start(bench).await?;
    let ours = Racer::handbill(&system.api_url).await?;
    let theirs = match &rival {
        Some(rival) => Some(rival.racer().await?),
        None => None,
    };
    let name = rival.as_ref().map_or("", Rival::name);
    // The goals are about alternatives, and not about another build.
    let has_goals = bench.arguments.against.is_none();
    for heat in Heat::ALL {
        let (ours, theirs) =
            heat::run(heat, &ours, theirs.as_ref(), bench.extent()).await.with_context(|| heat.what())?;
        table.add(row(heat, &ours, theirs.as_ref(), name).goal_if(heat.goal().filter(|_| has_goals)));
    }
    let rushes = rush::run(&system.api_url, rival.as_ref(), bench.extent()).await?;
    let row = Row::of("publish a new page, 32 clients", rushes.ours);
    table.add(row.beside_any(name, rushes.theirs).goal_if(has_goals.then_some(Goal::RatioAtLeast(1.0))));
    Ok(())
}

fn row(heat: Heat, ours: &Latencies, theirs: Option<&Latencies>, name: &'static str) -> Row {
    let theirs_p99 = theirs.map(|taken| format!(", {name}'s {}", taken.percentile(99)));
    let note = format!("p99 {}{}", ours.percentile(99), theirs_p99.unwrap_or_default());
    Row::of(format!("{}, p50", heat.what()), ours.percentile(50))
        .beside_any(name, theirs.map(|taken| taken.percentile(50)))
        .note(note)
}
