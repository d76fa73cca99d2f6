//! A database for each test, queues on it, and a handler that records its calls.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::anyhow;
use domain::{
    AccountId, Activation, Chance, Clock, Content, CreatedVia, Job, JobEnvelope, JobId, OperatorName,
    PublishJob, PublishOrder, Queue, ScanJob, Target, VersionId,
};
use futures::FutureExt;
use futures::future::BoxFuture;
use service::{Board, JobActionResult, JobDetail, JobEventKind, JobFilter, JobInfo, JobQueue, JobState};
use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::database::Database;
use crate::sql::on_either;
use crate::{Attempt, GiveUp, Handler, Opening, PoolSettings, Queues};

/// Longer than any wait that succeeds, even on a busy machine.
const DEADLINE: Duration = Duration::from_secs(40);

/// Turns each test into one on SQLite and one on Postgres.
macro_rules! on_both {
    ($(async fn $name:ident($harness:ident: WorkerHarness) $body:block)+) => {
        $(async fn $name($harness: WorkerHarness) $body)+

        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name(crate::tests::harness::WorkerHarness::sqlite().await).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                let Some(harness) = crate::tests::harness::WorkerHarness::postgres().await else { return };
                super::$name(harness).await;
            })+
        }
    };
}
pub(super) use on_both;

pub(super) struct WorkerHarness {
    url: String,
    pub(super) queues: Queues,
    pub(super) woken: Arc<Mutex<Vec<Queue>>>,
    _folder: TempDir,
}

impl WorkerHarness {
    pub(super) async fn sqlite() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}/queue.db", folder.path().display());
        Self::new(url, folder).await
    }

    /// `None` when there is no Postgres, which skips the test.
    pub(super) async fn postgres() -> Option<Self> {
        let server = test_servers::postgres()?;
        let name = format!("queue_test_{}", Chance::from_system().base36(12));
        let mut connection = PgConnection::connect(&server).await.unwrap();
        let create = sqlx::AssertSqlSafe(format!("CREATE DATABASE {name}"));
        sqlx::raw_sql(create).execute(&mut connection).await.unwrap();
        let (address, _) = server.rsplit_once('/').unwrap();
        Some(Self::new(format!("{address}/{name}"), tempfile::tempdir().unwrap()).await)
    }

    async fn new(url: String, folder: TempDir) -> Self {
        let woken = Arc::new(Mutex::new(Vec::new()));
        let queues = open(&url, "one", woken.clone()).await;
        Self { url, queues, woken, _folder: folder }
    }

    /// Migrates, and starts to store pushes.
    pub(super) async fn ready(&self) -> JobQueue {
        self.queues.migrate().await.unwrap();
        self.pushing()
    }

    pub(super) fn pushing(&self) -> JobQueue {
        let (queue, receiver) = JobQueue::new();
        let queues = self.queues.clone();
        tokio::spawn(async move { queues.run_pushes(receiver, CancellationToken::new()).await });
        queue
    }

    /// The same queues as another process sees them.
    pub(super) async fn another(&self, instance: &str) -> Queues {
        open(&self.url, instance, Arc::default()).await
    }

    /// Runs SQL on the queue's tables, written `{jobs}` and `{workers}`.
    pub(super) async fn sql(&self, text: &str) {
        match &self.queues.database {
            Database::Sqlite(pool) => {
                let text = text.replace("{jobs}", "Jobs").replace("{workers}", "Workers");
                sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(pool).await.unwrap();
            }
            Database::Postgres(pool) => {
                let text = text.replace("{jobs}", "apalis.jobs").replace("{workers}", "apalis.workers");
                sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(pool).await.unwrap();
            }
        }
    }

    pub(super) async fn rows(&self) -> Vec<JobRow> {
        let rows: Vec<(String, String, i64)> = match &self.queues.database {
            Database::Sqlite(pool) => {
                sqlx::query_as("SELECT id, status, attempts FROM Jobs ORDER BY id").fetch_all(pool).await
            }
            Database::Postgres(pool) => {
                sqlx::query_as("SELECT id, status, attempts::bigint FROM apalis.jobs ORDER BY id")
                    .fetch_all(pool)
                    .await
            }
        }
        .unwrap();
        rows.into_iter().map(|(id, status, attempts)| JobRow { id, status, attempts }).collect()
    }

    pub(super) async fn row(&self, id: JobId) -> JobRow {
        let rows = self.rows().await;
        rows.into_iter().find(|row| row.id == id.to_string()).unwrap()
    }

    /// The number of rows in a table of the board.
    pub(super) async fn count(&self, table: &str) -> i64 {
        let count = format!("SELECT count(*) FROM {table}");
        on_either!(&self.queues.database, pool => {
            sqlx::query_scalar(sqlx::AssertSqlSafe(count)).fetch_one(pool).await
        })
        .unwrap()
    }

    /// Inserts a job that no program of ours would push.
    pub(super) async fn insert_raw(&self, id: &str, queue: &str, payload: &str) {
        self.sql(&format!(
            "INSERT INTO {{jobs}} (id, job_type, job, max_attempts) VALUES ('{id}', '{queue}', '{payload}', 8)"
        ))
        .await;
    }

    /// The dead jobs of every queue.
    pub(super) async fn dead(&self) -> Vec<JobInfo> {
        let mut dead = Vec::new();
        for queue in Queue::ALL {
            let wanted = JobFilter::of(queue, JobState::Dead);
            dead.extend(self.queues.jobs(wanted).await.unwrap().jobs);
        }
        dead
    }

    /// How many scans count as dead, and as cancelled.
    pub(super) async fn scans_ended(&self) -> (u64, u64) {
        let scans = self.queues.job_counts().await.unwrap()[&Queue::Scan];
        (scans.dead, scans.cancelled)
    }

    /// A job as it is stored.
    pub(super) async fn payload(&self, job: &JobEnvelope) -> String {
        let id = job.id.to_string();
        let payload: Vec<u8> = match &self.queues.database {
            Database::Sqlite(pool) => {
                sqlx::query_scalar("SELECT job FROM Jobs WHERE id = ?1").bind(id).fetch_one(pool).await
            }
            Database::Postgres(pool) => {
                sqlx::query_scalar("SELECT job FROM apalis.jobs WHERE id = $1").bind(id).fetch_one(pool).await
            }
        }
        .unwrap();
        String::from_utf8(payload).unwrap()
    }

    /// A job in full.
    pub(super) async fn detail(&self, job: &JobEnvelope) -> JobDetail {
        self.queues.job(job.job.queue(), job.id).await.unwrap().unwrap()
    }

    pub(super) async fn timeline(&self, job: &JobEnvelope) -> Vec<JobEventKind> {
        self.detail(job).await.timeline.into_iter().map(|event| event.what).collect()
    }

    pub(super) async fn retry(&self, queue: Queue, id: JobId) -> JobActionResult {
        self.queues.retry(queue, id, &ada()).await.unwrap()
    }

    pub(super) async fn cancel(&self, queue: Queue, id: JobId) -> JobActionResult {
        self.queues.cancel(queue, id, &ada()).await.unwrap()
    }

    pub(super) async fn discard(&self, queue: Queue, id: JobId) -> JobActionResult {
        self.queues.discard(queue, id, &ada()).await.unwrap()
    }

    pub(super) async fn worker_names(&self) -> Vec<String> {
        match &self.queues.database {
            Database::Sqlite(pool) => {
                sqlx::query_scalar("SELECT id FROM Workers ORDER BY id").fetch_all(pool).await
            }
            Database::Postgres(pool) => {
                sqlx::query_scalar("SELECT id FROM apalis.workers ORDER BY id").fetch_all(pool).await
            }
        }
        .unwrap()
    }

    /// Waits until the job's row has this status.
    pub(super) async fn status_becomes(&self, id: JobId, status: &str) {
        until(&format!("the job is {status}"), || async { self.row(id).await.status == status }).await;
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct JobRow {
    pub(super) id: String,
    pub(super) status: String,
    pub(super) attempts: i64,
}

async fn open(url: &str, instance: &str, woken: Arc<Mutex<Vec<Queue>>>) -> Queues {
    let on_pushed = Arc::new(move |queue| woken.lock().unwrap_or_else(PoisonError::into_inner).push(queue));
    let (clock, chance) = (Clock::system(), Chance::from_system());
    Queues::open(Opening { url, connections_max: 8, instance, clock, chance, on_pushed }).await.unwrap()
}

pub(super) fn new_id() -> JobId {
    JobId::new(Clock::system().now(), &Chance::from_system())
}

pub(super) fn scan() -> JobEnvelope {
    let id = new_id();
    let (account, version) = (AccountId::from_ulid(id.ulid()), VersionId::from_ulid(id.ulid()));
    JobEnvelope { id, reply_to: None, trace: None, job: Job::Scan(ScanJob { account, version }) }
}

pub(super) fn publish(content: Content) -> JobEnvelope {
    let id = new_id();
    let job = PublishJob {
        order: PublishOrder {
            account: AccountId::from_ulid(id.ulid()),
            version: VersionId::from_ulid(id.ulid()),
            slug: "my-page".parse().unwrap(),
            target: Target::NewOrExisting,
            activation: Activation::Live,
            pinned_to: None,
            payment: None,
            created_via: CreatedVia::Api,
            message: None,
            created_by: None,
            called_by: None,
            deadline: None,
            is_provisional: None,
        },
        files: vec![],
        content,
    };
    JobEnvelope { id, reply_to: None, trace: None, job: Job::Publish(Box::new(job)) }
}

pub(super) fn cleanup() -> JobEnvelope {
    JobEnvelope { id: new_id(), reply_to: None, trace: None, job: Job::Cleanup }
}

pub(super) fn ada() -> OperatorName {
    OperatorName::cleaned("ada").unwrap()
}

pub(super) async fn until<F: Future<Output = bool>>(what: &str, is_so: impl Fn() -> F) {
    let start = Instant::now();
    while !is_so().await {
        assert!(start.elapsed() < DEADLINE, "waited in vain until {what}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The started jobs, with attempt and time.
#[derive(Clone, Default)]
pub(super) struct Starts(Arc<Mutex<Vec<(JobId, Attempt, Instant)>>>);

impl Starts {
    pub(super) fn all(&self) -> Vec<(JobId, Attempt, Instant)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(super) fn of(&self, id: JobId) -> Vec<(Attempt, Instant)> {
        self.all().into_iter().filter(|start| start.0 == id).map(|(_, attempt, at)| (attempt, at)).collect()
    }

    pub(super) fn counts(&self) -> BTreeMap<JobId, usize> {
        let mut counts = BTreeMap::new();
        self.all().into_iter().for_each(|(id, ..)| *counts.entry(id).or_default() += 1);
        counts
    }

    pub(super) async fn reach(&self, count: usize) {
        until(&format!("{count} starts"), || async { self.all().len() >= count }).await;
    }

    /// A handler that records the start and then does `work`.
    pub(super) fn then<F>(&self, work: F) -> Handler
    where
        F: Fn(JobEnvelope, Attempt) -> BoxFuture<'static, anyhow::Result<()>> + Send + Sync + 'static,
    {
        let starts = self.0.clone();
        Arc::new(move |envelope, attempt| {
            let start = (envelope.id, attempt, Instant::now());
            starts.lock().unwrap_or_else(PoisonError::into_inner).push(start);
            work(envelope, attempt)
        })
    }

    pub(super) fn then_done(&self) -> Handler {
        self.then(|_, _| async { Ok(()) }.boxed())
    }

    pub(super) fn then_hang(&self) -> Handler {
        self.then(|_, _| std::future::pending().boxed())
    }
}

/// A running pool, until it is stopped or killed.
pub(super) struct Pool {
    shutdown: CancellationToken,
    running: JoinHandle<anyhow::Result<()>>,
}

impl Pool {
    pub(super) fn start(queues: &Queues, handler: Handler) -> Self {
        Self::with(queues, PoolSettings::new(Queue::ALL.map(|queue| (queue, 4))), handler)
    }

    pub(super) fn with(queues: &Queues, settings: PoolSettings, handler: Handler) -> Self {
        let shutdown = CancellationToken::new();
        let (queues, token) = (queues.clone(), shutdown.clone());
        let running = tokio::spawn(async move { queues.run_pool(settings, handler, token).await });
        Self { shutdown, running }
    }

    pub(super) fn request_stop(&self) {
        self.shutdown.cancel();
    }

    pub(super) async fn stop(self) {
        self.shutdown.cancel();
        self.running.await.unwrap().unwrap();
    }

    /// As by `kill -9`: nothing is acknowledged or given back, and heartbeats stop.
    pub(super) async fn die(self) {
        self.running.abort();
        assert!(self.running.await.unwrap_err().is_cancelled());
    }
}

/// A handler that gives up every job.
pub(super) fn hopeless(starts: &Starts) -> Handler {
    starts.then(|_, _| async { Err(GiveUp(anyhow!("no")).into()) }.boxed())
}

pub(super) fn name_of(what: &JobEventKind) -> String {
    match what {
        JobEventKind::Pushed => "pushed".into(),
        JobEventKind::Began { attempt, .. } => format!("began {attempt}"),
        JobEventKind::Failed { attempt, error, .. } => format!("failed {attempt}: {error}"),
        JobEventKind::Died { attempt, error } => format!("died {attempt}: {error}"),
        JobEventKind::Done { attempt } => format!("done {attempt}"),
        JobEventKind::Retried { by } => format!("retried by {by}"),
        JobEventKind::Cancelled { by } => format!("cancelled by {by}"),
    }
}
