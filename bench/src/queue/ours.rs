//! Our queue: jobs of one kind, whose handler does nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context;
use domain::{AccountId, Chance, Clock, Job, JobEnvelope, JobId, Queue, ScanJob, VersionId};
use futures::FutureExt;
use service::JobQueue;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use workers::{Handler, Opening, PoolSettings, Queues};

use super::CONCURRENCY;

pub struct Ours {
    jobs: JobQueue,
    done: Arc<AtomicU64>,
    clock: Clock,
    chance: Chance,
    shutdown: CancellationToken,
    pool: JoinHandle<anyhow::Result<()>>,
}

impl Ours {
    pub async fn start(database: &str) -> anyhow::Result<Self> {
        let (clock, chance) = (Clock::system(), Chance::from_system());
        let opening = Opening {
            url: database,
            connections_max: 8,
            instance: "bench",
            clock: clock.clone(),
            chance: chance.clone(),
            on_pushed: Arc::new(|_| ()),
        };
        let queues = Queues::open(opening).await?;
        queues.migrate().await?;
        let (jobs, pushes) = JobQueue::new();
        let (done, shutdown) = (Arc::new(AtomicU64::new(0)), CancellationToken::new());
        tokio::spawn({
            let (queues, shutdown) = (queues.clone(), shutdown.clone());
            async move { queues.run_pushes(pushes, shutdown).await }
        });
        let settings = PoolSettings::new([(Queue::Scan, CONCURRENCY)]);
        let (handler, stopping) = (counting(&done), shutdown.clone());
        let pool = tokio::spawn(async move { queues.run_pool(settings, handler, stopping).await });
        Ok(Self { jobs, done, clock, chance, shutdown, pool })
    }

    pub async fn push(&self) -> anyhow::Result<()> {
        let id = JobId::new(self.clock.now(), &self.chance);
        let (account, version) = (AccountId::from_ulid(id.ulid()), VersionId::from_ulid(id.ulid()));
        let job = Job::Scan(ScanJob { account, version });
        self.jobs.push(JobEnvelope { id, reply_to: None, trace: None, job }).await
    }

    pub fn done(&self) -> u64 {
        self.done.load(Ordering::Relaxed)
    }

    pub async fn stop(self) -> anyhow::Result<()> {
        self.shutdown.cancel();
        self.pool.await.context("the workers fell")?
    }
}

fn counting(done: &Arc<AtomicU64>) -> Handler {
    let done = done.clone();
    Arc::new(move |_, _| {
        done.fetch_add(1, Ordering::Relaxed);
        async { Ok(()) }.boxed()
    })
}
