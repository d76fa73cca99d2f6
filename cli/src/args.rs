//! What the command line takes. Settings belong in `config`, where they are checked and explained; a secret must
//! never be an argument, because everyone on the machine can read those.

use std::collections::HashSet;
use std::ffi::OsString;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::str::FromStr;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use config::Role;
use domain::Queue;

use crate::admin::{AdminCommand, parse_queue};

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

impl Arguments {
    /// What a command line asks for, if it makes sense as a whole.
    pub(crate) fn read(
        line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> clap::error::Result<Self> {
        let arguments = Self::try_parse_from(line)?;
        match named_twice(&arguments.command) {
            Some(queue) => Err(Self::command().error(
                ErrorKind::ValueValidation,
                format!("--queues names the queue {} twice: name each once, with one number", queue.name()),
            )),
            None => Ok(arguments),
        }
    }
}

/// A queue that a worker is to take twice. Which of its numbers is meant, nobody can tell.
fn named_twice(command: &Command) -> Option<Queue> {
    let Command::Server(ServerCommand::Worker { queues, .. }) = command else { return None };
    let mut seen = HashSet::new();
    queues.iter().map(|share| share.queue).find(|queue| !seen.insert(*queue))
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
        /// Only these queues, such as `publish,scan`; with how many jobs at a time, its weight, behind a name:
        /// `publish=16,scan=2`.
        #[arg(long, value_delimiter = ',', value_name = "QUEUE[=N]")]
        queues: Vec<QueueShare>,
        /// Jobs at a time of each queue that has no number of its own.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        concurrency: Option<u16>,
    },
    /// Bring the database and the queue to the newest schema.
    Migrate,
    /// Show the settings in effect, secrets hidden, and where each came from.
    Config,
    /// Try every part of the installation, and say what to do about what is wrong.
    Doctor,
    /// Save everything to a folder, while the service runs (embedded: SQLite; for PostgreSQL see docs/OPERATIONS.md).
    Backup {
        /// Where it goes: a folder that is not there yet, or is empty.
        path: PathBuf,
    },
    /// Make an installation of a backup again, in an empty data directory.
    Restore {
        /// A folder that `handbill backup` has filled.
        path: PathBuf,
    },
    /// Look whether every published file is there and whole, beside the running service.
    Scrub {
        /// Remove what nothing refers to, when it is older than a day; and have the next publish of a content that is
        /// missing store it again.
        #[arg(long, conflicts_with = "sample")]
        fix: bool,
        /// Look at so many contents from a random one on, and at nothing else.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        sample: Option<u64>,
    },
    /// Look whether the money adds up, and what moved.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Copy everything of an installation that is stopped to another one that is empty.
    MigrateData {
        /// Its settings file, or the data directory of one that has none. The environment has no say.
        #[arg(long, value_name = "SETTINGS")]
        from: PathBuf,
        /// Likewise; run `handbill migrate` with it first.
        #[arg(long, value_name = "SETTINGS")]
        to: PathBuf,
    },
    /// Look after the queues and after what is published, while the service runs.
    #[command(subcommand)]
    Admin(AdminCommand),
}

/// What an operator asks of the ledgers.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Look whether every balance is the sum of its entries, and whether any is there twice.
    Check,
    /// Show what moved on an account, the newest last.
    Show {
        /// Its id, or its handle, such as `acct_1a2b3c`.
        account: String,
    },
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
            | ServerCommand::Backup { .. }
            | ServerCommand::Restore { .. }
            | ServerCommand::Scrub { .. }
            | ServerCommand::Ledger(_)
            | ServerCommand::MigrateData { .. }
            | ServerCommand::Admin(_) => None,
        }
    }
}

/// A queue that a worker takes, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueShare {
    pub(crate) queue: Queue,
    /// How many of its jobs at a time.
    pub(crate) at_a_time: Option<NonZeroU16>,
}

impl FromStr for QueueShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let read = |number: &str| {
            number
                .parse()
                .map_err(|_| format!("{number:?} is no number of jobs: it is a whole number from 1 to 65535"))
        };
        Ok(Self { queue: parse_queue(name)?, at_a_time: number.map(read).transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_holds_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_worker_s_queues_may_have_their_weights() {
        let read = |text: &str| Arguments::read(["handbill", "worker", "--queues", text]);
        let share = |queue, number| QueueShare { queue, at_a_time: NonZeroU16::new(number) };
        let Ok(Arguments { command: Command::Server(ServerCommand::Worker { queues, .. }), .. }) =
            read("publish=16,scan,rescan=2")
        else {
            panic!("it is not read as a worker")
        };
        assert_eq!(queues, [share(Queue::Publish, 16), share(Queue::Scan, 0), share(Queue::Rescan, 2)]);
        for (text, fault) in [
            ("publish=0", "is no number of jobs"),
            ("publish=", "is no number of jobs"),
            ("publish=many", "is no number of jobs"),
            ("publsh=1", "the queues are publish, scan"),
            ("publish=2,publish=4", "--queues names the queue publish twice"),
            ("scan,publish=2,scan", "--queues names the queue scan twice"),
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.contains(fault), "{text}: {refused}");
        }
    }
}
