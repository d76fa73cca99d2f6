//! The list of blocked contents, which no new version may contain, for operators.

use domain::{BlobHash, Job, JobEnvelope, JobId, Missing, OperatorName, Refusal, Time};
use store::{BlockedContent, BlockedContentCursor, RescanTarget};

use crate::{Service, ServiceResult};

/// Contents on one page of the list.
const LIST_MAX: usize = 50;

/// One page of the list, newest first.
#[derive(Clone, Debug)]
pub struct BlockedContentList {
    pub contents: Vec<BlockedContent>,
    /// Where the next page begins, if there is one.
    pub next: Option<BlockedContentCursor>,
}

impl Service {
    pub async fn blocked_contents(
        &self,
        after: Option<&BlockedContentCursor>,
        rows_max: Option<u32>,
    ) -> ServiceResult<BlockedContentList> {
        let rows_max = rows_max.map_or(LIST_MAX, |rows| rows as usize);
        let mut contents = self.0.store.blocked_contents().list(after, rows_max as u64 + 1).await?;
        let has_more = contents.len() > rows_max;
        contents.truncate(rows_max);
        let next = contents.last().filter(|_| has_more).map(BlockedContentCursor::of);
        Ok(BlockedContentList { contents, next })
    }

    /// Removes a content from the list. Pages that were blocked only because of it are served again after a
    /// scan.
    pub async fn unblock_content(&self, who: &OperatorName, hash: BlobHash) -> ServiceResult<()> {
        let now = self.0.clock.now();
        if !self.0.store.blocked_contents().unblock(hash, who, now, &self.0.chance).await? {
            return Err(Refusal::NotFound(Missing::BlockedContent).into());
        }
        tracing::info!(content.hash = %hash, operator.name = %who, "content unblocked");
        self.notify_holders(&[hash]).await;
        self.sweep_scans_soon().await;
        Ok(())
    }

    /// What a block that was made at this time needs besides the notice for its own page.
    pub(crate) async fn follow_block(&self, blocked_at: Time) {
        match self.0.store.blocked_contents().listed_at(blocked_at).await {
            Ok(contents) => self.notify_holders(&contents).await,
            Err(error) => not_notified(&error),
        }
        self.rescan_since(blocked_at).await;
    }

    /// Notifies the edges of all pages with a version that has one of these contents, because the version's own
    /// address opens or closes with the list.
    pub(crate) async fn notify_holders(&self, contents: &[BlobHash]) {
        if contents.is_empty() {
            return;
        }
        match self.0.store.blocked_contents().hosts_with(contents).await {
            Ok(hosts) => self.0.bus.notify_edges(&hosts).await,
            Err(error) => not_notified(&error),
        }
    }

    /// Requests rescans of versions that were settled while a block made at this time was being committed.
    /// Their scans may not have seen the block.
    async fn rescan_since(&self, blocked_at: Time) {
        let now = self.0.clock.now();
        match self.0.store.scans().request_rescans(&RescanTarget::BlockedAt(blocked_at), now).await {
            Ok(None | Some(0)) => {}
            Ok(Some(_)) => self.sweep_scans_soon().await,
            Err(error) => {
                let error = format!("{error:#}");
                tracing::error!(error, "versions published during a block could not be queued for a rescan");
            }
        }
    }

    /// Queues the sweep that finds requested scans. If that fails, the next scheduled sweep finds them.
    pub(crate) async fn sweep_scans_soon(&self) {
        let id = JobId::new(self.0.clock.now(), &self.0.chance);
        let sweep = JobEnvelope { id, reply_to: None, trace: None, job: Job::SweepScans };
        if let Err(error) = self.0.queue.push(sweep).await {
            tracing::warn!(
                error = format!("{error:#}"),
                "the scan sweep could not be queued and waits for its schedule"
            );
        }
    }
}

fn not_notified(error: &anyhow::Error) {
    let error = format!("{error:#}");
    tracing::error!(
        error,
        "edges could not be told which versions have a content that was blocked or unblocked"
    );
}
