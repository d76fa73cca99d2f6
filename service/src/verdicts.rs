//! Scans' verdicts on their way to the database, written together with whatever other verdicts wait.

use store::{ScanVerdict, Store, VerdictResult, WriteBatch};

/// Verdicts that one commit writes at most.
const VERDICTS_ENOUGH: usize = 64;

/// The way of verdicts to their commits.
#[derive(Clone)]
pub struct VerdictCommits {
    store: Store,
    gathered: WriteBatch<ScanVerdict, VerdictResult>,
}

impl VerdictCommits {
    pub fn start(store: Store) -> Self {
        let clerk = store.clone();
        let write = move |judgements: Vec<ScanVerdict>| {
            let clerk = clerk.clone();
            async move { write_together(&clerk, &judgements).await }
        };
        Self { gathered: WriteBatch::start(store.commits_at_once(), VERDICTS_ENOUGH, |_| 1, write), store }
    }

    /// Writes a verdict: with others, or by itself if that was not to be. The same verdict twice changes nothing.
    pub(crate) async fn write(&self, judgement: ScanVerdict) -> anyhow::Result<VerdictResult> {
        match self.gathered.commit(judgement.clone()).await {
            Some(judged) => Ok(judged),
            None => self.store.scans().record_verdict(judgement).await,
        }
    }
}

/// None of them when one is wrong, or the database is out: which one, and why, shows when each is alone.
async fn write_together(store: &Store, judgements: &[ScanVerdict]) -> Vec<Option<VerdictResult>> {
    store.scans().record_verdicts(judgements).await.unwrap_or_default()
}
