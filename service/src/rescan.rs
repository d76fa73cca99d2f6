//! Scans that do not follow from a publish: those that were lost or failed, and those of versions that older rules
//! have judged. Each call queues a page and notes it on the versions, so whoever goes on later goes on from there, and
//! two at once queue nothing twice.

use std::time::Duration;

use domain::{Host, Job, JobEnvelope, JobId, ScanJob};
use futures::{StreamExt, TryStreamExt};
use store::{AskedFor, DueScan, ScanCounts, StuckScan};

use crate::Service;
use crate::scan::rules;

/// A version without a verdict for this long is scanned again.
const SCAN_LATE_AFTER: Duration = Duration::from_secs(60);
const SCANS_AT_ONCE: u64 = 1_000;
/// Pushes on their way at a time: those that wait are written by one statement.
const PUSHES_AT_ONCE: usize = 128;
/// A version that was queued again so often fails for a reason of its own.
const STUCK_TRIES_MIN: u32 = 3;
const STUCK_SHOWN_MAX: u64 = 20;

/// What an operator wants judged again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RescanWish {
    /// What was judged by older rules than this program's.
    Older,
    Everything,
    /// Every version of the artifact at this host.
    Host(Host),
}

/// How far the scans are.
#[derive(Clone, Debug)]
pub struct ScanState {
    /// The rules of this program.
    pub rules: u32,
    pub counts: ScanCounts,
    /// Versions whose scan fails again and again.
    pub stuck: Vec<StuckScan>,
}

impl Service {
    /// Queues again what has been without a verdict for a minute, and how many versions that were.
    pub async fn sweep_scans(&self) -> anyhow::Result<u64> {
        let now = self.0.clock.now();
        let late = self.0.store.late_scans(now.minus(SCAN_LATE_AFTER), now, SCANS_AT_ONCE).await?;
        self.queue_again(&late, |scan| envelope(JobId::of_scan(scan.version), Job::Scan(scan))).await?;
        for due in late.iter().filter(|due| due.tries >= STUCK_TRIES_MIN) {
            tracing::error!(
                version.id = %due.job.version,
                scan.tries = due.tries,
                "a version has no verdict though its scan was queued again and again; see `handbill admin scans`"
            );
        }
        Ok(late.len() as u64)
    }

    /// Whether older rules than this program's have judged anything that is due.
    pub async fn has_rescans(&self) -> anyhow::Result<bool> {
        self.0.store.has_due_rescans(rules(), self.0.clock.now()).await
    }

    /// Queues a page of what older rules have judged, and how many versions that were.
    pub async fn queue_rescans(&self, at_most: u64) -> anyhow::Result<u64> {
        let due = self.0.store.due_rescans(rules(), self.0.clock.now(), at_most).await?;
        self.queue_again(&due, |scan| envelope(JobId::of_rescan(scan.version), Job::Rescan(scan))).await?;
        let left = self.0.store.rescans_left(rules()).await?;
        tracing::info!(
            rescans.queued = due.len(),
            rescans.left = left,
            scan.rules = rules(),
            "rescans queued"
        );
        Ok(due.len() as u64)
    }

    /// Marks what an operator wants judged again, and has the sweep queue it at once. How many versions; none: there is
    /// no such host.
    pub async fn ask_for_rescans(&self, wish: RescanWish) -> anyhow::Result<Option<u64>> {
        let asked = match wish {
            RescanWish::Older => AskedFor::Older { rules: rules() },
            RescanWish::Everything => AskedFor::Everything,
            RescanWish::Host(host) => AskedFor::Host(host),
        };
        let marked = self.0.store.ask_for_rescans(&asked).await?;
        if marked.is_some_and(|marked| marked > 0) {
            let id = JobId::new(self.0.clock.now(), &self.0.chance);
            self.0.queue.push(envelope(id, Job::SweepScans)).await?;
        }
        Ok(marked)
    }

    pub async fn scan_state(&self) -> anyhow::Result<ScanState> {
        Ok(ScanState {
            rules: rules(),
            counts: self.0.store.scan_counts().await?,
            stuck: self.0.store.stuck_scans(STUCK_TRIES_MIN, STUCK_SHOWN_MAX).await?,
        })
    }

    /// Queued first and noted afterwards: what falls in between is queued once more, which changes nothing.
    async fn queue_again(&self, due: &[DueScan], job_of: fn(ScanJob) -> JobEnvelope) -> anyhow::Result<()> {
        let jobs: Vec<JobEnvelope> = due.iter().map(|due| job_of(due.job)).collect();
        let pushes = jobs.into_iter().map(|job| self.0.queue.push_anew(job));
        futures::stream::iter(pushes).buffer_unordered(PUSHES_AT_ONCE).try_collect::<()>().await?;
        self.0.store.note_queued(due, self.0.clock.now()).await
    }
}

fn envelope(id: JobId, job: Job) -> JobEnvelope {
    JobEnvelope { id, reply_to: None, job }
}
