//! What a worker does to the rows of its queue, with apalis' own statements. Fetches on PostgreSQL, pushes
//! and acknowledgements have statements of our own.
//!
//! apalis' storages wrap each statement into a transaction, which triples the round trips. Here only the
//! heartbeat has one, because it is two statements.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use apalis_core::backend::WorkerFilter;
use apalis_core::backend::persistence::{Persistence, TaskEvent};
use apalis_core::task::Task;
use apalis_core::worker::context::WorkerContext;
use apalis_postgres::queries as postgres;
use apalis_sqlite::{Config as SqliteConfig, queries as sqlite};
use domain::{Clock, Queue};
use serde_json::Value;

use crate::database::Database;
use crate::heartbeat::{HEARTBEAT_INTERVAL, LOST_AFTER_S};
use crate::slots::JobSlots;
use crate::sql;

const LOST_ERROR: &str = "its worker sent no heartbeats: another takes it over";

/// One queue's rows.
#[derive(Clone)]
pub(crate) struct JobRows {
    pub(crate) database: Database,
    pub(crate) queue: Queue,
    pub(crate) clock: Clock,
    pub(crate) slots: JobSlots,
    pub(crate) more_wait: MoreWait,
}

/// Whether the last fetch got all that it requested, so that more may wait.
#[derive(Clone, Default)]
pub(crate) struct MoreWait(Arc<AtomicBool>);

impl MoreWait {
    pub(crate) fn get(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, more_wait: bool) {
        self.0.store(more_wait, Ordering::Relaxed);
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum BackendFault {
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Sqlite(#[from] apalis_sqlite::Error),
    #[error(transparent)]
    Postgres(#[from] apalis_postgres::Error),
}

impl JobRows {
    fn sqlite_config(&self) -> SqliteConfig {
        SqliteConfig::default().queue(self.queue.name()).heartbeat_interval(HEARTBEAT_INTERVAL)
    }

    async fn fetch(
        &self,
        at_most: usize,
        worker: &WorkerContext,
    ) -> Result<Vec<Task<Vec<u8>>>, BackendFault> {
        match &self.database {
            Database::Sqlite(pool) => {
                Ok(sqlite::fetch_next(pool, &self.sqlite_config().batch_size(at_most), worker).await?)
            }
            Database::Postgres(pool) => {
                Ok(sql::postgres::fetch(pool, self.queue, worker.name(), at_most).await?)
            }
        }
    }
}

impl Persistence for JobRows {
    type Compact = Vec<u8>;
    type Response = Value;
    type Error = BackendFault;

    async fn register(&mut self, worker: &WorkerContext) -> Result<(), BackendFault> {
        match &self.database {
            Database::Sqlite(pool) => {
                sqlite::register_worker(pool, &self.sqlite_config(), worker, "SqliteStorage").await?;
            }
            Database::Postgres(pool) => {
                let mut connection = pool.acquire().await?;
                let now_s = self.clock.now().millis() / 1000;
                let queue = self.queue.name();
                postgres::register_worker(&mut *connection, queue, worker, &now_s.into(), "PgStorage")
                    .await?;
            }
        }
        self.heartbeat(worker).await
    }

    async fn heartbeat(&mut self, worker: &WorkerContext) -> Result<(), BackendFault> {
        let (queue, now_ms) = (self.queue.name(), self.clock.now().millis());
        match &self.database {
            Database::Sqlite(pool) => {
                let mut beat = pool.begin().await?;
                sqlite::keep_alive(&mut *beat, &self.sqlite_config(), worker).await?;
                let note = sqlx::query(sql::sqlite::NOTE_LOST).bind(LOST_AFTER_S.cast_signed()).bind(queue);
                note.bind(worker.name()).bind(now_ms).bind(LOST_ERROR).execute(&mut *beat).await?;
                let others = WorkerFilter::AllExcept(worker.name().to_owned());
                sqlite::reenqueue_orphaned(&mut *beat, LOST_AFTER_S.cast_signed(), queue, &others).await?;
                beat.commit().await?;
            }
            Database::Postgres(pool) => {
                let mut beat = pool.begin().await?;
                postgres::keep_alive(&mut *beat, queue, worker).await?;
                let note = sqlx::query(sql::postgres::NOTE_LOST).bind(LOST_AFTER_S.cast_signed()).bind(queue);
                note.bind(now_ms).bind(LOST_ERROR).execute(&mut *beat).await?;
                postgres::reenqueue_orphaned(&mut *beat, queue, LOST_AFTER_S).await?;
                beat.commit().await?;
            }
        }
        Ok(())
    }

    async fn fetch_next(&mut self, worker: &WorkerContext) -> Result<Vec<Task<Vec<u8>>>, BackendFault> {
        let at_most = self.slots.to_fetch();
        let fetched = self.fetch(at_most, worker).await?;
        self.more_wait.set(fetched.len() >= at_most);
        Ok(fetched)
    }

    async fn reenqueue_abandoned(
        &mut self,
        tasks: Vec<Task<Vec<u8>>>,
        worker: &WorkerContext,
    ) -> Result<u64, BackendFault> {
        let (queue, worker) = (self.queue.name(), worker.name());
        let ids: Vec<String> =
            tasks.iter().filter_map(|task| task.task_id()).map(ToString::to_string).collect();
        match &self.database {
            Database::Sqlite(pool) => Ok(sqlite::reenqueue_abandoned(pool, queue, worker, &ids).await?),
            Database::Postgres(pool) => {
                let mut connection = pool.acquire().await?;
                Ok(postgres::reenqueue_abandoned(&mut *connection, queue, worker, &ids).await?)
            }
        }
    }

    /// Never called: attempts are acknowledged in batches of their own.
    async fn handle_events(
        &mut self,
        _: Vec<TaskEvent<Value>>,
        _: &WorkerContext,
    ) -> Result<(), BackendFault> {
        Ok(())
    }

    /// Never called: pushes are written in batches of their own.
    async fn push_tasks(&mut self, tasks: Vec<Task<Vec<u8>>>) -> Result<(), BackendFault> {
        let queue = self.queue.name();
        match &self.database {
            Database::Sqlite(pool) => {
                let mut connection = pool.acquire().await?;
                sqlite::push_tasks(&mut *connection, queue, &tasks).await?;
            }
            Database::Postgres(pool) => {
                let mut connection = pool.acquire().await?;
                postgres::push_tasks(&mut *connection, queue, tasks).await?;
            }
        }
        Ok(())
    }
}
