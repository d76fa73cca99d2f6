//! Why an operator's command did nothing.

use std::process::ExitCode;

use domain::{Missing, Refusal};

use super::AdminCommand;
use crate::output::{Form, complain};

/// Prints why nothing was done. The API's hints name HTTP calls, which do not help at a shell, so they are
/// left out.
pub(super) fn refused(refusal: &Refusal, command: &AdminCommand, form: Form) -> ExitCode {
    match form {
        Form::Json => complain(&api::operator_json::refused(refusal), 1),
        Form::People => complain(&format!("handbill: {}", text(refusal, command)), 1),
    }
}

fn text(refusal: &Refusal, command: &AdminCommand) -> String {
    let job = match command {
        AdminCommand::Job(job)
        | AdminCommand::Retry { job, .. }
        | AdminCommand::Cancel { job, .. }
        | AdminCommand::Discard { job, .. } => Some(job),
        _ => None,
    };
    match (refusal, job) {
        (Refusal::NotFound(Missing::Job), Some(job)) => format!(
            "the queue {0} has no such job. Done and cancelled jobs are deleted after 48 hours. List jobs with `handbill admin jobs \
             {0} --state waiting`.",
            job.queue.name()
        ),
        (Refusal::JobIs { state }, Some(job)) => format!(
            "the job is {state}. Dead, cancelled and failed jobs can be retried, waiting and failed jobs can be cancelled, and \
             dead jobs can be discarded. `handbill admin job {} {}` shows the job.",
            job.queue.name(),
            job.id
        ),
        (Refusal::NotFound(Missing::Schedule), _) => {
            "there is no schedule with that name. List them with `handbill admin schedules`.".to_owned()
        }
        (refusal, _) => refusal.message(),
    }
}
