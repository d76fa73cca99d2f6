//! One attempt at one job: check, decode, run with a time limit, and record how it ended.
//!
//! Every result of the handler, even a panic, becomes a verdict here, which its acknowledgement writes to the
//! job's row.

use std::any::Any;
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use apalis_core::error::BoxDynError;
use apalis_core::task::Task;
use apalis_core::task::from_request::FromRequest;
use domain::{Clock, JobEnvelope, Queue};
use futures::FutureExt;
use futures::future::BoxFuture;
use serde::Deserialize;
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::acknowledgements::{Acknowledgement, Acknowledgements};
use crate::board::FailedAttempt;
use crate::database::Database;
use crate::rates::{AttemptEnd, Rates};
use crate::sql::on_either;
use crate::unacknowledged::{BegunAttempt, Unacknowledged};

/// Bounds the error text that a failed attempt leaves in its row.
const ERROR_CHARS_MAX: usize = 2000;

/// Executes a job. `Err` is a failed attempt, which is retried later. [`GiveUp`] means that a retry is
/// useless, and [`LeftToAnother`] that this was not an attempt.
pub type Handler = Arc<dyn Fn(JobEnvelope, Attempt) -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync>;

/// Which attempt at the job this is. The first is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub number: u32,
    pub max: u32,
}

impl Attempt {
    /// If this one fails, the job is dead.
    pub fn is_last(self) -> bool {
        self.number >= self.max
    }
}

/// An error that a retry cannot fix: the job is dead at once.
#[derive(Debug)]
pub struct GiveUp(pub anyhow::Error);

impl fmt::Display for GiveUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl Error for GiveUp {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source()
    }
}

/// Nothing was done. Another process should run this job, or this one later. It waits again without using up
/// an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftToAnother {
    /// How long no process fetches it, in whole seconds.
    pub retry_after: Duration,
}

impl fmt::Display for LeftToAnother {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("left to another process")
    }
}

impl Error for LeftToAnother {}

/// What apalis provides with a job.
pub(crate) struct Delivery {
    pub(crate) id: String,
    /// The worker that has locked the row.
    pub(crate) worker: String,
    pub(crate) attempt: Attempt,
}

impl<Args: Sync> FromRequest<Task<Args>> for Delivery {
    type Error = Infallible;

    async fn from_request(task: &Task<Args>) -> Result<Self, Infallible> {
        let count = |attempts: usize| u32::try_from(attempts).unwrap_or(u32::MAX);
        Ok(Self {
            id: task.task_id().map(ToString::to_string).unwrap_or_default(),
            worker: task.lock_by().unwrap_or_default().to_owned(),
            // apalis counts the attempt that starts, and one for each worker that was lost with the job. The
            // row's own maximum decides, because apalis stops fetching the job by it.
            attempt: Attempt {
                number: count(task.ctx().attempt()),
                max: task.max_attempts().map_or(1, count),
            },
        })
    }
}

/// How an attempt ended.
enum Verdict {
    Done,
    Again { error: anyhow::Error, after: Duration },
    Dead { error: anyhow::Error },
    LeftToAnother(LeftToAnother),
}

impl Verdict {
    /// The outcome, as a metric label.
    fn name(&self) -> &'static str {
        match self {
            Verdict::Done => "done",
            Verdict::Again { .. } => "failed",
            Verdict::Dead { .. } => "dead",
            Verdict::LeftToAnother(_) => "left",
        }
    }
}

/// What the attempts at one queue's jobs share.
pub(crate) struct Attempts {
    pub(crate) queue: Queue,
    pub(crate) database: Database,
    pub(crate) handler: Handler,
    pub(crate) clock: Clock,
    pub(crate) rates: Arc<Rates>,
    pub(crate) unacknowledged: Unacknowledged,
    pub(crate) acknowledgements: Acknowledgements,
    pub(crate) timeout: Duration,
    /// Cancels every attempt at its next await when the pool is gone.
    pub(crate) interrupt: CancellationToken,
}

impl Attempts {
    pub(crate) async fn make(
        self: Arc<Self>,
        payload: Vec<u8>,
        delivery: Delivery,
    ) -> Result<(), BoxDynError> {
        let started = Instant::now();
        let begun = BegunAttempt { worker: delivery.worker.clone(), number: delivery.attempt.number };
        self.unacknowledged.begin(&delivery.id, begun);
        let job = serde_json::from_slice::<JobEnvelope>(&payload);
        let kind = job.as_ref().map_or_else(|_| kind_of(&payload), |job| job.job.kind().to_owned());
        let known_kind = job.as_ref().map_or("unreadable", |job| job.job.kind());
        let without_content = job.as_ref().ok().and_then(JobEnvelope::without_content);
        drop(payload);
        let Some(verdict) = self.interrupt.run_until_cancelled(self.decide(job, delivery.attempt)).await
        else {
            telemetry::job(self.queue, known_kind, "interrupted", started.elapsed());
            return Err("interrupted".into());
        };
        telemetry::job(self.queue, known_kind, verdict.name(), started.elapsed());
        let took = started.elapsed();
        self.log(&delivery, &kind, &verdict, took);
        match verdict {
            Verdict::Done => {
                self.note_done(known_kind, took).await;
                let new_payload = without_content.and_then(|job| serde_json::to_string(&job).ok());
                self.acknowledge(delivery, "Done", Ok(new_payload));
            }
            Verdict::Dead { error } => {
                let error = row_text(&error);
                self.note_failure(&delivery, took, &error, None).await;
                self.acknowledge(delivery, "Killed", Err(error));
            }
            Verdict::Again { error, after } => {
                let error = row_text(&error);
                self.note_failure(&delivery, took, &error, Some(after)).await;
                self.postpone(&delivery, after).await;
                self.acknowledge(delivery, "Failed", Err(error));
            }
            Verdict::LeftToAnother(left) => {
                if self.leave(&delivery, left).await {
                    // No acknowledgement follows, so the entry is removed here.
                    self.unacknowledged.acknowledge(&delivery.id, delivery.attempt.number);
                } else {
                    self.acknowledge(delivery, "Failed", Err(left.to_string()));
                }
            }
        }
        Ok(())
    }

    /// `Ok` has the payload that replaces the stored one, if any.
    fn acknowledge(&self, delivery: Delivery, status: &'static str, end: Result<Option<String>, String>) {
        let Delivery { id, worker, attempt: Attempt { number: attempt, .. } } = delivery;
        let (new_payload, result) = (end.clone().ok().flatten(), end.map(drop));
        self.acknowledgements.add(Acknowledgement { id, worker, attempt, status, result, new_payload });
    }

    async fn decide(&self, job: serde_json::Result<JobEnvelope>, attempt: Attempt) -> Verdict {
        if attempt.number > attempt.max {
            let error =
                anyhow!("no attempt is left: the last was cut off by the end of its worker or process");
            return Verdict::Dead { error };
        }
        let envelope = match job {
            Ok(envelope) => envelope,
            // Without the decoder's message, which may quote user content.
            Err(error) => {
                let (category, column) = (error.classify(), error.column());
                return Verdict::Dead {
                    error: anyhow!("its arguments do not decode: {category:?} at column {column}"),
                };
            }
        };
        // A process that may write to only one queue, such as an edge to the queue `views`, must not be able
        // to start work of another queue.
        if envelope.job.queue() != self.queue {
            let (kind, queue) = (envelope.job.kind(), self.queue.name());
            return Verdict::Dead { error: anyhow!("a job of kind {kind} does not belong to queue {queue}") };
        }
        let span = telemetry::spans::attempt(&envelope, self.queue, attempt.number);
        let attempted = self.run(envelope, attempt).instrument(span.clone()).await;
        if attempted.is_err() {
            telemetry::spans::note_failure(&span);
        }
        match attempted {
            Ok(()) => Verdict::Done,
            Err(error) if let Some(left) = error.downcast_ref::<LeftToAnother>().copied() => {
                Verdict::LeftToAnother(left)
            }
            Err(error) if attempt.is_last() || error.chain().any(|cause| cause.is::<GiveUp>()) => {
                Verdict::Dead { error }
            }
            Err(error) => Verdict::Again { error, after: self.queue.backoff(attempt.number) },
        }
    }

    async fn run(&self, envelope: JobEnvelope, attempt: Attempt) -> anyhow::Result<()> {
        // The call is inside, so that a panic before the handler's first await is caught as well.
        let run = AssertUnwindSafe(async { (self.handler)(envelope, attempt).await }).catch_unwind();
        match timeout(self.timeout, run).await {
            Ok(Ok(outcome)) => outcome,
            Ok(Err(panic)) => Err(anyhow!("panicked: {}", panic_message(panic.as_ref()))),
            Err(_) => Err(anyhow!("not done after {:?}", self.timeout)),
        }
    }

    /// Counts a job that is done, and records the time for the schedule that fires such jobs.
    async fn note_done(&self, kind: &'static str, took: Duration) {
        let now = self.clock.now();
        self.rates.count(self.queue, AttemptEnd::Done, took, now);
        if let Err(error) = self.database.note_done(kind, now).await {
            tracing::warn!(
                job.kind = kind,
                error = format!("{error:#}"),
                "the time of a scheduled job could not be recorded"
            );
        }
    }

    /// Counts a failed attempt, and records it for the board. Without `retry_after` the job is dead.
    async fn note_failure(
        &self,
        delivery: &Delivery,
        took: Duration,
        error: &str,
        retry_after: Option<Duration>,
    ) {
        let now = self.clock.now();
        self.rates.count(self.queue, AttemptEnd::Failed, took, now);
        let Delivery { id: job, worker, attempt } = delivery;
        let failed = FailedAttempt { job, worker, attempt: attempt.number, took, error, retry_after };
        if let Err(error) = self.database.note_failure(&failed, now).await {
            tracing::warn!(
                job.id = job,
                error = format!("{error:#}"),
                "a failed attempt could not be recorded for the queue board"
            );
        }
    }

    /// Sets the time of the next attempt while this process still holds the row; the acknowledgement then
    /// marks it as failed. If the process dies in between, the job is taken over like any orphan and keeps
    /// the time.
    async fn postpone(&self, delivery: &Delivery, after: Duration) {
        if let Err(error) = self.database.postpone(delivery, after).await {
            tracing::warn!(
                job.id = delivery.id,
                error = format!("{error:#}"),
                "a failed job could not be postponed"
            );
        }
    }

    /// Releases the row, instead of acknowledging the attempt. If that fails, the attempt counts as failed.
    async fn leave(&self, delivery: &Delivery, left: LeftToAnother) -> bool {
        let released = self.database.leave(delivery, left.retry_after).await;
        if let Err(error) = &released {
            tracing::warn!(
                job.id = delivery.id,
                error = format!("{error:#}"),
                "could not release a job to another process"
            );
        }
        released.is_ok()
    }

    fn log(&self, delivery: &Delivery, kind: &str, verdict: &Verdict, took: Duration) {
        let Delivery { id, attempt, .. } = delivery;
        let (queue, attempt) = (self.queue.name(), attempt.number);
        let duration_ms = took.as_secs_f64() * 1000.0;
        match verdict {
            Verdict::Done => tracing::info!(
                job.id = id,
                job.kind = kind,
                queue.name = queue,
                job.attempt = attempt,
                duration_ms,
                outcome = "done",
                "job done"
            ),
            Verdict::Again { error, after } => tracing::warn!(
                job.id = id,
                job.kind = kind,
                queue.name = queue,
                job.attempt = attempt,
                duration_ms,
                outcome = "failed",
                retry_ms = after.as_secs_f64() * 1000.0,
                error = format!("{error:#}"),
                "job failed"
            ),
            Verdict::Dead { error } => tracing::error!(
                job.id = id,
                job.kind = kind,
                queue.name = queue,
                job.attempt = attempt,
                duration_ms,
                outcome = "dead",
                error = format!("{error:#}"),
                "job is dead"
            ),
            Verdict::LeftToAnother(_) => tracing::debug!(
                job.id = id,
                job.kind = kind,
                queue.name = queue,
                duration_ms,
                outcome = "left",
                "job left to another process"
            ),
        }
    }
}

impl Database {
    async fn leave(&self, delivery: &Delivery, pause: Duration) -> anyhow::Result<()> {
        let pause_s = i64::try_from(pause.as_secs())?;
        on_either!(self, sql, pool => {
            let release = sqlx::query(sql::RELEASE).bind(pause_s).bind(&delivery.id).bind(&delivery.worker);
            release.execute(pool).await?;
        });
        Ok(())
    }

    async fn postpone(&self, delivery: &Delivery, after: Duration) -> anyhow::Result<()> {
        let after_ms = i64::try_from(after.as_millis())?;
        on_either!(self, sql, pool => {
            let postpone = sqlx::query(sql::POSTPONE).bind(after_ms).bind(&delivery.id).bind(&delivery.worker);
            postpone.execute(pool).await?;
        });
        Ok(())
    }
}

/// A job's kind, even if the rest of it cannot be decoded.
pub(crate) fn kind_of(payload: &[u8]) -> String {
    #[derive(Deserialize)]
    struct Kind {
        kind: String,
    }
    serde_json::from_slice(payload).map_or_else(|_| "unreadable".to_owned(), |Kind { kind }| kind)
}

/// The chain of causes, in a form that both databases can store. On Postgres, a NUL in it would make the
/// acknowledgement of the job fail, and with it the worker, again and again.
fn row_text(error: &anyhow::Error) -> String {
    format!("{error:#}").replace('\0', "\u{fffd}").chars().take(ERROR_CHARS_MAX).collect()
}

/// The panic message up to its first quote. A wrongly sliced text is quoted whole, and may be user content.
fn panic_message(panic: &(dyn Any + Send)) -> &str {
    let message = panic.downcast_ref::<&str>().copied();
    let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    message.and_then(|message| message.split('`').next()).unwrap_or("without a message")
}
