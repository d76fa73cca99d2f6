//! Verdicts of scans, written to the database in batches.

use std::time::Duration;

use store::{Gathered, Gathering, ScanVerdict, Store, VerdictResult, WriteBatch};

/// Verdicts in one commit.
const BATCH_VERDICTS_MAX: usize = 64;
/// How long a commit waits for further verdicts. Few requests wait for a verdict (`wait=scan`), and a commit
/// of many costs little more than a commit of one.
const LINGER: Duration = Duration::from_millis(5);
/// A verdict whose account is locked by another transaction, such as a publish, joins a later commit after
/// these times.
const LOCKED_RETRIES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(10)];

/// Writes verdicts in batches.
#[derive(Clone)]
pub struct VerdictCommits {
    store: Store,
    batch: WriteBatch<ScanVerdict, Gathered<VerdictResult>>,
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
        match self.batch.commit_with_retries(judgement.clone(), &LOCKED_RETRIES).await {
            Some(judged) => Ok(judged),
            None => self.store.scans().record_verdict(judgement).await,
        }
    }
}

/// Writes none of them if one is wrong or the database is unavailable. Writing each by itself then shows
/// which and why.
async fn write_together(store: &Store, judgements: &[ScanVerdict]) -> Vec<Option<Gathered<VerdictResult>>> {
    let written = store.scans().record_verdicts(judgements).await.unwrap_or_default();
    written.into_iter().map(|judged| Some(Gathered::of(judged))).collect()
}
