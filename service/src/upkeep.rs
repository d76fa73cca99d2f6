//! Cleanup and bookkeeping jobs. Every operation here may run twice, or on two machines at once.

use std::time::Duration;

use domain::{Host, Job, JobEnvelope, JobId, Missing, Refusal, Time, UploadTicket, ViewCount, ViewsJob};
use store::SweptBlobs;

use crate::scan::rules;
use crate::{Service, ServiceResult};

/// Outcomes outlive every idempotency key (24 h) and every waiting job.
const OUTCOMES_KEPT: Duration = Duration::from_secs(72 * 3600);
/// The audit trail is kept for more than a year.
const AUDIT_KEPT: Duration = Duration::from_secs(400 * 24 * 3600);
/// Content that is published again later than this is scanned again.
const VERDICTS_KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Former versions are served to old tabs for a day.
const FORMER_VERSIONS_KEPT: Duration = Duration::from_secs(25 * 3600);
/// An older spooled upload belongs to a job that is gone.
const SPOOL_KEPT: Duration = Duration::from_secs(24 * 3600);
/// The reuse of a code or of a refresh token is detected for this long after a grant has ended.
const GRANTS_KEPT: Duration = Duration::from_secs(24 * 3600);
const PURGES_AT_ONCE: u64 = 1_000;
const BLOBS_AT_ONCE: u64 = 10_000;
const RECORDS_AT_ONCE: u64 = 5_000;
const UPLOADS_AT_ONCE: usize = 10_000;
const ORPHANS_AT_ONCE: usize = 10_000;

/// What an operator's cleanup removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanedUp {
    pub accounts: u64,
    pub blobs: SweptBlobs,
}

impl Service {
    /// The scheduled cleanup: purges accounts whose grace period is over, deletes versions that no rule
    /// keeps, and returns the number of accounts.
    pub async fn clean_up(&self) -> anyhow::Result<u64> {
        let accounts = self.purge_expired(self.0.clock.now().minus(self.0.rules.purge_grace)).await?;
        self.delete_outdated_versions().await?;
        Ok(accounts)
    }

    /// The operator's cleanup: also purges expired accounts within the grace period, and deletes the blobs
    /// that nothing refers to any more.
    pub async fn clean_up_at_once(&self) -> ServiceResult<CleanedUp> {
        let now = self.0.clock.now();
        let accounts = self.purge_expired(now).await?;
        self.delete_outdated_versions().await?;
        self.erase_purged().await?;
        let blobs = self.0.store.blob_index().sweep_at_once(&self.0.blobs, now).await?;
        tracing::info!(
            accounts.purged = accounts,
            blobs.deleted = blobs.blobs,
            blobs.bytes = blobs.bytes,
            "operator's cleanup done"
        );
        Ok(CleanedUp { accounts, blobs })
    }

    async fn purge_expired(&self, expired_before: Time) -> anyhow::Result<u64> {
        let mut purged_accounts = 0;
        loop {
            let accounts =
                self.0.store.upkeep().list_purgeable_accounts(expired_before, PURGES_AT_ONCE).await?;
            let mut hosts = Vec::new();
            for account in &accounts {
                let Some(purged) = self.0.store.upkeep().purge_account(*account, expired_before).await?
                else {
                    continue;
                };
                tracing::info!(account.handle = %purged.handle, "account purged");
                purged_accounts += 1;
                hosts.extend(purged.hosts);
            }
            if !hosts.is_empty() {
                self.0.bus.notify_edges(&hosts).await;
            }
            if (accounts.len() as u64) < PURGES_AT_ONCE {
                return Ok(purged_accounts);
            }
        }
    }

    /// Deletes blobs that nothing refers to, and abandoned uploads. Deletes and repacks bundles.
    pub async fn sweep_blobs(&self) -> anyhow::Result<u64> {
        let now = self.0.clock.now();
        let swept = self.0.store.blob_index().sweep(&self.0.blobs, now, BLOBS_AT_ONCE).await?;
        let bundles = self
            .0
            .store
            .blob_index()
            .sweep_bundles(&self.0.blobs, now, &self.0.chance, BLOBS_AT_ONCE)
            .await?;
        let orphans = self.sweep_orphan_bundles(now).await?;
        let spooled = self.0.blobs.sweep_spool(now.minus(SPOOL_KEPT), UPLOADS_AT_ONCE).await?;
        // An upload is newer than its ticket, so one of this age can no longer be published.
        let uploads = self.0.blobs.sweep_uploads(now.minus(UploadTicket::KEPT), UPLOADS_AT_ONCE).await?;
        Ok(swept.blobs + bundles + orphans + (spooled + uploads) as u64)
    }

    /// Deletes bundles that no settlement has recorded. The queue must know the job of the publish. Otherwise
    /// a database that does not belong to this blob store, or that was restored to an earlier state, would
    /// cost the pages that it does not know.
    async fn sweep_orphan_bundles(&self, now: Time) -> anyhow::Result<u64> {
        let index = self.0.store.blob_index();
        let mut orphans = index.list_orphan_bundles(&self.0.blobs, now, ORPHANS_AT_ONCE).await?;
        let jobs: Vec<JobId> = orphans.iter().map(|bundle| bundle.job()).collect();
        let known = self.0.board.find_known(&jobs).await?;
        orphans.retain(|bundle| known.contains(&bundle.job()));
        let deleted = index.delete_orphan_bundles(&self.0.blobs, &orphans, now).await?;
        if deleted > 0 {
            tracing::info!(bundles.deleted = deleted, "bundles that no publish has recorded were deleted");
        }
        Ok(deleted)
    }

    /// Deletes outcomes, keys, sessions, cached verdicts, logged route changes, former versions, ended grants
    /// and audit log entries past their retention.
    pub async fn sweep_records(&self) -> anyhow::Result<u64> {
        let now = self.0.clock.now();
        let verdicts_before = now.minus(VERDICTS_KEPT);
        let mut deleted = 0;
        loop {
            let swept = self
                .0
                .store
                .upkeep()
                .sweep_content_verdicts(rules(), verdicts_before, RECORDS_AT_ONCE)
                .await?;
            deleted += swept;
            if swept < RECORDS_AT_ONCE {
                break;
            }
        }
        while self.0.store.upkeep().sweep_audit(now.minus(AUDIT_KEPT), RECORDS_AT_ONCE).await?
            == RECORDS_AT_ONCE
        {}
        while self.0.store.upkeep().trim_route_log(RECORDS_AT_ONCE).await? >= RECORDS_AT_ONCE {}
        while self.0.store.upkeep().sweep_oauth(now.minus(GRANTS_KEPT), RECORDS_AT_ONCE).await?
            >= RECORDS_AT_ONCE
        {}
        let former_before = now.minus(FORMER_VERSIONS_KEPT);
        while self.0.store.upkeep().sweep_former_versions(former_before, RECORDS_AT_ONCE).await?
            >= RECORDS_AT_ONCE
        {}
        loop {
            let chunk =
                self.0.store.upkeep().sweep_records(now, now.minus(OUTCOMES_KEPT), RECORDS_AT_ONCE).await?;
            deleted += chunk;
            if chunk < RECORDS_AT_ONCE {
                return Ok(deleted);
            }
        }
    }

    /// Adds views to their accounts' month, once per job.
    pub async fn add_views(&self, job: JobId, counted: &ViewsJob) -> anyhow::Result<()> {
        self.0.store.views().add(job, counted).await
    }

    /// Counts one view of a host's page, and stores it before returning.
    pub async fn count_view(&self, host: &Host) -> ServiceResult<()> {
        let route = self.0.store.routes().find(host).await?.ok_or(Refusal::NotFound(Missing::Host))?;
        let now = self.0.clock.now();
        let view = ViewCount { account: route.account, host: route.host, count: 1 };
        let counted = ViewsJob { counted_at: now, views: vec![view] };
        Ok(self.0.store.views().add(JobId::new(now, &self.0.chance), &counted).await?)
    }

    /// Fires a schedule. The job's id is made of the schedule and the fire time, so however many processes
    /// fire it, the job runs once.
    pub async fn fire(&self, schedule: &str, fire_time: Time, job: Job) -> anyhow::Result<()> {
        let id = JobId::of_slot(schedule, fire_time);
        self.0.queue.push(JobEnvelope { id, reply_to: None, trace: None, job }).await?;
        self.0.store.schedules().record_fire_time(schedule, fire_time).await
    }

    /// The last fire time of a schedule, if it ever fired.
    pub async fn last_fire_time(&self, schedule: &str) -> anyhow::Result<Option<Time>> {
        self.0.store.schedules().last_fire_time(schedule).await
    }
}
