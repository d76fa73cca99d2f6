//! Measures Handbill and prints one table: each figure with its goal and with the machine's own minimum.
//!
//! It drives the release program over HTTP as users do. Only the ledger is called directly. It never passes
//! or fails, because a busy machine gives bad figures. `scripts/bench` builds the program, starts the servers
//! that a part needs, and runs this.

mod agent;
mod boatramp;
mod cli;
mod document;
mod edge;
mod figure;
mod floor;
mod growth;
mod latencies;
mod ledger;
mod machine;
mod page;
mod program;
mod publish;
mod queue;
mod races;
mod s3;
mod scale;
mod scan;
mod start;
mod system;
mod table;
mod visible;

use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, ValueEnum};
use document::Section;
use domain::Clock;
use table::Table;
use tempfile::TempDir;

/// Measures Handbill. Run it through `scripts/bench`.
#[derive(Parser)]
struct Arguments {
    /// What to measure.
    #[arg(required = true)]
    parts: Vec<Part>,
    /// A document whose tables this run replaces.
    #[arg(long)]
    markdown: Option<PathBuf>,
    /// The program to measure.
    #[arg(long, env = "HANDBILL_BENCH_PROGRAM")]
    program: PathBuf,
    /// The name of the build, for the report.
    #[arg(long, env = "HANDBILL_BENCH_BUILD", default_value = "an unnamed build")]
    build: String,
    /// A PostgreSQL server that allows creating databases: `postgres://user@host:port`.
    #[arg(long, env = "HANDBILL_BENCH_POSTGRES")]
    postgres: Option<String>,
    /// A Redis server: `redis://host:port`.
    #[arg(long, env = "HANDBILL_BENCH_REDIS")]
    redis: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    Publish,
    Races,
    Ledger,
    Queue,
    Growth,
    Edge,
    Visible,
    Start,
    Cli,
    Scan,
    Scale,
}

/// What every part uses.
struct Bench {
    arguments: Arguments,
    folder: TempDir,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The TLS provider of every client in this process. Installing it fails only the second time.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bench = Bench { arguments: Arguments::parse(), folder: tempfile::tempdir()? };
    let (mut whole, mut finished) = (Table::default(), vec![]);
    let measured = measure_all(&bench, &mut whole, &mut finished).await;
    // After a failure the finished parts are still printed and stored.
    print(&whole);
    keep(&bench, &finished)?;
    measured
}

/// Adds each part's table to the whole one, even if the part failed half-way.
async fn measure_all(
    bench: &Bench,
    whole: &mut Table,
    finished: &mut Vec<(Part, Table)>,
) -> anyhow::Result<()> {
    for part in &bench.arguments.parts {
        let mut table = Table::default();
        let measured = measure(bench, *part, &mut table).await;
        whole.append(&table);
        measured.with_context(|| format!("{part:?}"))?;
        finished.push((*part, table));
    }
    Ok(())
}

async fn measure(bench: &Bench, part: Part, table: &mut Table) -> anyhow::Result<()> {
    match part {
        Part::Publish => publish::measure(bench, table).await,
        Part::Races => Box::pin(races::measure(bench, table)).await,
        Part::Ledger => ledger::measure(bench, table).await,
        Part::Queue => Box::pin(queue::measure(bench, table)).await,
        Part::Growth => Box::pin(growth::measure(bench, table)).await,
        Part::Edge => Box::pin(edge::measure(bench, table)).await,
        Part::Visible => visible::measure(bench, table).await,
        Part::Start => start::measure(bench, table).await,
        Part::Cli => cli::measure(bench, table).await,
        Part::Scan => scan::measure(bench, table).await,
        Part::Scale => Box::pin(scale::measure(bench, table)).await,
    }
}

/// Writes each part's table to the document, if there is one.
fn keep(bench: &Bench, tables: &[(Part, Table)]) -> anyhow::Result<()> {
    let Some(document) = &bench.arguments.markdown else { return Ok(()) };
    let today = Clock::system().now().to_string();
    let (day, _) = today.split_once('T').context("a time is written without a day")?;
    let machine = machine::described(bench.folder.path());
    let measured_on = format!("Measured on {day}, of build {}, on {machine}.", bench.arguments.build);
    let named: Vec<_> =
        tables.iter().filter_map(|(part, table)| Some((part.to_possible_value()?, table))).collect();
    let sections: Vec<_> = named
        .iter()
        .map(|(part, table)| Section { part: part.get_name(), table, measured_on: &measured_on })
        .collect();
    document::keep(document, &sections)
}

/// The table is this program's output, so that it goes to standard output.
#[allow(clippy::print_stdout)]
fn print(table: &Table) {
    println!("{table}");
}
