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
        let unblocked = self.0.store.blocked_contents().unblock(hash, who, now, &self.0.chance).await?;
        let affected = unblocked.ok_or(Refusal::NotFound(Missing::BlockedContent))?;
        tracing::info!(content.hash = %hash, operator.name = %who, "content unblocked");
        self.0.bus.notify_edges(&affected).await;
        self.sweep_scans_soon().await;
        Ok(())
    }

    /// Requests rescans of versions that were settled while a block made at this time was being committed.
    /// Their scans may not have seen the block.
    pub(crate) async fn rescan_since(&self, blocked_at: Time) {
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
