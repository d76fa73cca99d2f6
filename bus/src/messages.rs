//! The messages between processes.

use domain::{Host, JobId, Outcome};
use serde::{Deserialize, Serialize};

/// A message to every process: a queue has work.
#[derive(Serialize, Deserialize)]
pub(crate) struct Announcement {
    pub(crate) from: String,
    pub(crate) queue: String,
}

/// A message to one process.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Letter {
    Reply { job: JobId, outcome: Box<Outcome> },
    Ack { notice: u64, edge: String },
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Notice {
    pub(crate) from: String,
    pub(crate) number: u64,
    pub(crate) hosts: Vec<Host>,
    /// Whether the sender listens to its acknowledgement channel. Senders of the previous release do not.
    #[serde(default)]
    pub(crate) hears_acks_apart: bool,
}
