//! Scans that do not follow from a publish: those that were lost or failed, and those of versions that older rules
//! have judged. Each call queues a page and notes it on the versions, so whoever goes on later goes on from there, and
//! two at once queue nothing twice.

use std::time::Duration;

use domain::{Host, Job, JobEnvelope, JobId, RescanJob, ScanJob};
use futures::StreamExt;
use store::{DueScan, RescanTarget, ScanCounts, StuckScan};

use crate::scan::rules;
use crate::{PushResult, Service};

/// A version without a verdict for this long is scanned again.
const SCAN_LATE_AFTER: Duration = Duration::from_secs(60);
const SCANS_AT_ONCE: u64 = 1_000;
/// Pushes on their way at a time: those that wait are written by one statement.
const PUSHES_AT_ONCE: usize = 128;
/// A version whose scan began anew so often fails for a reason of its own.
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
    /// Has scanned again what has been without a verdict for a minute and does not wait for its scan any more. How many
    /// versions that were.
    pub async fn sweep_scans(&self) -> anyhow::Result<u64> {
        let now = self.0.clock.now();
        let late = self.0.store.scans().list_late(now.minus(SCAN_LATE_AFTER), now, SCANS_AT_ONCE).await?;
        let begun =
            self.queue_again(&late, |scan| envelope(JobId::of_scan(scan.version), Job::Scan(scan))).await?;
        let stuck: Vec<_> = begun.iter().filter(|begun| begun.tries >= STUCK_TRIES_MIN).collect();
        // What is queued for the second time has failed until its attempts were used up, or ended its worker each time.
        for given_up in begun.iter().filter(|begun| begun.tries > 0) {
            self.give_up_scan(given_up.job).await?;
        }
        if let Some(first) = stuck.first() {
            tracing::error!(
                version.id = %first.job.version,
                scans.stuck = stuck.len(),
                "versions have no verdict though their scans began again and again; see `handbill admin scans`"
            );
        }
        Ok(begun.len() as u64)
    }

    /// Whether anything is due to be judged again.
    pub async fn has_rescans(&self) -> anyhow::Result<bool> {
        self.0.store.scans().has_due_rescans(rules(), self.0.clock.now()).await
    }

    /// Queues a page of what is to be judged again, and how many versions that were.
    pub async fn queue_rescans(&self, at_most: u64) -> anyhow::Result<u64> {
        let due = self.0.store.scans().list_due_rescans(rules(), self.0.clock.now(), at_most).await?;
        let begun = self.queue_again(&due, rescan).await?;
        tracing::info!(rescans.queued = begun.len(), scan.rules = rules(), "rescans queued");
        Ok(begun.len() as u64)
    }

    /// Marks what an operator wants judged again, and has it queued at once. How many versions, up to
    /// [`crate::COUNTED_MAX`] and one; none: there is no such host.
    pub async fn ask_for_rescans(&self, wish: RescanWish) -> anyhow::Result<Option<u64>> {
        let asked = match &wish {
            RescanWish::Older => RescanTarget::Older { rules: rules() },
            RescanWish::Everything => RescanTarget::Everything,
            RescanWish::Host(host) => RescanTarget::Host(host.clone()),
        };
        let now = self.0.clock.now();
        let marked = self.0.store.scans().request_rescans(&asked, now).await?;
        if let RescanWish::Host(host) = &wish
            && let Some(artifact) = self.0.store.artifacts().find_at(host).await?
        {
            // One page does not wait until the walk through all of them comes by.
            let due = self.0.store.scans().list_due_rescans_of(artifact.id, now, SCANS_AT_ONCE).await?;
            self.queue_again(&due, rescan).await?;
        }
        if marked.is_some_and(|marked| marked > 0) {
            let id = JobId::new(now, &self.0.chance);
            self.0.queue.push(envelope(id, Job::SweepScans)).await?;
        }
        Ok(marked)
    }

    pub async fn scan_state(&self) -> anyhow::Result<ScanState> {
        Ok(ScanState {
            rules: rules(),
            counts: self.0.store.scans().counts().await?,
            stuck: self.0.store.scans().list_stuck(STUCK_TRIES_MIN, STUCK_SHOWN_MAX).await?,
        })
    }

    /// Queued first and noted afterwards: what falls in between is queued once more, which changes nothing. Those that
    /// begin with it; the others wait in the queue already, or are tried again from there.
    async fn queue_again(
        &self,
        due: &[DueScan],
        job_of: fn(ScanJob) -> JobEnvelope,
    ) -> anyhow::Result<Vec<DueScan>> {
        let queue = &self.0.queue;
        let pushes: Vec<_> = due.iter().map(|due| (*due, job_of(due.job))).collect();
        let pushes = pushes.into_iter().map(async |(due, job)| (due, queue.push_anew(job).await));
        let pushed: Vec<_> = futures::stream::iter(pushes).buffered(PUSHES_AT_ONCE).collect().await;
        let pushed: Vec<(DueScan, PushResult)> = pushed.into_iter().filter_map(taken_on).collect();
        let (begun, waiting): (Vec<_>, Vec<_>) =
            pushed.into_iter().partition(|(_, kept)| *kept == PushResult::Begins);
        let begun: Vec<DueScan> = begun.into_iter().map(|(due, _)| due).collect();
        let waiting: Vec<DueScan> = waiting.into_iter().map(|(due, _)| due).collect();
        let now = self.0.clock.now();
        self.0.store.scans().mark_started(&begun, now).await?;
        self.0.store.scans().mark_waiting(&waiting, now).await?;
        Ok(begun)
    }
}

/// One that the queue does not take keeps back none of the others: it is asked for again with the next look.
fn taken_on((due, kept): (DueScan, anyhow::Result<PushResult>)) -> Option<(DueScan, PushResult)> {
    let kept = kept.inspect_err(|error| {
        tracing::error!(version.id = %due.job.version, error = format!("{error:#}"), "a scan could not be queued again");
    });
    kept.ok().map(|kept| (due, kept))
}

fn rescan(scan: ScanJob) -> JobEnvelope {
    envelope(JobId::of_rescan(scan.version), Job::Rescan(RescanJob { scan, rules: rules() }))
}

fn envelope(id: JobId, job: Job) -> JobEnvelope {
    JobEnvelope { id, reply_to: None, trace: None, job }
}
