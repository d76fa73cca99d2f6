//! The command line's arguments. Settings belong in `config`, where they are checked and explained. A secret
//! must never be an argument, because every user of the machine can see arguments.

use std::num::NonZeroU16;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::LazyLock;

use clap::{Parser, Subcommand};
use clap_complete::Shell;
use config::Role;
use domain::Queue;

use crate::admin::{AdminCommand, parse_queue};
use crate::size::SizeArguments;

/// The end of `handbill -h`.
const SHORT_HELP: &str = "\
Start here:
  handbill serve               # a server on this machine; it prints its address
  handbill signup              # in another terminal: an account on it
  handbill publish page.html   # prints the URL

`handbill COMMAND --help` shows the options of a command, with examples.";
/// The end of `handbill --help`.
static LONG_HELP: LazyLock<String> = LazyLock::new(|| format!("{SHORT_HELP}\n\n{}", client::HELP));

/// Handbill: an agent or a person publishes static HTML with one call and gets a public URL.
#[derive(Debug, Parser)]
#[command(version, about, after_long_help = LONG_HELP.as_str(), after_help = SHORT_HELP, max_term_width = 100)]
pub(crate) struct Arguments {
    /// The server's settings file. Default: `handbill.toml` in the working directory, if it exists.
    #[arg(
        long,
        global = true,
        env = "HANDBILL_CONFIG",
        hide_env_values = true,
        value_name = "PATH",
        help_heading = "Server options"
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
    /// Compute the machines and storage that a load needs.
    ///
    /// An estimate from measurements. It needs no server and no settings.
    Size(SizeArguments),
    /// Print the completion script for a shell.
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the man page, or write one for each command.
    Man {
        /// The directory for the man pages, one per command.
        #[arg(long, value_name = "PATH")]
        folder: Option<PathBuf>,
    },
}

/// The operator's commands.
#[derive(Debug, Subcommand)]
pub(crate) enum ServerCommand {
    /// Run everything in one process: API, pages, workers and schedules.
    ///
    /// Without settings it keeps everything in the directory `data`, and prints the address to open in a
    /// browser. `handbill config` shows the settings.
    Serve,
    /// Run only the API.
    ///
    /// Needs Redis, and workers in other processes.
    Api,
    /// Run only the edge, which serves the published pages.
    ///
    /// Needs Redis.
    Edge,
    /// Run only workers, which process the queues.
    ///
    /// Needs Redis.
    Worker {
        /// Only these queues, such as `publish,scan`. A number sets the concurrency of a queue:
        /// `publish=16,scan=2`.
        #[arg(long, value_delimiter = ',', value_name = "QUEUE[=N]")]
        queues: Vec<QueueShare>,
        /// Concurrent jobs of each queue without a number in --queues.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
        concurrency: Option<u16>,
    },
    /// Migrate the database and the queue to the newest schema.
    Migrate,
    /// Show the settings in effect and where each one came from.
    ///
    /// The values of secrets are not shown.
    Config,
    /// Check the installation, and suggest fixes for problems.
    Doctor,
    /// Back up everything to a directory while the service runs.
    ///
    /// For embedded installations. For PostgreSQL see docs/operations/backup.md.
    Backup {
        /// The directory for the backup. It must be empty or not exist.
        path: PathBuf,
    },
    /// Restore a backup into an empty data directory.
    Restore {
        /// A directory that `handbill backup` has written.
        path: PathBuf,
    },
    /// Check that every published file is present and undamaged.
    ///
    /// The service can run meanwhile.
    Scrub {
        /// Remove unreferenced objects that are older than a day, and have the next publish of a missing
        /// content store it again.
        #[arg(long, conflicts_with = "sample")]
        fix: bool,
        /// Check only this many contents, starting from a random one.
        #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
        sample: Option<u64>,
    },
    /// Verify the balances of all accounts, and show their entries.
    #[command(subcommand)]
    Ledger(LedgerCommand),
    /// Copy all data of a stopped installation to an empty one.
    MigrateData {
        /// The settings file of the source, or its data directory if it has none. The environment is ignored.
        #[arg(long, value_name = "SETTINGS")]
        from: PathBuf,
        /// The same for the target. Run `handbill migrate` with its settings first.
        #[arg(long, value_name = "SETTINGS")]
        to: PathBuf,
    },
    /// Manage queues, jobs, scans, accounts and operators.
    #[command(subcommand)]
    Admin(AdminCommand),
}

/// Commands on the ledgers.
#[derive(Debug, Subcommand)]
pub(crate) enum LedgerCommand {
    /// Verify that every balance is the sum of its entries and that no entry occurs twice.
    Check,
    /// Show the ledger entries of an account, newest last.
    Show {
        /// The account's id, or its handle, such as `acct_1a2b3c`.
        account: String,
    },
}

impl ServerCommand {
    /// The role of the process, whose settings must be sufficient. `None`: the command works with any
    /// settings.
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

/// A queue of a worker, as given on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct QueueShare {
    pub(crate) queue: Queue,
    /// How many of its jobs run concurrently.
    pub(crate) concurrency: Option<NonZeroU16>,
}

impl FromStr for QueueShare {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, number) = match text.split_once('=') {
            Some((name, number)) => (name, Some(number)),
            None => (text, None),
        };
        let read = |number: &str| {
            number.parse().map_err(|_| {
                format!("{number:?} is not a valid number of jobs; expected a whole number from 1 to 65535")
            })
        };
        Ok(Self { queue: parse_queue(name)?, concurrency: number.map(read).transpose()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_s_queues_may_have_their_weights() {
        let read = |text: &str| Arguments::read(["handbill", "worker", "--queues", text]);
        let share = |queue, number| QueueShare { queue, concurrency: NonZeroU16::new(number) };
        let Ok(Arguments { command: Command::Server(ServerCommand::Worker { queues, .. }), .. }) =
            read("publish=16,scan,rescan=2")
        else {
            panic!("it is not read as a worker")
        };
        assert_eq!(queues, [share(Queue::Publish, 16), share(Queue::Scan, 0), share(Queue::Rescan, 2)]);
        for (text, fault) in [
            ("publish=0", "is not a valid number of jobs"),
            ("publish=", "is not a valid number of jobs"),
            ("publish=many", "is not a valid number of jobs"),
            ("publsh=1", "the queues are publish, scan"),
            ("publish=2,publish=4", "--queues contains the queue publish twice"),
            ("scan,publish=2,scan", "--queues contains the queue scan twice"),
        ] {
            let refused = read(text).unwrap_err().to_string();
            assert!(refused.contains(fault), "{text}: {refused}");
        }
    }
}
