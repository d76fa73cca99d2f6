//! What the command line takes. Settings belong in `config`, where they are checked and explained; a secret must
//! never be an argument, because everyone on the machine can read those.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use config::Role;
use domain::Queue;

/// Handbill: an agent or a person publishes static HTML with one call and gets a public URL.
#[derive(Debug, Parser)]
#[command(version, about)]
pub(crate) struct Arguments {
    /// The settings file; without it `handbill.toml` here, if there is one.
    #[arg(long, global = true, env = "HANDBILL_CONFIG", value_name = "PATH")]
    pub(crate) config: Option<PathBuf>,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// API, edge, workers and schedules in one process.
    Serve,
    /// The API alone; needs Redis, and workers elsewhere.
    Api,
    /// The serving edge alone; needs Redis.
    Edge,
    /// A worker pool; needs Redis.
    Worker {
        /// Only these queues, such as `publish,scan`.
        #[arg(long, value_delimiter = ',', value_parser = parse_queue)]
        queues: Vec<Queue>,
        /// Jobs of each queue at a time.
        #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
        concurrency: Option<u16>,
    },
    /// Bring the database and the queue to the newest schema.
    Migrate,
    /// Show the settings in effect, secrets hidden, and where each came from.
    Config,
    /// Try the database, the queue, the storage, the clock and the addresses.
    Doctor,
}

impl Command {
    pub(crate) fn role(&self) -> Role {
        match self {
            Command::Api => Role::Api,
            Command::Edge => Role::Edge,
            Command::Worker { .. } => Role::Worker,
            Command::Serve | Command::Migrate | Command::Config | Command::Doctor => Role::Serve,
        }
    }
}

fn parse_queue(name: &str) -> Result<Queue, String> {
    Queue::parse(name).ok_or_else(|| {
        let known: Vec<_> = Queue::ALL.into_iter().map(Queue::name).collect();
        format!("there is no queue of that name; the queues are {}", known.join(", "))
    })
}
