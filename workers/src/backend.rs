//! A queue as apalis' workers see it: fetch, acknowledge, tell that the worker lives, take over from the lost.
//!
//! The state machine and the statements are apalis'; SQLite and Postgres stand behind one type, so that nothing
//! else is generic over them. Jobs come out of it as bytes: they are decoded in the attempt, because a decoding
//! error in here would end the worker.

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
use crate::wake::Looks;

/// A fourth of the acknowledgements that may wait for the worker's next statement; further ones wait to wait.
const ACKNOWLEDGEMENTS_WAITING: usize = 16;

pub(crate) struct Backend {
    rows: Persisted<JobRows>,
    looks: Looks,
    /// A reason to look for jobs came after the last fetch had begun.
    must_look_again: bool,
    /// The last fetch may have left some.
    more_wait: MoreWait,
    halts: Halts,
    /// A worker that restarts after a fault waits first, so that a dead database is not hammered.
    pause: Option<Pin<Box<Sleep>>>,
}

/// Why nothing more is fetched. Heartbeats and acknowledgements go on, unlike in apalis' own shutdown, which would let
/// a slow job be taken over while it finishes, and whose forgotten fetch would keep SQLite's only connection until then.
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
    pub(crate) fn new(rows: JobRows, looks: Looks, halts: Halts) -> Self {
        let more_wait = rows.more_wait.clone();
        Self { rows: Persisted::new(rows), looks, must_look_again: false, more_wait, halts, pause: None }
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
            self.must_look_again |= self.looks.poll_due(cx);
            if self.is_between_fetches() {
                // apalis fetches whenever it is polled: after every job, and for every acknowledgement.
                let may_find = self.must_look_again || self.more_wait.get();
                if self.halts.are_on() || !may_find {
                    return Poll::Pending;
                }
                // The fetch that begins now sees everything that was pushed until now.
                self.must_look_again = false;
            }
            let next = self.rows.poll_next(cx, worker);
            if next.is_ready() {
                return next;
            }
            if !self.is_between_fetches() {
                return Poll::Pending;
            }
            // The fetch found nothing. apalis leaves acknowledgements that came meanwhile until the next poll,
            // and never looks again for a job that was pushed meanwhile.
            match self.rows.poll_ready(cx, worker, HEARTBEAT_INTERVAL) {
                Poll::Ready(Ok(())) if self.must_look_again => {}
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
    // Not `Durable`: that one decodes the arguments between us and the handler.
    type Kind = Ephemeral;
    type Config = ();
    type Layer = TaskPersistLayer<JsonCodec<Value>, Value>;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, _: &mut WorkerContext) -> Self::Layer {
        // Without `lock_tasks` a running job's row says `Queued`, and each job costs one write less.
        self.rows
            .layer(JsonCodec::default(), ACKNOWLEDGEMENTS_WAITING)
            .persist_results(true)
            .lock_tasks(false)
    }
}
