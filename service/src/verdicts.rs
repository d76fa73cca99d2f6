//! Verdicts of scans, written to the database in batches.

use std::time::Duration;

use store::{Gathering, ScanVerdict, Store, VerdictResult, WriteBatch};
use tokio::time::sleep;

/// Verdicts in one commit.
const BATCH_VERDICTS_MAX: usize = 64;
/// How long a commit waits for further verdicts. Nobody waits for a verdict, and a commit of many costs
/// little more than a commit of one.
const LINGER: Duration = Duration::from_millis(5);
/// A verdict whose account is locked by another transaction, such as a publish, joins a later commit after
/// these times.
const LOCKED_RETRIES: [Duration; 3] =
    [Duration::from_millis(5), Duration::from_millis(10), Duration::from_millis(20)];

/// Writes verdicts in batches.
#[derive(Clone)]
pub struct VerdictCommits {
    store: Store,
    /// The result is `None` for a verdict whose account is locked, or deleted.
    batch: WriteBatch<ScanVerdict, Option<VerdictResult>>,
}

impl VerdictCommits {
    pub fn start(store: Store) -> Self {
        let writer = store.clone();
        let write = move |judgements: Vec<ScanVerdict>| {
            let writer = writer.clone();
            async move { write_together(&writer, &judgements).await }
        };
        let at_once = store.commits_at_once();
        let gathering = Gathering { at_once, enough: BATCH_VERDICTS_MAX, linger: LINGER };
        Self { batch: WriteBatch::start(gathering, |_| 1, write), store }
    }

    /// Writes a verdict, in a batch if possible, else by itself. The same verdict twice changes nothing.
    pub(crate) async fn write(&self, judgement: ScanVerdict) -> anyhow::Result<VerdictResult> {
        for retry_after in LOCKED_RETRIES {
            match self.batch.commit(judgement.clone()).await {
                Some(Some(judged)) => return Ok(judged),
                Some(None) => sleep(retry_after).await,
                None => break,
            }
        }
        self.store.scans().record_verdict(judgement).await
    }
}

/// Writes none of them if one is wrong or the database is unavailable. Writing each by itself then shows
/// which and why.
async fn write_together(store: &Store, judgements: &[ScanVerdict]) -> Vec<Option<Option<VerdictResult>>> {
    let written = store.scans().record_verdicts(judgements).await.unwrap_or_default();
    written.into_iter().map(Some).collect()
}
