//! How an operation hands a job to the queue, knowing nothing of what carries it.

use anyhow::{Context, anyhow};
use domain::JobEnvelope;
use tokio::sync::{mpsc, oneshot};
use tracing::Instrument;

/// The narrow handle through which operations enqueue jobs. Behind it, the workers crate writes all pushes that
/// wait in one batch, so a busy service pays for few commits.
#[derive(Clone, Debug)]
pub struct JobQueue(mpsc::Sender<Push>);

/// One job on its way into the queue, and who wants to know that it is kept.
#[derive(Debug)]
pub struct Push {
    pub envelope: JobEnvelope,
    pub if_known: IfKnown,
    pub kept: oneshot::Sender<anyhow::Result<PushResult>>,
}

/// What came of a push.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushResult {
    /// It waits for its first attempt: it is new, or begins anew.
    Begins,
    /// The queue has it already, and it goes on as it stands there.
    WasThere,
}

/// What becomes of a job whose id the queue has already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IfKnown {
    /// It stays as it is; if somebody waits for it, one that waits out a backoff or has died is done now.
    Leave,
    /// It is done again from its first attempt, if it is done or dead; one that waits or runs stays as it is.
    BeginAnew,
}

/// Pushes that may wait before a caller must.
const PUSHES_WAITING_MAX: usize = 1024;

impl JobQueue {
    pub fn new() -> (Self, mpsc::Receiver<Push>) {
        let (sender, receiver) = mpsc::channel(PUSHES_WAITING_MAX);
        (Self(sender), receiver)
    }

    /// Returns once the queue's database has the job. The same id again is no error and no second job; if somebody
    /// waits for it (`reply_to`), one that waits out a backoff or has died is done now.
    pub async fn push(&self, envelope: JobEnvelope) -> anyhow::Result<()> {
        self.hand_over(envelope, IfKnown::Leave).await?;
        Ok(())
    }

    /// Like [`JobQueue::push`], for what is to be done again though it was done before, or has failed for good. What is
    /// done again is done as it is asked for now.
    pub async fn push_anew(&self, envelope: JobEnvelope) -> anyhow::Result<PushResult> {
        self.hand_over(envelope, IfKnown::BeginAnew).await
    }

    async fn hand_over(&self, envelope: JobEnvelope, if_known: IfKnown) -> anyhow::Result<PushResult> {
        let span = telemetry::spans::push(&envelope);
        // Whoever does the job goes on with the trace from here.
        let envelope = JobEnvelope { trace: telemetry::spans::traceparent(&span), ..envelope };
        let (kept, is_kept) = oneshot::channel();
        let push = Push { envelope, if_known, kept };
        let keeping = async {
            self.0.send(push).await.map_err(|_| anyhow!("the queue is closed"))?;
            is_kept.await.context("the queue closed before the job was kept")?
        };
        keeping.instrument(span).await
    }
}
