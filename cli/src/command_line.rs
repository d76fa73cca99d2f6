//! Reads a command line.

use std::collections::HashSet;
use std::ffi::OsString;

use clap::FromArgMatches;
use clap::error::ErrorKind;
use domain::Queue;

use crate::args::{Arguments, Command, ServerCommand};
use crate::help;

impl Arguments {
    /// Parses a command line and checks it as a whole.
    pub(crate) fn read(
        line: impl IntoIterator<Item = impl Into<OsString> + Clone>,
    ) -> clap::error::Result<Self> {
        let arguments = Self::from_arg_matches(&help::parser().try_get_matches_from(line)?)?;
        match named_twice(&arguments.command) {
            Some(queue) => Err(help::parser().error(
                ErrorKind::ValueValidation,
                format!("--queues contains the queue {} twice; give each queue once", queue.name()),
            )),
            None => Ok(arguments),
        }
    }
}

/// A queue that is named twice in `--queues`, which leaves its concurrency unclear.
fn named_twice(command: &Command) -> Option<Queue> {
    let Command::Server(ServerCommand::Worker { queues, .. }) = command else { return None };
    let mut seen = HashSet::new();
    queues.iter().map(|share| share.queue).find(|queue| !seen.insert(*queue))
}
