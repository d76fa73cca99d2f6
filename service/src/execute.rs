//! Execution of a publish by a worker: store the files, settle the operation, notify the edges, reply.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use anyhow::bail;
use bytes::Bytes;
use domain::{
    Activation, Content, Job, JobEnvelope, JobId, LedgerOperation, ModerationStatus, Outcome, PageTitle,
    PublishJob, PublishOperation, Refusal, ScanJob, SitePath,
};
use futures::FutureExt;
use futures::future::OptionFuture;
use store::{ChangeError, Refused};
use tokio::sync::oneshot;
use tokio::time::timeout;
use tracing::Instrument;

use crate::compute::compute;
use crate::storing::{Attempt, StoredFiles};
use crate::{Service, content};

/// How long a publish whose files are stored waits for its scan. Most small sites take a few milliseconds.
const EARLY_SCAN_WAIT_MAX: Duration = Duration::from_millis(100);

/// A publish that a worker took from the queue.
#[derive(Debug)]
pub struct PublishTask<'a> {
    pub job: &'a PublishJob,
    pub reply_to: Option<&'a str>,
    /// An earlier attempt may have done some or all of the work.
    pub is_redelivery: bool,
    /// Whether this process takes scans at the moment.
    pub takes_scans: bool,
}

/// The end of a publish.
struct Settled {
    outcome: Outcome,
    /// The verdict that was stored with the version.
    verdict: Option<ModerationStatus>,
}

impl Service {
    /// Executes a queued publish. Idempotent by version id: the work of an earlier attempt is kept, and the
    /// rest is done.
    pub async fn execute_publish(&self, task: &PublishTask<'_>) -> anyhow::Result<()> {
        let Settled { outcome, verdict } = self.settle_publish(task).await?;
        let order = &task.job.order;
        faults::pass("publish.after_commit")?;
        if let Outcome::Published(published) = &outcome {
            if order.activation == Activation::Live {
                self.0.bus.notify_edges(std::slice::from_ref(&published.host)).await;
            }
            tracing::info!(
                artifact.host = %published.host,
                version.seq = published.seq,
                version.id = %published.version,
                "version published"
            );
        }
        faults::pass("publish.after_notice")?;
        if let Some(instance) = task.reply_to {
            self.0.bus.reply(instance, order.job(), &outcome).await;
        }
        faults::pass("publish.after_reply")?;
        // After the commit nothing may fail the job. A scan that is not queued here is queued by the sweep.
        if let Some(status) = verdict {
            telemetry::verdict(status);
            let status = status.as_str();
            tracing::info!(version.id = %order.version, moderation.status = status, "version scanned");
        } else if matches!(outcome, Outcome::Published(_))
            && let Err(error) =
                self.enqueue_scan(ScanJob { account: order.account, version: order.version }).await
        {
            tracing::warn!(error = format!("{error:#}"), version.id = %order.version, "a scan could not be queued and waits for the sweep");
        }
        faults::pass("publish.after_scan_push")?;
        if matches!(task.job.content, Content::Spooled)
            && let Err(error) = self.0.blobs.delete_spooled(order.version).await
        {
            tracing::warn!(error = format!("{error:#}"), version.id = %order.version, "a spooled upload could not be deleted and waits for the sweep");
        }
        Ok(())
    }

    async fn enqueue_scan(&self, scan: ScanJob) -> anyhow::Result<()> {
        let id = JobId::of_scan(scan.version);
        self.0.queue.push(JobEnvelope { id, reply_to: None, trace: None, job: Job::Scan(scan) }).await
    }

    /// The outcome of an earlier attempt if it is final, or the refusal if the deadline has passed by now.
    /// The process's clock only shows whether a query is worthwhile; the database's clock decides, here or
    /// when the operation is settled. A redelivered publish that was refused is settled again: only the
    /// settlement records the contents that the earlier attempt stored, and without a record nothing would
    /// ever delete them.
    async fn earlier_outcome(&self, task: &PublishTask<'_>) -> anyhow::Result<ControlFlow<Outcome, Attempt>> {
        let (job, id) = (task.job, task.job.order.job());
        let seems_late = job.order.deadline.is_some_and(|deadline| self.0.clock.now() >= deadline);
        if !task.is_redelivery && !seems_late {
            return Ok(ControlFlow::Continue(Attempt::First));
        }
        let is_redelivery = task.is_redelivery || self.0.board.has_begun(id).await?;
        let outcome = self.0.store.outcomes().find(id).await?;
        if is_redelivery {
            return Ok(match outcome {
                None => ControlFlow::Continue(Attempt::Again),
                Some(Outcome::Refused(_)) => ControlFlow::Continue(Attempt::AfterRefusal),
                Some(outcome) => ControlFlow::Break(outcome),
            });
        }
        if let Some(outcome) = outcome {
            return Ok(ControlFlow::Break(outcome));
        }
        match job.order.deadline {
            Some(deadline) if self.0.store.now().await? >= deadline => {
                self.refuse(job, Refusal::past_deadline()).await.map(ControlFlow::Break)
            }
            _ => Ok(ControlFlow::Continue(Attempt::First)),
        }
    }

    /// The outcome of the operation, from an earlier attempt if there is one.
    async fn settle_publish(&self, task: &PublishTask<'_>) -> anyhow::Result<Settled> {
        let job = task.job;
        let total_bytes = job.files.iter().map(|file| file.size_bytes).sum();
        let _content_permit = self.0.publish_bounds.content_permit(&job.content, total_bytes).await?;
        // After the wait, so that a publish whose deadline passed meanwhile does no work.
        let attempt = match self.earlier_outcome(task).await? {
            ControlFlow::Break(outcome) => return Ok(outcome.into()),
            ControlFlow::Continue(attempt) => attempt,
        };
        let content = match content::inline(job)? {
            Some(content) => content,
            None => match self.0.blobs.spooled(job.order.version).await? {
                Some(content) => content,
                // An upload is deleted only after the operation is settled.
                None => match self.0.store.outcomes().find(job.order.job()).await? {
                    Some(outcome) => return Ok(outcome.into()),
                    None => bail!("the upload of a publish is gone and it was never settled"),
                },
            },
        };
        faults::pass("publish.before_blob_put")?;
        let storing = telemetry::spans::store_blobs(job.order.version, job.files.len());
        let files = content::split(&job.files, content)?;
        let title = title_of(total_bytes, files.clone()).await?;
        let storing = self.store_files(job.order.version, files.clone(), attempt).instrument(storing);
        // Only once: a scan that kills its process must not fail the publish as well.
        let is_scanned = task.takes_scans && attempt == Attempt::First;
        let scan = |stored| {
            let scanning = is_scanned.then(|| self.scan_early(&job.order, &files, stored));
            OptionFuture::from(scanning).map(Option::flatten)
        };
        let (stored, verdict) = with_scan(storing, scan).await;
        let StoredFiles { manifest, bundle, blobs_as_of } = match stored {
            Ok(stored) => stored,
            Err(ChangeError::Refused(refusal)) => return Ok(self.refuse(job, refusal).await?.into()),
            Err(ChangeError::Failed(error)) => return Err(error),
        };
        faults::pass("publish.after_blob_put")?;
        let operation = PublishOperation {
            order: job.order.clone(),
            manifest,
            title,
            bundle,
            blobs_as_of,
            verdict: verdict.clone(),
        };
        let outcome = self.0.ledgers.settle(LedgerOperation::Publish(Box::new(operation))).await?;
        let Outcome::Published(published) = &outcome else { return Ok(outcome.into()) };
        telemetry::published_bytes(total_bytes);
        let verdict = verdict.filter(|_| published.has_verdict).map(|verdict| verdict.status);
        Ok(Settled { verdict, outcome })
    }

    /// Stored like any outcome, because the caller may have to query it. No other attempt is made.
    async fn refuse(&self, job: &PublishJob, refusal: Refusal) -> anyhow::Result<Outcome> {
        let now = self.0.clock.now();
        let refused = Refused { account: job.order.account, kind: "publish", refusal, now };
        self.0.store.outcomes().record_refusal(job.order.job(), refused).await
    }
}

/// Waits for the files to be stored, and a little longer for the verdict on them. A scan that takes longer is
/// stopped. The scan gets a receiver that resolves when storing has ended.
async fn with_scan<S, E, V, F>(
    storing: impl Future<Output = Result<S, E>>,
    scan: impl FnOnce(oneshot::Receiver<()>) -> F,
) -> (Result<S, E>, Option<V>)
where
    F: Future<Output = Option<V>>,
{
    let (end_of_storing, stored) = oneshot::channel();
    let scanning = scan(stored);
    tokio::pin!(storing, scanning);
    tokio::select! {
        verdict = &mut scanning => (storing.await, verdict),
        stored = &mut storing => {
            let _ = end_of_storing.send(());
            let is_useful = stored.is_ok();
            let wait = if is_useful { EARLY_SCAN_WAIT_MAX } else { Duration::ZERO };
            (stored, timeout(wait, scanning).await.ok().flatten())
        }
    }
}

impl From<Outcome> for Settled {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, verdict: None }
    }
}

/// The title of the site's front page. A bug in this must not fail a publish.
async fn title_of(total_bytes: u64, files: Vec<(SitePath, Bytes)>) -> anyhow::Result<Option<PageTitle>> {
    let read = move || {
        let files = files.iter().map(|(path, bytes)| (path, &**bytes));
        catch_unwind(AssertUnwindSafe(|| sitecheck::title(files))).unwrap_or_else(|_| {
            tracing::error!("reading the title of a site panicked; its version has none");
            None
        })
    };
    compute(total_bytes, read).await
}

#[cfg(test)]
mod tests {
    use tokio::time::{Instant, sleep};

    use super::*;

    const STORED_AFTER: Duration = Duration::from_secs(1);
    const SOON: Duration = Duration::from_millis(99);
    const MILLISECOND: Duration = Duration::from_millis(1);

    /// The verdict of a scan of this duration, and the time until it is known.
    async fn verdict_after(scan: Duration, stored: Result<(), ()>) -> (Option<()>, Duration) {
        let begun = Instant::now();
        let storing = sleep(STORED_AFTER).map(|()| stored);
        let (given, verdict) = with_scan(storing, |_| sleep(scan).map(Some)).await;
        assert_eq!(given, stored);
        (verdict, begun.elapsed())
    }

    #[tokio::test(start_paused = true)]
    async fn a_scan_may_take_a_little_longer_than_the_files() {
        assert_eq!(verdict_after(MILLISECOND, Ok(())).await, (Some(()), STORED_AFTER));
        let late = STORED_AFTER + SOON;
        assert_eq!(verdict_after(late, Ok(())).await, (Some(()), late));
    }

    #[tokio::test(start_paused = true)]
    async fn a_longer_scan_is_stopped() {
        let limit = STORED_AFTER + EARLY_SCAN_WAIT_MAX;
        assert_eq!(verdict_after(limit + MILLISECOND, Ok(())).await, (None, limit));
    }

    #[tokio::test(start_paused = true)]
    async fn a_scan_learns_that_the_files_are_stored() {
        let begun = Instant::now();
        let storing = sleep(STORED_AFTER).map(Ok::<(), ()>);
        let scan = |stored: oneshot::Receiver<()>| stored.then(|_| sleep(MILLISECOND)).map(|()| None::<()>);
        assert_eq!(with_scan(storing, scan).await, (Ok(()), None));
        assert_eq!(begun.elapsed(), STORED_AFTER + MILLISECOND);
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_waits_for_the_scan_of_files_that_were_not_stored() {
        assert_eq!(verdict_after(STORED_AFTER + SOON, Err(())).await, (None, STORED_AFTER));
    }
}
