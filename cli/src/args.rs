//! What the command line takes. Settings belong in `config`, where they are checked and explained; a secret must
//! never be an argument, because everyone on the machine can read those.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use config::Role;
use domain::{Host, Queue};

/// Handbill: an agent or a person publishes static HTML with one call and gets a public URL.
#[derive(Debug, Parser)]
#[command(version, about, after_help = client::HELP)]
pub(crate) struct Arguments {
    /// The settings file of the server; without it `handbill.toml` here, if there is one.
    #[arg(
        long,
        global = true,
        env = "HANDBILL_CONFIG",
        value_name = "PATH",
        help_heading = "Options of the server commands"
    )]
    pub(crate) config: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) client: client::Options,
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Server(ServerCommand),
    #[command(flatten)]
    Client(client::Command),
    /// Print the completions for a shell, to be sourced by it.
    Completions {
        /// Which shell.
        shell: Shell,
    },
    /// Print the man page, or put the pages of all commands into a folder.
    Man {
        /// Where the pages go, one for each command.
        #[arg(long, value_name = "PATH")]
        folder: Option<PathBuf>,
    },
}

/// What an operator runs.
#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
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
    /// Look after what is published: judge it again, see how far the scans are.
    #[command(subcommand)]
    Admin(AdminCommand),
}

/// What an operator does by hand to a service that runs.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Have the moderation scan judge versions again: those that older rules have judged, unless told otherwise. The
    /// workers do it one by one, behind everything else; a moderator's word holds.
    Rescan {
        /// Every version, also those that the newest rules have judged.
        #[arg(long, conflicts_with = "host")]
        all: bool,
        /// Every version of the page at this host, such as `my-page-a1b2`.
        #[arg(long, value_name = "HOST")]
        host: Option<Host>,
    },
    /// Show how far the scans are, and which come to nothing.
    Scans,
}

impl ServerCommand {
    /// What the process is there for, and its settings must be enough for. The other commands take what there is.
    pub(crate) fn role(&self) -> Option<Role> {
        match self {
            ServerCommand::Serve => Some(Role::Serve),
            ServerCommand::Api => Some(Role::Api),
            ServerCommand::Edge => Some(Role::Edge),
            ServerCommand::Worker { .. } => Some(Role::Worker),
            ServerCommand::Migrate
            | ServerCommand::Config
            | ServerCommand::Doctor
            | ServerCommand::Admin(_) => None,
        }
    }
}

fn parse_queue(name: &str) -> Result<Queue, String> {
    Queue::parse(name).ok_or_else(|| {
        let known: Vec<_> = Queue::ALL.into_iter().map(Queue::name).collect();
        format!("there is no queue of that name; the queues are {}", known.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Arguments::command().debug_assert();
    }
}
