//! The list of contents that no new version may bring, for the operator's people.

use domain::{BlobHash, Job, JobEnvelope, JobId, Missing, OperatorName, Refusal};
use store::{AskedFor, BlockedContent, BlockedContentPlace};

use crate::{Answer, Service};

/// How many contents one page of the list has.
const LIST_MAX: usize = 50;

/// One page of the list, the newest first.
#[derive(Clone, Debug)]
pub struct BlockedContentsShown {
    pub contents: Vec<BlockedContent>,
    /// Where the next page begins, if there is one.
    pub next: Option<BlockedContentPlace>,
}

impl Service {
    pub async fn blocked_contents(
        &self,
        after: Option<&BlockedContentPlace>,
    ) -> Answer<BlockedContentsShown> {
        let mut contents = self.0.store.blocked_contents(after, LIST_MAX as u64 + 1).await?;
        let has_more = contents.len() > LIST_MAX;
        contents.truncate(LIST_MAX);
        let next = contents.last().filter(|_| has_more).map(BlockedContentPlace::of);
        Ok(BlockedContentsShown { contents, next })
    }

    /// Takes a content off the list. The pages that it alone has blocked are served again once they are scanned.
    pub async fn unblock_content(&self, who: &OperatorName, hash: BlobHash) -> Answer<()> {
        let now = self.0.clock.now();
        if !self.0.store.unblock_content(hash, who, now, &self.0.chance).await? {
            return Err(Refusal::NotFound(Missing::BlockedContent).into());
        }
        tracing::info!(content.hash = %hash, operator.name = %who, "content taken off the list of blocked ones");
        Ok(self.rescan_holders(vec![hash]).await?)
    }

    /// Has the versions scanned again that these contents have blocked.
    pub(crate) async fn rescan_holders(&self, contents: Vec<BlobHash>) -> anyhow::Result<()> {
        if contents.is_empty() {
            return Ok(());
        }
        let now = self.0.clock.now();
        let marked = self.0.store.ask_for_rescans(&AskedFor::HoldersOf(contents), now).await?;
        if marked.is_some_and(|marked| marked > 0) {
            let id = JobId::new(now, &self.0.chance);
            self.0.queue.push(JobEnvelope { id, reply_to: None, trace: None, job: Job::SweepScans }).await?;
        }
        Ok(())
    }
}
