//! The workers of one process: one for each queue, restarted when their database fails them.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use apalis::layers::WorkerBuilderExt;
use apalis_core::backend::ext::BackendExt;
use apalis_core::monitor::Monitor;
use apalis_core::worker::builder::WorkerBuilder;
use apalis_core::worker::ext::parallelize::ParallelizeExt;
use domain::Queue;
use tokio_util::sync::CancellationToken;

use crate::attempt::{Attempts, Delivery, Handler};
use crate::backend::Backend;
use crate::database::Database;
use crate::queues::Queues;
use crate::wake::{All, TICK_INTERVAL, Tick, Wake};

/// Jobs that run when a stop is asked for may take so long to finish.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// A worker whose database failed starts again after this time.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct PoolSettings {
    pub queues: Vec<Queue>,
    /// Jobs of each queue that run at the same time.
    pub concurrency: usize,
    /// Instead of the queue's own.
    pub attempt_timeout: Option<Duration>,
    pub stop_timeout: Duration,
}

impl PoolSettings {
    pub fn new(queues: Vec<Queue>, concurrency: usize) -> Self {
        Self { queues, concurrency, attempt_timeout: None, stop_timeout: STOP_TIMEOUT }
    }
}

impl Queues {
    /// Works until `shutdown`; then takes no new job, finishes those that run and returns. Jobs that do not
    /// finish in time are interrupted and given back. Dropping the future is like the death of the process.
    pub async fn run_pool(
        &self,
        settings: PoolSettings,
        handler: Handler,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        ensure!(settings.concurrency > 0, "a pool works on at least one job at a time");
        ensure!(!settings.queues.is_empty(), "a pool works on at least one queue");
        // apalis refuses a worker name that was lately in use, so every start of a pool has names of its own.
        let pool = format!("{}-{}", self.instance, self.chance.base36(10));
        let interrupt = CancellationToken::new();
        let interrupt_when_dropped = interrupt.clone().drop_guard();

        let monitor = Monitor::new().shutdown_timeout(settings.stop_timeout).should_restart(|_, _| true);
        let monitor = settings.queues.iter().fold(monitor, |monitor, &queue| {
            let attempts = Arc::new(Attempts {
                queue,
                database: self.database.clone(),
                handler: handler.clone(),
                timeout: settings.attempt_timeout.unwrap_or_else(|| queue.attempt_timeout()),
                interrupt: interrupt.clone(),
            });
            self.register(monitor, format!("{pool}-{}", queue.name()), settings.concurrency, attempts)
        });
        monitor
            .run_with_signal(async {
                shutdown.cancelled().await;
                Ok(())
            })
            .await
            .context("running the workers")?;

        drop(interrupt_when_dropped);
        self.give_back(&pool, &settings.queues).await?;
        ensure!(shutdown.is_cancelled(), "the workers ended by themselves");
        Ok(())
    }

    fn register(
        &self,
        monitor: Monitor,
        name: String,
        concurrency: usize,
        attempts: Arc<Attempts>,
    ) -> Monitor {
        let (database, wake) = (self.database.clone(), self.wake_handle(attempts.queue));
        monitor.register(move |restart| {
            let mut backend = Backend::new(&database, attempts.queue);
            if restart > 0 {
                backend = backend.starting_after(RESTART_PAUSE);
            }
            let looks = All(vec![Box::new(Wake::new(wake.clone())), Box::new(Tick::every(TICK_INTERVAL))]);
            let attempts = attempts.clone();
            WorkerBuilder::new(format!("{name}-{restart}"))
                .backend(backend.poll_with_strategy(looks))
                .concurrency(concurrency)
                .parallelize(tokio::spawn)
                .build(move |payload: Vec<u8>, delivery: Delivery| attempts.clone().make(payload, delivery))
        })
    }

    /// Jobs that were fetched and not finished wait again at once, for whoever comes; it costs them no attempt.
    async fn give_back(&self, pool: &str, queues: &[Queue]) -> anyhow::Result<()> {
        let given_back = match &self.database {
            Database::Sqlite(sqlite) => sqlx::query(
                "UPDATE Jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
                 WHERE status IN ('Queued', 'Running') AND substr(lock_by, 1, length(?1)) = ?1",
            )
            .bind(pool)
            .execute(sqlite)
            .await
            .map(|updated| updated.rows_affected()),
            Database::Postgres(postgres) => sqlx::query(
                "UPDATE apalis.jobs SET status = 'Pending', lock_by = NULL, lock_at = NULL
                 WHERE status IN ('Queued', 'Running') AND starts_with(lock_by, $1)",
            )
            .bind(pool)
            .execute(postgres)
            .await
            .map(|updated| updated.rows_affected()),
        };
        if given_back.context("giving jobs back")? > 0 {
            queues.iter().for_each(|&queue| self.wakes.ring(queue));
        }
        Ok(())
    }
}
