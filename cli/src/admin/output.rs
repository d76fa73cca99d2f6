//! In which form a command answers, and how it says no.

use std::process::ExitCode;

use domain::{Missing, Refusal};

use super::AdminCommand;
use crate::{complain, say};

/// Who reads the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    People,
    Json,
}

impl Form {
    pub(crate) fn asked_for(options: &client::Options) -> Self {
        if options.json { Form::Json } else { Form::People }
    }

    /// Says it in the form that is wanted.
    pub(super) fn answer(self, people: impl FnOnce() -> String, json: impl FnOnce() -> String) {
        match self {
            Form::People => say(&people()),
            Form::Json => say(&json()),
        }
    }
}

/// Says why nothing was done. The hints of refusals name calls, and no hint at a shell may.
pub(super) fn refused(refusal: &Refusal, command: &AdminCommand, form: Form) -> ExitCode {
    match form {
        Form::Json => complain(&api::told_in_json::refused(refusal), 1),
        Form::People => complain(&format!("handbill: {}", words(refusal, command)), 1),
    }
}

fn words(refusal: &Refusal, command: &AdminCommand) -> String {
    let job = match command {
        AdminCommand::Job(job)
        | AdminCommand::Retry { job, .. }
        | AdminCommand::Cancel { job, .. }
        | AdminCommand::Discard { job, .. } => Some(job),
        _ => None,
    };
    match (refusal, job) {
        (Refusal::NotFound(Missing::Job), Some(job)) => format!(
            "the queue {0} has no such job; what is done or cancelled is forgotten after 48 hours. List them: handbill admin jobs \
             {0} --state waiting",
            job.queue.name()
        ),
        (Refusal::JobIs { state }, Some(job)) => format!(
            "the job is {state}: what is dead, cancelled or failed can be retried, what waits or failed can be cancelled, \
             what is dead can be discarded, what runs ends by itself. Look at it: handbill admin job {} {}",
            job.queue.name(),
            job.id
        ),
        (Refusal::NotFound(Missing::Schedule), _) => {
            "there is no schedule of that name; list them: handbill admin schedules".to_owned()
        }
        (refusal, _) => refusal.message(),
    }
}
