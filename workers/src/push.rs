//! Stores pushed jobs. One statement writes all waiting pushes, so a busy service needs few commits.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::Duration;

use anyhow::{Context, anyhow};
use domain::Queue;
use service::{IfKnown, Push, PushResult};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::Queues;
use crate::sql::{PushedJob, on_either};

/// Pushes written by one statement.
const BATCH_MAX: usize = 256;
/// The size of the jobs that one statement writes, except if a single job is larger. Small jobs are confirmed
/// before the large ones behind them are written, and the copies of a statement take little memory.
const BATCH_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long pushes wait for others if no request waits for the outcome of their jobs, such as scans. The
/// caller of the push waits as long. A batch of them costs one write, one wake-up and one fetch.
const LINGER: Duration = Duration::from_millis(5);
/// A slower batch gets an error. It may be stored nevertheless, and pushing again is safe.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);

type WaitingPush = oneshot::Sender<anyhow::Result<PushResult>>;

/// A push as a row. Every step that can fail without the database is done.
struct Row {
    id: String,
    queue: Queue,
    payload: Vec<u8>,
    /// A process waits for its outcome.
    is_awaited: bool,
    if_known: IfKnown,
}

impl Row {
    fn of(push: &Push) -> anyhow::Result<Self> {
        Ok(Self {
            id: push.envelope.id.to_string(),
            queue: push.envelope.job.queue(),
            payload: serde_json::to_vec(&push.envelope).context("encoding a job")?,
            is_awaited: push.envelope.reply_to.is_some(),
            if_known: push.if_known,
        })
    }

    fn pushed(&self) -> PushedJob<'_> {
        PushedJob { id: &self.id, queue: self.queue, payload: &self.payload }
    }
}

impl Queues {
    /// Stores pushes until `cancel`, then accepts no new ones, stores those that wait, and returns.
    pub async fn run_pushes(&self, mut receiver: mpsc::Receiver<Push>, cancel: CancellationToken) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled(), if !receiver.is_closed() => receiver.close(),
                taken = receiver.recv_many(&mut batch, BATCH_MAX) => match taken {
                    0 => return,
                    _ => {
                        linger(&mut receiver, &mut batch).await;
                        self.keep(&mut batch).await;
                    }
                },
            }
        }
    }

    async fn keep(&self, batch: &mut Vec<Push>) {
        let mut rows = Vec::with_capacity(batch.len());
        let mut waiting = Vec::with_capacity(batch.len());
        for push in batch.drain(..) {
            match Row::of(&push) {
                Ok(row) => {
                    rows.push(row);
                    waiting.push(push.kept);
                }
                Err(error) => reply(push.kept, Err(error)),
            }
        }
        while !rows.is_empty() {
            let fitting = fitting(&rows);
            let (later_rows, later_waiting) = (rows.split_off(fitting), waiting.split_off(fitting));
            match self.write(&rows).await {
                Err(WriteFault::Refused(_)) if rows.len() > 1 => self.keep_singly(rows, waiting).await,
                // Each further statement would wait as long.
                outcome @ Err(WriteFault::Unreachable(_)) => {
                    waiting.extend(later_waiting);
                    return self.settle(&rows, waiting, outcome).await;
                }
                outcome => self.settle(&rows, waiting, outcome).await,
            }
            (rows, waiting) = (later_rows, later_waiting);
        }
    }

    /// The database rejected one of them, so each is written by itself and the others succeed.
    async fn keep_singly(&self, rows: Vec<Row>, waiting: Vec<WaitingPush>) {
        for (row, kept) in rows.into_iter().zip(waiting) {
            let row = [row];
            let outcome = self.write(&row).await;
            self.settle(&row, vec![kept], outcome).await;
        }
    }

    async fn settle(
        &self,
        rows: &[Row],
        waiting: Vec<WaitingPush>,
        outcome: Result<HashSet<String>, WriteFault>,
    ) {
        let outcome = match outcome {
            Ok(new) => {
                let known = if new.len() < rows.len() {
                    self.resolve_known(rows, new).await
                } else {
                    Ok(Known { begun: new, queues: HashMap::new() })
                };
                self.wake(rows);
                known
            }
            Err(WriteFault::Refused(error) | WriteFault::Unreachable(error)) => Err(error),
        };
        match outcome {
            Ok(known) => {
                for (row, kept) in rows.iter().zip(waiting) {
                    reply(kept, known.result_of(row));
                }
            }
            Err(error) => {
                let text = format!("{error:#}");
                waiting.into_iter().for_each(|kept| reply(kept, Err(anyhow!("keeping a job: {text}"))));
            }
        }
    }

    fn wake(&self, rows: &[Row]) {
        let queues: BTreeSet<Queue> = rows.iter().map(|row| row.queue).collect();
        queues.into_iter().for_each(|queue| self.wakes.wake(queue));
    }

    async fn write(&self, rows: &[Row]) -> Result<HashSet<String>, WriteFault> {
        if rows.is_empty() {
            return Ok(HashSet::new());
        }
        let jobs: Vec<_> = rows.iter().map(Row::pushed).collect();
        let write = async { on_either!(&self.database, sql, pool => sql::insert_pushed(pool, &jobs).await) };
        match timeout(WRITE_TIMEOUT, write).await {
            Ok(Ok(new)) => Ok(new.into_iter().collect()),
            Ok(Err(error @ sqlx::Error::Database(_))) => Err(WriteFault::Refused(error.into())),
            Ok(Err(error)) => Err(WriteFault::Unreachable(error.into())),
            Err(_) => Err(WriteFault::Unreachable(anyhow!("the queue's database did not respond in time"))),
        }
    }

    async fn resolve_known(&self, rows: &[Row], new: HashSet<String>) -> anyhow::Result<Known> {
        let awaited = ids(rows, |row| row.is_awaited);
        if !awaited.is_empty() {
            self.expedite(&awaited).await?;
        }
        let is_repeated = |row: &&Row| row.if_known == IfKnown::Restart && !new.contains(&row.id);
        let repeated: Vec<_> = rows.iter().filter(is_repeated).map(Row::pushed).collect();
        let mut begun = new.clone();
        if !repeated.is_empty() {
            begun.extend(self.restart(&repeated).await?);
        }
        Ok(Known { begun, queues: self.queues_of(&ids(rows, |_| true)).await? })
    }

    /// Those of the ids that the table has, with their queue. An id is unique in the whole table, so a job
    /// that another queue has must not count as stored.
    pub(crate) async fn queues_of(&self, ids: &[&str]) -> anyhow::Result<HashMap<String, String>> {
        let known: Vec<(String, String)> = on_either!(&self.database, sql, pool => {
            sqlx::query_as(sql::KNOWN).bind(sql::names(ids)).fetch_all(pool).await?
        });
        Ok(known.into_iter().collect())
    }
}

/// How many of the first rows one statement writes.
fn fitting(rows: &[Row]) -> usize {
    let sizes = rows.iter().scan(0, |sum, row| {
        *sum += row.payload.len();
        Some(*sum)
    });
    sizes.take_while(|size| *size <= BATCH_BYTES_MAX).count().max(1)
}

/// Takes further pushes, until a process waits for one of them or the time is over.
async fn linger(receiver: &mut mpsc::Receiver<Push>, batch: &mut Vec<Push>) {
    let end = Instant::now() + LINGER;
    while batch.len() < BATCH_MAX && batch.iter().all(|push| push.envelope.reply_to.is_none()) {
        let room = BATCH_MAX - batch.len();
        match timeout_at(end, receiver.recv_many(batch, room)).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => return,
        }
    }
}

enum WriteFault {
    /// The database rejected the rows.
    Refused(anyhow::Error),
    /// The result is unknown. The rows may be stored.
    Unreachable(anyhow::Error),
}

fn ids(rows: &[Row], which: impl Fn(&Row) -> bool) -> Vec<&str> {
    rows.iter().filter(|row| which(row)).map(|row| row.id.as_str()).collect()
}

/// The state of a batch's jobs once it is stored.
struct Known {
    /// New and restarted jobs.
    begun: HashSet<String>,
    /// The queues of the jobs that are in the table.
    queues: HashMap<String, String>,
}

impl Known {
    fn result_of(&self, row: &Row) -> anyhow::Result<PushResult> {
        match self.queues.get(&row.id) {
            Some(queue) if queue != row.queue.name() => {
                let (id, own) = (&row.id, row.queue.name());
                Err(anyhow!("job {id} of queue {own} has the id of a job of queue {queue}"))
            }
            _ if self.begun.contains(&row.id) => Ok(PushResult::Queued),
            _ => Ok(PushResult::AlreadyQueued),
        }
    }
}

fn reply(kept: WaitingPush, outcome: anyhow::Result<PushResult>) {
    // The caller may have stopped waiting. The job is stored all the same.
    let _ = kept.send(outcome);
}
