//! The queue board: waiting, running and dead jobs, the processes, the history of each job, and the
//! operations on them.
//!
//! Everything here stays fast with millions of finished jobs in the table: lists are bounded and use an
//! index, and counts leave out done jobs. Payloads are redacted, see [`payload`]; nothing else may leave this
//! module with a payload in it.

mod errors;
mod events;
mod history;
mod index;
mod job;
mod pauses;
mod payload;
mod processes;
mod schedules;
mod search;
mod steer;

use std::collections::HashSet;
use std::sync::atomic::Ordering;

use anyhow::Context;
use async_trait::async_trait;
use domain::{JobId, OperatorName, Queue, Time};
use service::{
    Board, BoardFigures, ErrorGroups, ErrorKey, JobActionResult, JobDetail, JobFilter, JobInfo, JobList,
    JobState, Planned, QueueFigures,
};

pub(crate) use events::FailedAttempt;
pub use processes::Presence;
use processes::{RecentProcesses, Running};

use crate::schedule::SCHEDULES;
use crate::{Queues, schedule};

#[async_trait]
impl Board for Queues {
    async fn figures(&self) -> anyhow::Result<BoardFigures> {
        let mut figures = self.figures_without_jobs().await?;
        let mut history = self.history(figures.at).await?;
        for queue in &mut figures.queues {
            let past = history.remove(&queue.queue).unwrap_or_default();
            (queue.done_last_minute, queue.failed_last_minute) = (past.done, past.failed);
            queue.minutes = past.minutes;
        }
        self.with_running(figures).await
    }

    async fn jobs(&self, wanted: JobFilter) -> anyhow::Result<JobList> {
        self.list(wanted).await
    }

    async fn job(&self, queue: Queue, id: JobId) -> anyhow::Result<Option<JobDetail>> {
        self.detail(queue, id).await
    }

    async fn find_job(&self, id: JobId) -> anyhow::Result<Option<Queue>> {
        let queues = self.queues_of(&[&id.to_string()]).await?;
        Ok(queues.into_values().next().and_then(|queue| Queue::parse(&queue)))
    }

    async fn search(&self, terms: &[Vec<String>]) -> anyhow::Result<Vec<JobInfo>> {
        self.newest_with(terms).await
    }

    async fn errors(&self, queue: Queue, state: JobState) -> anyhow::Result<ErrorGroups> {
        self.error_groups(queue, state).await
    }

    async fn requeue_dead_with(
        &self,
        queue: Queue,
        error: ErrorKey,
        by: &OperatorName,
    ) -> anyhow::Result<u64> {
        self.retry_dead_jobs_with(queue, error, by).await
    }

    async fn has_begun(&self, id: JobId) -> anyhow::Result<bool> {
        self.is_begun(id).await
    }

    async fn find_known(&self, ids: &[JobId]) -> anyhow::Result<HashSet<JobId>> {
        let ids: Vec<String> = ids.iter().map(JobId::to_string).collect();
        let queues = self.queues_of(&ids.iter().map(String::as_str).collect::<Vec<_>>()).await?;
        queues.keys().map(|id| id.parse().context("a job's id in the queue")).collect()
    }

    fn is_format_shared(&self) -> bool {
        self.is_format_shared.load(Ordering::Relaxed)
    }

    async fn retry(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<JobActionResult> {
        self.retry_job(queue, id, by).await
    }

    async fn cancel(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<JobActionResult> {
        self.cancel_job(queue, id, by).await
    }

    async fn discard(&self, queue: Queue, id: JobId, by: &OperatorName) -> anyhow::Result<JobActionResult> {
        self.discard_job(queue, id, by).await
    }

    async fn requeue_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64> {
        self.retry_dead_jobs(queue, by).await
    }

    async fn discard_dead(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<u64> {
        self.discard_dead_jobs(queue, by).await
    }

    async fn pause(&self, queue: Queue, by: &OperatorName) -> anyhow::Result<()> {
        self.note_pause(queue, by).await
    }

    async fn resume(&self, queue: Queue) -> anyhow::Result<bool> {
        self.end_pause(queue).await
    }

    async fn is_paused(&self, queue: Queue) -> bool {
        self.is_paused_lately(queue).await
    }

    fn schedules(&self, now: Time) -> anyhow::Result<Vec<Planned>> {
        SCHEDULES.iter().map(|planned| schedule::planned(planned, now)).collect()
    }
}

impl Queues {
    /// The board without the running jobs, the rates and the last hour, for processes that may not read them,
    /// such as an edge.
    pub async fn figures_without_jobs(&self) -> anyhow::Result<BoardFigures> {
        let at = self.clock.now();
        let (mut counts, mut paused) = (self.job_counts().await?, self.paused().await?);
        let RecentProcesses { processes, not_listed } = self.processes(at).await?;
        let lost_earlier = self.lost_earlier().await?;
        let queues = Queue::ALL.map(|queue| QueueFigures {
            queue,
            jobs: counts.remove(&queue).unwrap_or_default(),
            done_last_minute: 0,
            failed_last_minute: 0,
            minutes: Vec::new(),
            paused: paused.remove(&queue),
        });
        Ok(BoardFigures {
            at,
            queues: queues.to_vec(),
            processes,
            lost_earlier,
            processes_not_listed: not_listed,
            running_not_listed: 0,
        })
    }

    /// Adds the jobs that the processes run now.
    async fn with_running(&self, mut figures: BoardFigures) -> anyhow::Result<BoardFigures> {
        let Running { jobs, is_cut } = self.running().await?;
        if is_cut {
            let running: u64 = figures.queues.iter().map(|queue| queue.jobs.running).sum();
            figures.running_not_listed = running.saturating_sub(jobs.len() as u64);
        }
        for (instance, job) in jobs {
            if let Some(process) = figures.processes.iter_mut().find(|process| process.instance == instance) {
                process.running.push(job);
            }
        }
        Ok(figures)
    }
}
