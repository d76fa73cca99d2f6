//! The workers of one process: one per queue, restarted when their database fails.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, ensure};
use apalis::layers::WorkerBuilderExt;
use apalis_core::monitor::Monitor;
use apalis_core::worker::builder::WorkerBuilder;
use apalis_core::worker::ext::parallelize::ParallelizeExt;
use domain::Queue;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::acknowledgements::Acknowledgements;
use crate::attempt::{Attempts, Delivery, Handler};
use crate::backend::{Backend, Halts};
use crate::database::Database;
use crate::persistence::{JobRows, MoreWait};
use crate::queues::Queues;
use crate::slots::JobSlots;
use crate::sql::on_either;
use crate::unacknowledged::{BegunAttempt, Unacknowledged};
use crate::wake::{PollTriggers, TICK_INTERVAL};

/// How long running jobs may take to finish after a stop is requested.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// A worker whose database failed starts again after this time.
const RESTART_PAUSE: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
pub struct PoolSettings {
    /// The number of concurrent jobs of each queue.
    pub queues: BTreeMap<Queue, usize>,
    /// Overrides the queue's own timeout.
    pub attempt_timeout: Option<Duration>,
    pub stop_timeout: Duration,
}

impl PoolSettings {
    pub fn new(queues: impl IntoIterator<Item = (Queue, usize)>) -> Self {
        Self { queues: queues.into_iter().collect(), attempt_timeout: None, stop_timeout: STOP_TIMEOUT }
    }
}

/// What the workers of one pool share.
#[derive(Clone)]
struct Pool {
    name: String,
    running: TaskTracker,
    stopping: CancellationToken,
    unacknowledged: Unacknowledged,
    acknowledgements: Acknowledgements,
}

impl Queues {
    /// Works until `shutdown`, then takes no new job, finishes the running ones and returns. Jobs that do not
    /// finish in time are interrupted and requeued. Dropping the future is like a crash of the process.
    pub async fn run_pool(
        &self,
        settings: PoolSettings,
        handler: Handler,
        shutdown: CancellationToken,
    ) -> anyhow::Result<()> {
        ensure!(!settings.queues.is_empty(), "a pool works on at least one queue");
        let is_idle = settings.queues.values().any(|concurrency| *concurrency == 0);
        ensure!(!is_idle, "a pool works on at least one job of each queue at a time");
        // Before the first fetch, so that a paused queue stays paused when a process starts.
        self.refresh_pauses().await?;
        let interrupt = CancellationToken::new();
        let interrupt_when_dropped = interrupt.clone().drop_guard();
        let unacknowledged = Unacknowledged::default();
        let pool = Pool {
            // apalis refuses a worker name that was recently in use, so every start has names of its own.
            name: format!("{}-{}", self.instance, self.chance.base36(10)),
            running: TaskTracker::new(),
            stopping: shutdown.clone(),
            acknowledgements: Acknowledgements::new(self.database.clone(), unacknowledged.clone()),
            unacknowledged,
        };
        let monitor = self.monitor_of(&settings, &pool, &handler, &interrupt);

        let are_finished = async {
            shutdown.cancelled().await;
            pool.running.close();
            pool.running.wait().await;
            Ok(())
        };
        let is_too_late = async {
            shutdown.cancelled().await;
            sleep(settings.stop_timeout).await;
        };
        let ended = tokio::select! {
            ended = monitor.run_with_signal(are_finished) => ended.context("running the workers"),
            never = self.watch_pauses() => match never {},
            never = pool.acknowledgements.run() => match never {},
            () = is_too_late => {
                tracing::warn!("jobs did not finish in time; interrupting and requeueing them");
                Ok(())
            }
        };
        drop(interrupt_when_dropped);
        pool.acknowledgements.flush().await;
        if let Err(error) = self.write_rates().await {
            tracing::debug!(error = format!("{error:#}"), "the queue board will miss the last attempts");
        }
        ended?;
        self.give_back(&pool, settings.queues.keys().copied()).await?;
        ensure!(shutdown.is_cancelled(), "the workers stopped unexpectedly");
        Ok(())
    }

    /// A worker for each job of each queue that may run at a time.
    fn monitor_of(
        &self,
        settings: &PoolSettings,
        pool: &Pool,
        handler: &Handler,
        interrupt: &CancellationToken,
    ) -> Monitor {
        let monitor = Monitor::new().should_restart(|_, _| true);
        settings.queues.iter().fold(monitor, |monitor, (&queue, &concurrency)| {
            let attempts = Attempts {
                queue,
                database: self.database.clone(),
                handler: handler.clone(),
                clock: self.clock.clone(),
                rates: self.rates.clone(),
                unacknowledged: pool.unacknowledged.clone(),
                acknowledgements: pool.acknowledgements.clone(),
                timeout: settings.attempt_timeout.unwrap_or_else(|| queue.attempt_timeout()),
                interrupt: interrupt.clone(),
            };
            self.register(monitor, pool, concurrency, Arc::new(attempts))
        })
    }

    fn register(
        &self,
        monitor: Monitor,
        pool: &Pool,
        concurrency: usize,
        attempts: Arc<Attempts>,
    ) -> Monitor {
        let queue = attempts.queue;
        let slots = JobSlots::new(concurrency);
        let rows = JobRows {
            database: self.database.clone(),
            queue,
            clock: self.clock.clone(),
            slots: slots.clone(),
            more_wait: MoreWait::default(),
        };
        let (pool, wake, pauses) = (pool.clone(), self.wake_handle(queue), self.pauses.clone());
        monitor.register(move |restart| {
            let triggers = PollTriggers::new(wake.clone(), TICK_INTERVAL);
            let halts = Halts { queue, stopping: pool.stopping.clone(), pauses: pauses.clone() };
            let mut backend = Backend::new(rows.clone(), triggers, halts);
            if restart > 0 {
                backend = backend.starting_after(RESTART_PAUSE);
            }
            let (attempts, running, slots) = (attempts.clone(), pool.running.clone(), slots.clone());
            WorkerBuilder::new(format!("{}-{}-{restart}", pool.name, queue.name()))
                .backend(backend)
                .concurrency(concurrency)
                .parallelize(move |attempt| {
                    let slot = slots.take();
                    running.spawn(async move {
                        let made = attempt.await;
                        drop(slot);
                        made
                    })
                })
                .build(move |payload: Vec<u8>, delivery: Delivery| attempts.clone().make(payload, delivery))
        })
    }

    /// Releases the jobs that were fetched and not finished, without using up an attempt. Attempts that have
    /// begun are recorded first. If that fails, the jobs stay locked, and their takeover counts the attempt.
    async fn give_back(&self, pool: &Pool, queues: impl Iterator<Item = Queue>) -> anyhow::Result<()> {
        let begun = pool.unacknowledged.take();
        let given_back = self.database.give_back(&pool.name, &begun).await.context("giving jobs back")?;
        if given_back > 0 {
            queues.for_each(|queue| self.wakes.wake(queue));
        }
        Ok(())
    }
}

impl Database {
    /// Records the begun attempts of this pool at jobs that it still holds, and releases its jobs. Returns
    /// the number of jobs that were released.
    async fn give_back(&self, pool: &str, begun: &[(String, BegunAttempt)]) -> anyhow::Result<u64> {
        Ok(on_either!(self, sql, connections => {
            let mut transaction = connections.begin().await?;
            for (job, attempt) in begun {
                let note = sqlx::query(sql::NOTE_BEGUN).bind(job).bind(&attempt.worker);
                note.bind(i64::from(attempt.number)).execute(&mut *transaction).await?;
            }
            let released = sqlx::query(sql::GIVE_BACK).bind(pool).execute(&mut *transaction).await?;
            transaction.commit().await?;
            released.rows_affected()
        }))
    }
}
