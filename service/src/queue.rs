//! How an operation hands a job to the queue, without knowing its implementation.

use anyhow::{Context, anyhow};
use domain::JobEnvelope;
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument;

/// The handle through which operations enqueue jobs. The workers crate writes all waiting pushes in one
/// batch, so a busy service needs few commits.
#[derive(Clone, Debug)]
pub struct JobQueue(mpsc::Sender<Push>);

/// A job on its way into the queue, with the channel for the confirmation.
#[derive(Debug)]
pub struct Push {
    pub envelope: JobEnvelope,
    pub if_known: IfKnown,
    pub kept: oneshot::Sender<anyhow::Result<PushResult>>,
}

/// The result of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushResult {
    /// The job is new or restarted, and waits for its first attempt.
    Queued,
    /// The queue has the job already, and does not restart it.
    AlreadyQueued,
}

/// What happens to a job whose id the queue already has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfKnown {
    /// It is left alone. But if a process waits for it, a job that is in backoff or dead runs now.
    Leave,
    /// A done or dead job runs again from its first attempt. One that waits or runs is left alone.
    Restart,
}

/// Pushes that may wait before a caller has to.
const PUSHES_WAITING_MAX: usize = 1024;

impl JobQueue {
    pub fn new() -> (Self, mpsc::Receiver<Push>) {
        let (sender, receiver) = mpsc::channel(PUSHES_WAITING_MAX);
        (Self(sender), receiver)
    }

    /// Returns once the queue's database has the job. Pushing the same id again is no error and creates no
    /// second job. If a process waits for the job (`reply_to`), it runs now if it is in backoff or dead.
    pub async fn push(&self, envelope: JobEnvelope) -> anyhow::Result<()> {
        self.hand_over(envelope, IfKnown::Leave).await?;
        Ok(())
    }

    /// As [`JobQueue::push`], for a job that is to run again although it is done or dead. It runs with the
    /// payload that is pushed now.
    pub async fn push_again(&self, envelope: JobEnvelope) -> anyhow::Result<PushResult> {
        self.hand_over(envelope, IfKnown::Restart).await
    }

    async fn hand_over(&self, envelope: JobEnvelope, if_known: IfKnown) -> anyhow::Result<PushResult> {
        let span = telemetry::spans::push(&envelope);
        // The worker continues the trace from here.
        let envelope = JobEnvelope { trace: telemetry::spans::traceparent(&span), ..envelope };
        let (kept, is_kept) = oneshot::channel();
        let push = Push { envelope, if_known, kept };
        let keeping = async {
            self.0.send(push).await.map_err(|_| anyhow!("the queue is closed"))?;
            is_kept.await.context("the queue closed before the job was stored")?
        };
        keeping.instrument(span).await
    }
}
