//! A queue as apalis' workers see it: fetch, send heartbeats, take over lost jobs.
//!
//! The state machine belongs to apalis. SQLite and Postgres are behind one type, so that no
//! other code is generic over them. Jobs are returned as bytes and decoded in the attempt, because a decoding
//! error here would end the worker.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use apalis_core::backend::finalize::Ephemeral;
use apalis_core::backend::persistence::{Persisted, State, TaskPersistLayer};
use apalis_core::backend::{Backend as ApalisBackend, BackendConfig};
use apalis_core::task::Task;
use apalis_core::worker::context::WorkerContext;
use apalis_sqlite::JsonCodec;
use domain::Queue;
use serde_json::Value;
use tokio::time::{Sleep, sleep};
use tokio_util::sync::CancellationToken;

use crate::heartbeat::HEARTBEAT_INTERVAL;
use crate::pauses::Pauses;
use crate::persistence::{BackendFault, JobRows, MoreWait};
use crate::wake::PollTriggers;

pub(crate) struct Backend {
    rows: Persisted<JobRows>,
    triggers: PollTriggers,
    /// A reason to poll came after the last fetch had started.
    must_fetch_again: bool,
    /// The last fetch may have left jobs behind.
    more_wait: MoreWait,
    halts: Halts,
    /// A worker that restarts after a fault waits first, so that it does not hammer a dead database.
    pause: Option<Pin<Box<Sleep>>>,
}

/// The conditions that stop fetching. Heartbeats and acknowledgements continue, unlike in apalis' own
/// shutdown. There a slow job could be taken over while it finishes, and the abandoned fetch would keep
/// SQLite's only connection until then.
pub(crate) struct Halts {
    pub(crate) queue: Queue,
    pub(crate) stopping: CancellationToken,
    pub(crate) pauses: Arc<Pauses>,
}

impl Halts {
    fn are_on(&self) -> bool {
        self.stopping.is_cancelled() || self.pauses.holds(self.queue)
    }
}

impl Backend {
    pub(crate) fn new(rows: JobRows, triggers: PollTriggers, halts: Halts) -> Self {
        let more_wait = rows.more_wait.clone();
        Self { rows: Persisted::new(rows), triggers, must_fetch_again: false, more_wait, halts, pause: None }
    }

    pub(crate) fn starting_after(mut self, pause: Duration) -> Self {
        self.pause = Some(Box::pin(sleep(pause)));
        self
    }

    fn is_between_fetches(&self) -> bool {
        matches!(self.rows.state(), State::Ready)
    }
}

impl ApalisBackend for Backend {
    type Task = Task<Vec<u8>>;
    type Error = BackendFault;

    fn poll_ready(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), BackendFault>> {
        if let Some(pause) = &mut self.pause {
            ready!(pause.as_mut().poll(cx));
            self.pause = None;
        }
        self.rows.poll_ready(cx, worker, HEARTBEAT_INTERVAL)
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<Task<Vec<u8>>, BackendFault>>> {
        loop {
            self.must_fetch_again |= self.triggers.poll_due(cx);
            if self.is_between_fetches() {
                // apalis fetches whenever it is polled: after every job, and for every acknowledgement.
                let may_find = self.must_fetch_again || self.more_wait.get();
                if self.halts.are_on() || !may_find {
                    return Poll::Pending;
                }
                // The fetch that starts now sees everything that was pushed until now.
                self.must_fetch_again = false;
            }
            let next = self.rows.poll_next(cx, worker);
            if next.is_ready() {
                return next;
            }
            if !self.is_between_fetches() {
                return Poll::Pending;
            }
            // The fetch found nothing. apalis never fetches a job that was pushed meanwhile.
            match self.rows.poll_ready(cx, worker, HEARTBEAT_INTERVAL) {
                Poll::Ready(Ok(())) if self.must_fetch_again => {}
                Poll::Ready(Err(fault)) => return Poll::Ready(Some(Err(fault))),
                _ => return Poll::Pending,
            }
        }
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), BackendFault>> {
        self.rows.poll_close(cx, worker)
    }
}

impl BackendConfig for Backend {
    type Args = Vec<u8>;
    type Id = ulid::Ulid;
    // Not `Durable`, which decodes the arguments between this type and the handler.
    type Kind = Ephemeral;
    type Config = ();
    type Layer = TaskPersistLayer<JsonCodec<Value>, Value>;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Self::Layer {
        // Without `lock_tasks`, the row of a running job has the status `Queued`, and each job saves a write.
        // The attempt itself acknowledges the job.
        self.rows.layer(JsonCodec::default(), 1).persist_results(false).lock_tasks(false)
    }
}
