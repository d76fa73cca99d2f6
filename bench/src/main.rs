//! Measures Handbill and prints one table: each figure with its goal and with the machine's own minimum.
//!
//! It drives the release program over HTTP as users do. Only the ledger is called directly. It never passes
//! or fails, because a busy machine gives bad figures. `scripts/bench` builds the program, starts the servers
//! that a part needs, and runs this.

mod against;
mod agent;
mod boatramp;
mod bucket;
mod cli;
mod document;
mod edge;
mod extent;
mod figure;
mod floor;
mod growth;
mod latencies;
mod ledger;
mod listing;
mod machine;
mod memory;
mod outage;
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

use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::{Parser, ValueEnum};
use document::Section;
use domain::Clock;
use extent::Extent;
use table::Table;
use tempfile::TempDir;

/// Measures Handbill. Run it through `scripts/bench`.
#[derive(Clone, Parser)]
struct Arguments {
    /// What to measure.
    #[arg(required = true)]
    parts: Vec<Part>,
    /// A document whose tables this run replaces.
    #[arg(long, conflicts_with_all = ["against", "quick"])]
    markdown: Option<PathBuf>,
    /// Another build of the program. Each part runs with both in turns, without other alternatives.
    #[arg(long)]
    against: Option<PathBuf>,
    /// Fewer and shorter runs.
    #[arg(long)]
    quick: bool,
    /// The minutes of load in the part `memory`: 5 by default, or 0.2 with `--quick`.
    #[arg(long, env = "HANDBILL_BENCH_MINUTES")]
    minutes: Option<f64>,
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
    Bucket,
    Races,
    Ledger,
    Queue,
    Growth,
    List,
    Edge,
    Visible,
    Outage,
    Start,
    Memory,
    Cli,
    Scan,
    Scale,
}

/// What every part uses.
struct Bench {
    arguments: Arguments,
    folder: TempDir,
}

impl Bench {
    fn new(arguments: Arguments) -> anyhow::Result<Self> {
        Ok(Self { arguments, folder: tempfile::tempdir()? })
    }

    /// The same measurements of another program, in a directory of its own.
    fn with_program(&self, program: &Path) -> anyhow::Result<Self> {
        Self::new(Arguments { program: program.to_owned(), ..self.arguments.clone() })
    }

    fn extent(&self) -> Extent {
        if self.arguments.quick { Extent::Quick } else { Extent::Full }
    }

    /// Whether this alternative takes part: it is installed, and the run is not a comparison of two builds.
    fn has_rival(&self, program: &str) -> bool {
        self.arguments.against.is_none() && program::is_installed(program)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The TLS provider of every client in this process. Installing it fails only the second time.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bench = Bench::new(Arguments::parse())?;
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
        let measured = match &bench.arguments.against {
            Some(other) => Box::pin(against::measure(bench, other, *part, &mut table)).await,
            None => measure(bench, *part, &mut table).await,
        };
        whole.append(&table);
        measured.with_context(|| format!("{part:?}"))?;
        finished.push((*part, table));
    }
    Ok(())
}

async fn measure(bench: &Bench, part: Part, table: &mut Table) -> anyhow::Result<()> {
    match part {
        Part::Publish => publish::measure(bench, table).await,
        Part::Bucket => bucket::measure(bench, table).await,
        Part::Races => Box::pin(races::measure(bench, table)).await,
        Part::Ledger => ledger::measure(bench, table).await,
        Part::Queue => Box::pin(queue::measure(bench, table)).await,
        Part::Growth => Box::pin(growth::measure(bench, table)).await,
        Part::List => listing::measure(bench, table).await,
        Part::Edge => Box::pin(edge::measure(bench, table)).await,
        Part::Visible => visible::measure(bench, table).await,
        Part::Outage => outage::measure(bench, table).await,
        Part::Start => start::measure(bench, table).await,
        Part::Memory => memory::measure(bench, table).await,
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
