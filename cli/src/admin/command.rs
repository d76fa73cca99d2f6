//! What `handbill admin` takes.

use clap::{Args, Subcommand};
use domain::{Host, JobId, OperatorName, Queue};
use service::{JobState, JobsWanted};

use crate::args::parse_queue;

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

fn parse_state(name: &str) -> Result<JobState, String> {
    JobState::parse(name).ok_or_else(|| {
        let known: Vec<_> = JobState::ALL.into_iter().map(JobState::name).collect();
        format!("there is no such state; the states are {}", known.join(", "))
    })
}
