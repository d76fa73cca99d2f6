//! Measures Handbill and prints one table: each figure beside its goal, and the floor of the machine beside them.
//!
//! It drives the release program as its users do, over HTTP; only the ledger is called directly. It never passes or
//! fails: a busy machine gives bad figures, not a red build. `scripts/bench` builds the program, starts the servers
//! that a part needs, and runs this.

mod agent;
mod cli;
mod edge;
mod floor;
mod house;
mod latencies;
mod ledger;
mod page;
mod program;
mod publish;
mod s3;
mod scale;
mod scan;
mod start;
mod table;
mod visible;

use std::path::PathBuf;

use clap::{Parser, ValueEnum};
use table::Table;
use tempfile::TempDir;

/// Measures Handbill; run it by `scripts/bench`.
#[derive(Parser)]
struct Arguments {
    /// What to measure.
    #[arg(required = true)]
    parts: Vec<Part>,
    /// The program to measure.
    #[arg(long, env = "HANDBILL_BENCH_PROGRAM")]
    program: PathBuf,
    /// A PostgreSQL server in which databases may be made: `postgres://user@host:port`.
    #[arg(long, env = "HANDBILL_BENCH_POSTGRES")]
    postgres: Option<String>,
    /// A Redis server: `redis://host:port`.
    #[arg(long, env = "HANDBILL_BENCH_REDIS")]
    redis: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    Publish,
    Ledger,
    Edge,
    Visible,
    Start,
    Cli,
    Scan,
    Scale,
}

/// What every part stands on.
struct Bench {
    arguments: Arguments,
    folder: TempDir,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // The rustls of every client in this process; it is installed once and cannot fail at the first time.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let bench = Bench { arguments: Arguments::parse(), folder: tempfile::tempdir()? };
    let mut table = Table::default();
    let measured = measure(&bench, &mut table).await;
    // What was measured before something failed is worth seeing, too.
    print(&table);
    measured
}

async fn measure(bench: &Bench, table: &mut Table) -> anyhow::Result<()> {
    for part in &bench.arguments.parts {
        match part {
            Part::Publish => publish::measure(bench, table).await?,
            Part::Ledger => ledger::measure(bench, table).await?,
            Part::Edge => Box::pin(edge::measure(bench, table)).await?,
            Part::Visible => visible::measure(bench, table).await?,
            Part::Start => start::measure(bench, table).await?,
            Part::Cli => cli::measure(bench, table).await?,
            Part::Scan => scan::measure(bench, table).await?,
            Part::Scale => Box::pin(scale::measure(bench, table)).await?,
        }
    }
    Ok(())
}

/// The table is what this program makes, so it goes to standard output.
#[allow(clippy::print_stdout)]
fn print(table: &Table) {
    println!("{table}");
}
