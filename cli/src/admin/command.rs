//! What `handbill admin` takes.

use clap::{Args, Subcommand};
use domain::{
    Host, JobId, MalformedUsername, Micro, OperatorName, Queue, RulingNote, SuspensionReason, Username,
};
use service::{JobState, JobsWanted};

use crate::args::parse_queue;

/// The most that one command gives or takes, as the operator's route has it.
const CREDIT_MAX: Micro = Micro::new(10_000_000_000);

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
    /// Show all queues, and all processes with what they take and do.
    Queues,
    /// List the jobs of a queue, the newest first.
    Jobs(JobsNamed),
    /// Show one job: what it is about, why it failed, what happened to it.
    Job(JobNamed),
    /// Have a job begun anew that is dead or cancelled, or waits for another attempt.
    Retry {
        #[command(flatten)]
        job: JobNamed,
        #[command(flatten)]
        signed: Signed,
    },
    /// End a job that waits. It can be retried for 48 hours.
    Cancel {
        #[command(flatten)]
        job: JobNamed,
        #[command(flatten)]
        signed: Signed,
    },
    /// Give a dead job up for good. It counts as cancelled then, and can be retried for 48 hours.
    Discard {
        #[command(flatten)]
        job: JobNamed,
        #[command(flatten)]
        signed: Signed,
    },
    /// Have all dead jobs of a queue begun anew. Mend first what killed them.
    RequeueDead {
        /// Which queue.
        #[arg(value_parser = parse_queue)]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Give all dead jobs of a queue up for good. Each can be retried for 48 hours, one by one.
    DiscardDead {
        /// Which queue.
        #[arg(value_parser = parse_queue)]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Let no worker begin a job of a queue, in any process, until it is resumed. What runs is finished.
    Pause {
        /// Which queue.
        #[arg(value_parser = parse_queue)]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Let a queue that is paused go on.
    Resume {
        /// Which queue.
        #[arg(value_parser = parse_queue)]
        queue: Queue,
        #[command(flatten)]
        signed: Signed,
    },
    /// Give credit to an account, or take it: a ledger entry of its own kind, recorded with your name and the reason.
    Credit(CreditOrder),
    /// Suspend an account: its writes are refused and its pages answer 451, until the suspension is lifted.
    Suspend(SuspensionOrder),
    /// Lift the suspension of an account.
    Lift(AccountNamed),
    /// Manage the operators who sign in at /admin with passwords of their own.
    #[command(subcommand)]
    Operator(OperatorCommand),
    /// Show the schedules, and when each fired and will fire.
    Schedules,
    /// Do now what a schedule does; it fires in its own time as well.
    Run {
        /// Its name, such as `sweep-records`.
        schedule: String,
        #[command(flatten)]
        signed: Signed,
    },
}

/// Credit to give or to take.
#[derive(Clone, Debug, Args)]
pub(crate) struct CreditOrder {
    /// The account's handle, such as `acct_1a2b3c`, or its id.
    pub(crate) account: String,
    /// US dollars, such as `5` or `2.50`; a negative amount takes credit away.
    #[arg(allow_negative_numbers = true, value_parser = parse_usd)]
    pub(crate) usd: Micro,
    /// Why. Only operators see it.
    #[arg(long)]
    pub(crate) reason: RulingNote,
    /// The id that an earlier attempt printed: the credit is then given once at most.
    #[arg(long)]
    pub(crate) id: Option<JobId>,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

/// An account, and who decides on it.
#[derive(Clone, Debug, Args)]
pub(crate) struct AccountNamed {
    /// The account's handle, such as `acct_1a2b3c`, or its id.
    #[arg(value_name = "HANDLE")]
    pub(crate) account: String,
    #[command(flatten)]
    pub(crate) signed: Signed,
}

/// An account to suspend.
#[derive(Clone, Debug, Args)]
pub(crate) struct SuspensionOrder {
    #[command(flatten)]
    pub(crate) account: AccountNamed,
    /// Why. The account's members and agents can see it.
    #[arg(long)]
    pub(crate) reason: SuspensionReason,
}

/// What an operator does about operators.
#[derive(Debug, Subcommand)]
pub(crate) enum OperatorCommand {
    /// Ask for a password and print the entry for the setting `secrets.operators`. At a terminal the password is typed
    /// unseen; otherwise it is the first line of standard input.
    Add {
        /// The operator's name: 3 to 30 letters, digits, `_` and `-`.
        #[arg(value_parser = parse_operator_name)]
        name: Username,
    },
}

/// Which jobs to list.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JobsNamed {
    /// Which queue.
    #[arg(value_parser = parse_queue)]
    queue: Queue,
    /// In which state: waiting, running, failed, dead, cancelled or done.
    #[arg(long, default_value = "dead", value_parser = parse_state)]
    state: JobState,
    /// Only those that are older than this one.
    #[arg(long, value_name = "ID")]
    before: Option<JobId>,
}

/// A job.
#[derive(Clone, Copy, Debug, Args)]
pub(crate) struct JobNamed {
    /// Its queue.
    #[arg(value_parser = parse_queue)]
    pub(crate) queue: Queue,
    /// Its id, as lists and logs have it.
    pub(crate) id: JobId,
}

/// Who does it.
#[derive(Clone, Debug, Args)]
pub(crate) struct Signed {
    /// Who does it: the name stands in the log, on the board and in the job's timeline.
    #[arg(long = "as", value_name = "NAME", env = "USER", hide_env_values = true)]
    by: Option<String>,
}

impl JobsNamed {
    pub(crate) fn read(self) -> JobsWanted {
        let JobsNamed { queue, state, before } = self;
        JobsWanted { queue, state, before }
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

fn parse_operator_name(text: &str) -> Result<Username, String> {
    text.parse().map_err(|fault: MalformedUsername| fault.to_string())
}

fn parse_state(name: &str) -> Result<JobState, String> {
    JobState::parse(name).ok_or_else(|| {
        let known: Vec<_> = JobState::ALL.into_iter().map(JobState::name).collect();
        format!("there is no such state; the states are {}", known.join(", "))
    })
}
