//! Verdicts of scans, written to the database in batches.

use store::{ScanVerdict, Store, VerdictResult, WriteBatch};

/// Verdicts in one commit.
const BATCH_VERDICTS_MAX: usize = 64;

/// Writes verdicts in batches.
#[derive(Clone)]
pub struct VerdictCommits {
    store: Store,
    batch: WriteBatch<ScanVerdict, VerdictResult>,
}

impl VerdictCommits {
    pub fn start(store: Store) -> Self {
        let writer = store.clone();
        let write = move |judgements: Vec<ScanVerdict>| {
            let writer = writer.clone();
            async move { write_together(&writer, &judgements).await }
        };
        Self { batch: WriteBatch::start(store.commits_at_once(), BATCH_VERDICTS_MAX, |_| 1, write), store }
    }

    /// Writes a verdict, in a batch if possible, else by itself. The same verdict twice changes nothing.
    pub(crate) async fn write(&self, judgement: ScanVerdict) -> anyhow::Result<VerdictResult> {
        match self.batch.commit(judgement.clone()).await {
            Some(judged) => Ok(judged),
            None => self.store.scans().record_verdict(judgement).await,
        }
    }
}

/// Writes none of them if one is wrong or the database is unavailable. Writing each by itself then shows
/// which and why.
async fn write_together(store: &Store, judgements: &[ScanVerdict]) -> Vec<Option<VerdictResult>> {
    store.scans().record_verdicts(judgements).await.unwrap_or_default()
}
