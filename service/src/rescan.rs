//! Scans that do not follow from a publish: lost or failed scans, and rescans of versions that were scanned
//! with older rules. Each call queues one page and records that on the versions. The next call continues from
//! there, and two concurrent calls queue nothing twice.

use std::time::Duration;

use domain::{Host, Job, JobEnvelope, JobId, RescanJob, ScanJob};
use futures::StreamExt;
use store::{DueScan, RescanTarget, ScanCounts, StuckScan};

use crate::scan::rules;
use crate::{PushResult, Service};

/// A version without a verdict for this long is scanned again.
const SCAN_LATE_AFTER: Duration = Duration::from_secs(60);
const SCANS_AT_ONCE: u64 = 1_000;
/// Concurrent pushes. Waiting pushes are written by one statement.
const PUSHES_AT_ONCE: usize = 128;
/// A scan that was restarted this often fails for a reason of its own.
const STUCK_TRIES_MIN: u32 = 3;
const STUCK_SHOWN_MAX: u64 = 20;

/// The versions that an operator wants scanned again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RescanScope {
    /// Versions that were scanned with older rules than this program's.
    Older,
    Everything,
    /// Every version of the artifact at this host.
    Host(Host),
}

/// The progress of scans.
#[derive(Clone, Debug)]
pub struct ScanState {
    /// The rules version of this program.
    pub rules: u32,
    pub counts: ScanCounts,
    /// Versions whose scan keeps failing.
    pub stuck: Vec<StuckScan>,
}

impl Service {
    /// Queues another scan for each version that has had no verdict for a minute and no longer waits for its
    /// scan. Returns how many.
    pub async fn sweep_scans(&self) -> anyhow::Result<u64> {
        let now = self.0.clock.now();
        let late = self.0.store.scans().list_late(now.minus(SCAN_LATE_AFTER), now, SCANS_AT_ONCE).await?;
        let begun =
            self.queue_again(&late, |scan| envelope(JobId::of_scan(scan.version), Job::Scan(scan))).await?;
        let stuck: Vec<_> = begun.iter().filter(|begun| begun.tries >= STUCK_TRIES_MIN).collect();
        // A scan that is queued for the second time has used up its attempts, or ended its worker each time.
        for given_up in begun.iter().filter(|begun| begun.tries > 0) {
            self.give_up_scan(given_up.job).await?;
        }
        if let Some(first) = stuck.first() {
            tracing::error!(
                version.id = %first.job.version,
                scans.stuck = stuck.len(),
                "versions have no verdict although their scans were restarted repeatedly; see `handbill admin scans`"
            );
        }
        Ok(begun.len() as u64)
    }

    /// Whether any rescan is due.
    pub async fn has_rescans(&self) -> anyhow::Result<bool> {
        self.0.store.scans().has_due_rescans(rules(), self.0.clock.now()).await
    }

    /// Queues a page of due rescans, and returns how many.
    pub async fn queue_rescans(&self, at_most: u64) -> anyhow::Result<u64> {
        let due = self.0.store.scans().list_due_rescans(rules(), self.0.clock.now(), at_most).await?;
        let begun = self.queue_again(&due, rescan).await?;
        tracing::info!(rescans.queued = begun.len(), scan.rules = rules(), "rescans queued");
        Ok(begun.len() as u64)
    }

    /// Marks versions for a rescan, and queues the sweep at once. Returns how many were marked, at most
    /// [`crate::COUNTED_MAX`] plus one, or `None` if there is no such host.
    pub async fn ask_for_rescans(&self, scope: RescanScope) -> anyhow::Result<Option<u64>> {
        let request = match &scope {
            RescanScope::Older => RescanTarget::Older { rules: rules() },
            RescanScope::Everything => RescanTarget::Everything,
            RescanScope::Host(host) => RescanTarget::Host(host.clone()),
        };
        let now = self.0.clock.now();
        let marked = self.0.store.scans().request_rescans(&request, now).await?;
        if let RescanScope::Host(host) = &scope
            && let Some(artifact) = self.0.store.artifacts().find_at(host).await?
        {
            // A single page does not wait for the sweep to reach it.
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

    /// Pushes first and records afterwards. If a crash in between queues a scan twice, no harm is done.
    /// Returns the scans that were started; the others wait in the queue already, or are retried from there.
    async fn queue_again(
        &self,
        due: &[DueScan],
        job_of: fn(ScanJob) -> JobEnvelope,
    ) -> anyhow::Result<Vec<DueScan>> {
        let queue = &self.0.queue;
        let pushes: Vec<_> = due.iter().map(|due| (*due, job_of(due.job))).collect();
        let pushes = pushes.into_iter().map(async |(due, job)| (due, queue.push_again(job).await));
        let pushed: Vec<_> = futures::stream::iter(pushes).buffered(PUSHES_AT_ONCE).collect().await;
        let pushed: Vec<(DueScan, PushResult)> = pushed.into_iter().filter_map(accepted).collect();
        let (begun, waiting): (Vec<_>, Vec<_>) =
            pushed.into_iter().partition(|(_, kept)| *kept == PushResult::Queued);
        let begun: Vec<DueScan> = begun.into_iter().map(|(due, _)| due).collect();
        let waiting: Vec<DueScan> = waiting.into_iter().map(|(due, _)| due).collect();
        let now = self.0.clock.now();
        self.0.store.scans().mark_started(&begun, now).await?;
        self.0.store.scans().mark_waiting(&waiting, now).await?;
        Ok(begun)
    }
}

/// A scan that the queue does not accept does not hold up the others. The next sweep requests it again.
fn accepted((due, kept): (DueScan, anyhow::Result<PushResult>)) -> Option<(DueScan, PushResult)> {
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
