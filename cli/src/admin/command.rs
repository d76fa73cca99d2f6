//! The arguments of `handbill admin`.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Subcommand};
use domain::{
    Host, JobId, MalformedUsername, Micro, OperatorName, Queue, RulingNote, SuspensionReason, Username,
};
use service::{JobFilter, JobState};

/// The largest credit or debit of one command. The operator's route has the same limit.
const CREDIT_MAX: Micro = Micro::new(10_000_000_000);

/// The operator's commands on a running service.
#[derive(Debug, Subcommand)]
pub(crate) enum AdminCommand {
    /// Scan versions again, by default those with a verdict from older rules.
    ///
    /// Rescans run one at a time and with low priority. They never override a moderator's decision.
    Rescan {
        /// All versions, including those with a verdict from the newest rules.
        #[arg(long, conflicts_with = "host")]
        all: bool,
        /// Every version of the page at this host, such as `my-page-a1b2`.
        #[arg(long, value_name = "HOST", value_parser = parse_host)]
        host: Option<Host>,
    },
    /// Show the progress of scans, and which ones fail.
    Scans,
    /// Show all queues and processes.
    Queues,
    /// List the jobs of a queue, newest first.
    Jobs(JobsNamed),
    /// Show a job with its payload, errors and timeline.
    Job(JobNamed),
    /// Retry a dead, cancelled or failed job now.
    Retry {
        #[command(flatten)]
        job: JobNamed,
        #[command(flatten)]
        signed: Signed,
    },
    /// Cancel a waiting job.
    ///
    /// It can be retried for 48 hours.
    Cancel {
        #[command(flatten)]
        job: JobNamed,
        #[command(flatten)]
        signed: Signed,
    },
    /// Discard a dead job.
    ///
    /// It becomes cancelled and can be retried for 48 hours.
    Discard {
        #[command(flatten)]
        job: JobNamed,
        #[command(flatten)]
        signed: Signed,
    },
    /// Retry all dead jobs of a queue.
    ///
    /// Fix the cause before retrying.
    RequeueDead {
        /// The queue.
        #[arg(value_parser = queue())]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Discard all dead jobs of a queue.
    ///
    /// Each one can be retried for 48 hours.
    DiscardDead {
        /// The queue.
        #[arg(value_parser = queue())]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Pause a queue.
    ///
    /// No worker starts its jobs until it is resumed. Running jobs finish.
    Pause {
        /// The queue.
        #[arg(value_parser = queue())]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Resume a paused queue.
    Resume {
        /// The queue.
        #[arg(value_parser = queue())]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Add credit to an account or remove it.
    ///
    /// The ledger entry, your name and the reason are recorded.
    Credit(CreditOrder),
    /// Suspend an account.
    ///
    /// Its writes are refused and its pages return 451 until the suspension is lifted.
    Suspend(SuspensionOrder),
    /// Lift the suspension of an account.
    Lift(AccountNamed),
    /// Manage operators with their own passwords for /admin.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Show the schedules, with the times of their last and next runs.
    Schedules,
    /// Run a schedule now.
    ///
    /// It still runs at its next time. `handbill admin schedules` lists the names.
    Run {
        /// Its name, such as `sweep-records`.
        schedule: String,
        #[command(flatten)]
        signed: Signed,
    },
}

/// Credit to add or remove.
#[derive(Clone, Debug, Args)]
pub(crate) struct CreditOrder {
    /// The account's handle, such as `acct_1a2b3c`, or its id.
    pub(crate) account: String,
    /// US dollars, such as `5` or `2.50`. A negative amount removes credit.
    #[arg(allow_negative_numbers = true, value_parser = parse_usd)]
    pub(crate) usd: Micro,
    /// Why. Only operators see it.
    #[arg(long)]
    pub(crate) reason: RulingNote,
    /// The id that an earlier attempt printed. It ensures that the credit is added at most once.
    #[arg(long)]
    pub(crate) id: Option<JobId>,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

/// An account, and the operator's name.
#[derive(Clone, Debug, Args)]
pub(crate) struct AccountNamed {
    /// The account's handle, such as `acct_1a2b3c`, or its id.
    #[arg(value_name = "ACCOUNT")]
    pub(crate) account: String,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

/// The suspension of an account.
#[derive(Clone, Debug, Args)]
pub(crate) struct SuspensionOrder {
    #[command(flatten)]
    pub(crate) account: AccountNamed,
    /// Why. The account's members and agents can see it.
    #[arg(long)]
    pub(crate) reason: SuspensionReason,
}

/// Commands on operators.
#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Read a password and print the entry for the setting `secrets.operators`.
    ///
    /// The password is read from the terminal without echo, or from the first line of standard input.
    Add {
        /// The operator's name: 3 to 30 letters, digits, `_` and `-`.
        #[arg(value_parser = parse_operator_name)]
        name: Username,
    },
}

/// Selects jobs to list.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JobsNamed {
    /// The queue.
    #[arg(value_parser = queue())]
    queue: Queue,
    /// The state of the jobs.
    #[arg(long, default_value = "dead", value_parser = state())]
    state: JobState,
    /// Only jobs older than this one.
    #[arg(long, value_name = "ID")]
    before: Option<JobId>,
}

/// Selects a job.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JobNamed {
    /// Its queue.
    #[arg(value_parser = queue())]
    pub(crate) queue: Queue,
    /// The job's id, as shown in lists and logs.
    pub(crate) id: JobId,
}

/// The operator's name.
#[derive(Clone, Debug, Args)]
pub(crate) struct Signed {
    /// Your name, as it is recorded with the change.
    #[arg(long = "as", value_name = "NAME", env = "USER", hide_env_values = true)]
    by: Option<String>,
}

impl JobsNamed {
    pub(crate) fn read(self) -> JobFilter {
        let JobsNamed { queue, state, before } = self;
        JobFilter { before, ..JobFilter::of(queue, state) }
    }
}

impl Signed {
    pub(crate) fn name(&self) -> OperatorName {
        self.by.as_deref().and_then(OperatorName::cleaned).unwrap_or_else(OperatorName::unnamed)
    }
}

fn parse_usd(text: &str) -> Result<Micro, String> {
    let is_allowed = |amount: &Micro| !amount.is_zero() && (-CREDIT_MAX..=CREDIT_MAX).contains(amount);
    Micro::parse_usd(text).filter(is_allowed).ok_or_else(|| {
        "expected US dollars from -10000 to 10000, not zero, with at most six decimals".to_owned()
    })
}

fn parse_host(text: &str) -> Result<Host, String> {
    text.parse().map_err(|_| "expected the host of a page, such as my-page-a1b2".to_owned())
}

fn parse_operator_name(text: &str) -> Result<Username, String> {
    text.parse().map_err(|fault: MalformedUsername| fault.to_string())
}

/// The values are known to completions.
fn state() -> impl TypedValueParser<Value = JobState> {
    let names = PossibleValuesParser::new(JobState::ALL.map(JobState::name));
    names.try_map(|name| JobState::parse(&name).ok_or("unknown state"))
}

/// The values are known to completions.
fn queue() -> impl TypedValueParser<Value = Queue> {
    PossibleValuesParser::new(Queue::ALL.map(Queue::name)).try_map(|name| parse_queue(&name))
}

pub(crate) fn parse_queue(name: &str) -> Result<Queue, String> {
    Queue::parse(name).ok_or_else(|| {
        let known: Vec<_> = Queue::ALL.into_iter().map(Queue::name).collect();
        format!("unknown queue; the queues are {}", known.join(", "))
    })
}
