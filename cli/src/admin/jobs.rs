//! `handbill admin jobs` and the commands on one job.

use api::operator_json;
use client::show::{Fit, facts, harmless, table};
use domain::{OperatorName, Time};
use service::{Failure, JobDetail, JobEventKind, JobFilter, JobInfo, JobList, JobState, Service};

use super::board::moment;
use super::command::JobNamed;
use crate::output::Form;

/// How many characters of an error a list shows. `handbill admin job` shows all of it.
const ERROR_LENGTH_MAX: usize = 70;

pub(super) async fn list(service: &Service, form: Form, wanted: JobFilter) -> Result<(), Failure> {
    let (jobs, now) = (service.jobs(wanted).await?, service.clock().now());
    form.print(|| listed(wanted, &jobs, now), || operator_json::jobs(jobs.clone()));
    Ok(())
}

pub(super) async fn show(service: &Service, form: Form, named: JobNamed) -> Result<(), Failure> {
    let (job, now) = (service.job(named.queue, named.id).await?, service.clock().now());
    form.print(|| job_text(&job, now), || operator_json::job(job.clone()));
    Ok(())
}

pub(super) async fn retry(
    service: &Service,
    form: Form,
    named: JobNamed,
    by: &OperatorName,
) -> Result<(), Failure> {
    let JobNamed { queue, id } = named;
    service.retry_job(queue, id, by).await?;
    let text = || {
        let queue = queue.name();
        format!(
            "Queued the job again, with all its attempts. `handbill admin job {queue} {id}` shows its progress."
        )
    };
    form.print(text, || operator_json::retried(queue, id));
    Ok(())
}

pub(super) async fn cancel(
    service: &Service,
    form: Form,
    named: JobNamed,
    by: &OperatorName,
) -> Result<(), Failure> {
    let JobNamed { queue, id } = named;
    service.cancel_job(queue, id, by).await?;
    let text = || {
        let queue = queue.name();
        format!("Cancelled the job. `handbill admin retry {queue} {id}` runs it after all.")
    };
    form.print(text, || operator_json::cancelled(queue, id));
    Ok(())
}

pub(super) async fn discard(
    service: &Service,
    form: Form,
    named: JobNamed,
    by: &OperatorName,
) -> Result<(), Failure> {
    let JobNamed { queue, id } = named;
    service.discard_job(queue, id, by).await?;
    let text = || {
        let queue = queue.name();
        format!("Discarded the job. For 48 hours, `handbill admin retry {queue} {id}` runs it after all.")
    };
    form.print(text, || operator_json::discarded(queue, id));
    Ok(())
}

fn listed(wanted: JobFilter, jobs: &JobList, now: Time) -> String {
    let (queue, state) = (wanted.queue.name(), wanted.state.name());
    let rows = jobs.jobs.iter().map(|job| {
        let error = job.last_error.as_deref().unwrap_or_default();
        let error = error.chars().take(ERROR_LENGTH_MAX).collect();
        [job.id.to_string(), job.kind.clone(), state_text(job, now), attempts(job), error]
    });
    let empty = format!("{queue} has no jobs in the state {state}.");
    let fit = Fit { shortened: Some("ERROR"), left_out: &["KIND", "ATTEMPTS", "ERROR", "STATE"] };
    let list = table(["ID", "KIND", "STATE", "ATTEMPTS", "ERROR"], fit, rows, &empty);
    match jobs.next {
        Some(next) => {
            format!("{list}\n\nOlder jobs: handbill admin jobs {queue} --state {state} --before {next}")
        }
        None => list,
    }
}

fn job_text(detail: &JobDetail, now: Time) -> String {
    let job = &detail.job;
    let queue = job.queue.name();
    let known = [
        ("id", Some(job.id.to_string())),
        ("queue", Some(queue.to_owned())),
        ("kind", Some(job.kind.clone())),
        ("state", Some(state_text(job, now))),
        ("attempts", Some(attempts(job))),
        ("worker", job.worker.clone()),
        ("replies to", detail.reply_to.clone()),
        ("last error", job.last_error.clone()),
    ];
    let known = facts(known.into_iter().filter_map(|(name, value)| Some((name, value?))));
    let rows = detail.timeline.iter().map(|event| {
        let (what, details) = event_cells(&event.what);
        [event.at.rfc3339(), what, details]
    });
    let fit = Fit { shortened: Some("DETAILS"), left_out: &[] };
    let timeline = table(["TIME", "EVENT", "DETAILS"], fit, rows, "No events yet.");
    let next = match job.state {
        JobState::Dead => format!(
            "\n\nRetry it: handbill admin retry {queue} {0}\n\
             Discard it: handbill admin discard {queue} {0}",
            job.id
        ),
        JobState::Cancelled => {
            format!("\n\nRetry it: handbill admin retry {queue} {}", job.id)
        }
        _ => String::new(),
    };
    // JSON escapes every control character except line ends.
    let payload = format!("{:#}", detail.payload);
    let payload: Vec<_> = payload.lines().map(harmless).collect();
    format!("{known}\n\n{}\n\n{timeline}{next}", payload.join("\n"))
}

fn attempts(job: &JobInfo) -> String {
    format!("{} of {}", job.attempts, job.attempts_max)
}

/// The state with its most relevant time.
fn state_text(job: &JobInfo, now: Time) -> String {
    let ended = job.ended_at.unwrap_or(job.due_at);
    let (name, at) = match job.state {
        JobState::Waiting => ("waiting, due", job.due_at),
        JobState::Running => ("running, started", job.begun_at.unwrap_or(job.due_at)),
        JobState::Failed => ("failed, retry", job.due_at),
        JobState::Dead => ("dead,", ended),
        JobState::Cancelled => ("cancelled,", ended),
        JobState::Done => ("done,", ended),
    };
    format!("{name} {}", moment(at, now))
}

fn event_cells(what: &JobEventKind) -> (String, String) {
    match what {
        JobEventKind::Pushed => ("pushed".to_owned(), String::new()),
        JobEventKind::Began { attempt, worker } => (format!("attempt {attempt} started"), worker.clone()),
        JobEventKind::Failed { attempt, error, .. } => (format!("attempt {attempt} failed"), error.clone()),
        JobEventKind::Died { attempt, error } => (format!("dead after attempt {attempt}"), error.clone()),
        JobEventKind::Done { attempt } => (format!("done on attempt {attempt}"), String::new()),
        JobEventKind::Retried { by } => ("retried".to_owned(), format!("by {by}")),
        JobEventKind::Cancelled { by } => ("cancelled".to_owned(), format!("by {by}")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use domain::{JobId, Queue};
    use service::JobEvent;

    use super::*;

    fn now() -> Time {
        Time::parse_rfc3339("2026-11-21T14:05:00Z").unwrap()
    }

    fn id() -> JobId {
        "01KC4GZJ2Q8W5T7RXN3VB6M9DE".parse().unwrap()
    }

    fn dead() -> JobInfo {
        JobInfo {
            id: id(),
            queue: Queue::Scan,
            kind: "scan".into(),
            state: JobState::Dead,
            attempts: 8,
            attempts_max: 8,
            due_at: now(),
            begun_at: Some(now()),
            ended_at: Some(now().minus(Duration::from_secs(40))),
            worker: None,
            last_error: Some("the store \u{1b}[2J does not answer".into()),
        }
    }

    #[test]
    fn job_list_shows_errors_and_the_next_page_command() {
        let wanted = JobFilter::of(Queue::Scan, JobState::Dead);
        let list = listed(wanted, &JobList { jobs: vec![dead()], next: Some(id()) }, now());
        let row = list.lines().nth(1).unwrap();
        for part in
            ["01KC4GZJ2Q8W5T7RXN3VB6M9DE", "scan", "dead, 40 s ago", "8 of 8", "the store [2J does not"]
        {
            assert!(row.contains(part), "{list}");
        }
        assert!(
            list.ends_with(&format!("handbill admin jobs scan --state dead --before {}", id())),
            "{list}"
        );
        let none = listed(wanted, &JobList { jobs: vec![], next: None }, now());
        assert_eq!(none, "scan has no jobs in the state dead.");
    }

    #[test]
    fn job_text_shows_facts_payload_and_timeline() {
        let died = JobEventKind::Died { attempt: 8, error: "no answer".into() };
        let detail = JobDetail {
            job: dead(),
            payload: "about a page".into(),
            reply_to: Some("api-1".into()),
            timeline: vec![JobEvent { at: now(), what: died }],
        };
        let text = job_text(&detail, now());
        for part in ["replies to  api-1", "\"about a page\"", "dead after attempt 8", "2026-11-21T14:05:00Z"]
        {
            assert!(text.contains(part), "{text}");
        }
        assert!(text.ends_with(&format!("handbill admin discard scan {}", id())), "{text}");
    }
}
