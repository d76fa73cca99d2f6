//! apalis' storage on SQLite or on Postgres behind one type, so that nothing else is generic over it.
//!
//! Jobs come out of it as bytes. They are decoded in the attempt: a decoding error in here would end the worker.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use apalis_core::backend::finalize::Ephemeral;
use apalis_core::backend::{Backend as ApalisBackend, BackendConfig};
use apalis_core::task::Task;
use apalis_core::worker::context::WorkerContext;
use apalis_postgres::{Config as PostgresConfig, PostgresStorage};
use apalis_sqlite::{Config as SqliteConfig, SqliteStorage};
use domain::Queue;
use tokio::time::{Sleep, sleep};

use crate::database::Database;

/// How often a worker says that it lives.
const HEARTBEAT_INTERVAL: Duration = Duration::from_secs(2);
/// After so many heartbeats without a word, another worker takes the jobs over.
const HEARTBEATS_MISSED_MAX: usize = 3;
/// Fetched jobs that wait for a free worker hold up its heartbeats and acknowledgements, and are then run twice.
const FETCH_BATCH: usize = 1;

pub(crate) struct Backend {
    storage: Storage,
    /// A worker that restarts after a fault waits first, so that a dead database is not hammered.
    pause: Option<Pin<Box<Sleep>>>,
}

enum Storage {
    Sqlite(SqliteStorage<Vec<u8>>),
    Postgres(PostgresStorage<Vec<u8>>),
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum BackendFault {
    #[error(transparent)]
    Sqlite(#[from] apalis_sqlite::Error),
    #[error(transparent)]
    Postgres(#[from] apalis_postgres::Error),
}

impl Backend {
    pub(crate) fn new(database: &Database, queue: Queue) -> Self {
        // Without `lock_tasks` a running job's row says `Queued`, and each job costs one write less.
        let storage = match database {
            Database::Sqlite(pool) => Storage::Sqlite(
                SqliteStorage::new(pool).with_config(
                    SqliteConfig::default()
                        .queue(queue.name())
                        .batch_size(FETCH_BATCH)
                        .heartbeat_interval(HEARTBEAT_INTERVAL)
                        .missed_heartbeats(HEARTBEATS_MISSED_MAX)
                        .lock_tasks(false),
                ),
            ),
            Database::Postgres(pool) => Storage::Postgres(
                PostgresStorage::new(pool).with_config(
                    PostgresConfig::default()
                        .queue(queue.name())
                        .batch_size(FETCH_BATCH)
                        .heartbeat_interval(HEARTBEAT_INTERVAL)
                        .missed_heartbeats(HEARTBEATS_MISSED_MAX)
                        .lock_tasks(false),
                ),
            ),
        };
        Self { storage, pause: None }
    }

    pub(crate) fn starting_after(mut self, pause: Duration) -> Self {
        self.pause = Some(Box::pin(sleep(pause)));
        self
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
        match &mut self.storage {
            Storage::Sqlite(storage) => storage.poll_ready(cx, worker).map_err(BackendFault::from),
            Storage::Postgres(storage) => {
                ApalisBackend::poll_ready(storage, cx, worker).map_err(BackendFault::from)
            }
        }
    }

    fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
        worker: &WorkerContext,
    ) -> Poll<Option<Result<Task<Vec<u8>>, BackendFault>>> {
        let next = match &mut self.storage {
            Storage::Sqlite(storage) => storage.poll_next(cx, worker).map_err(BackendFault::from),
            Storage::Postgres(storage) => storage.poll_next(cx, worker).map_err(BackendFault::from),
        };
        if next.is_pending() {
            // apalis reads acknowledgements only while no fetch is under way. Those that came during a fetch that
            // found nothing would wait for the tick, and be lost with the process for so long.
            return match self.poll_ready(cx, worker) {
                Poll::Ready(Err(fault)) => Poll::Ready(Some(Err(fault))),
                _ => Poll::Pending,
            };
        }
        next
    }

    fn poll_close(&mut self, cx: &mut Context<'_>, worker: &WorkerContext) -> Poll<Result<(), BackendFault>> {
        match &mut self.storage {
            Storage::Sqlite(storage) => {
                ApalisBackend::poll_close(storage, cx, worker).map_err(BackendFault::from)
            }
            Storage::Postgres(storage) => {
                ApalisBackend::poll_close(storage, cx, worker).map_err(BackendFault::from)
            }
        }
    }
}

impl BackendConfig for Backend {
    type Args = Vec<u8>;
    type Id = ulid::Ulid;
    // Not `Durable`: that one decodes the arguments between us and the handler.
    type Kind = Ephemeral;
    type Config = ();
    type Layer = <SqliteStorage<Vec<u8>> as BackendConfig>::Layer;

    fn config(&self) -> &() {
        &()
    }

    fn middleware(&mut self, worker: &mut WorkerContext) -> Self::Layer {
        match &mut self.storage {
            Storage::Sqlite(storage) => storage.middleware(worker),
            Storage::Postgres(storage) => storage.middleware(worker),
        }
    }
}
