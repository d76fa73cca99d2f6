//! Commits the batches of several accounts' ledgers in one transaction. A failing operation of one account
//! must not fail those of another, and an account must not wait for another that is locked.

use std::sync::Arc;
use std::time::Duration;

use domain::{AccountId, LedgerOperation, Outcome};
use store::{Batch, Gathered, Gathering, Store, Terms, WriteBatch, is_collision, outage};

use crate::terms::{LedgerError, LedgerTerms};

/// A commit with this many operations takes no further batch. A batch is never split.
const OPERATIONS_ENOUGH: usize = 128;
/// How often a batch is retried after a collision with another account, such as the same random host.
const COLLISIONS_MAX: usize = 8;

/// A batch whose account is locked by another transaction, such as a verdict, joins a later commit after
/// these times. Settling it alone costs as much as a commit of many. It must not wait for long, because the
/// next commit may find it locked again.
const LOCKED_RETRIES: [Duration; 2] = [Duration::from_millis(2), Duration::from_millis(5)];

pub(crate) type Committed = Result<Vec<Outcome>, LedgerError>;

/// The commit queue of all ledgers. Each ledger has at most one batch in it.
#[derive(Clone)]
pub(crate) struct Commits {
    gathered: WriteBatch<(AccountId, Arc<[LedgerOperation]>), Gathered<Committed>>,
    committer: CommitActor,
}

impl Commits {
    pub(crate) fn start(store: Store, terms: LedgerTerms) -> Self {
        let at_once = store.commits_at_once();
        let gathering = Gathering { at_once, enough: OPERATIONS_ENOUGH, linger: Duration::ZERO };
        let committer = CommitActor { store, terms };
        let commit = {
            let committer = committer.clone();
            move |batches: Vec<(AccountId, Arc<[LedgerOperation]>)>| {
                let committer = committer.clone();
                async move { committer.commit_together(&batches).await }
            }
        };
        Self { gathered: WriteBatch::start(gathering, |(_, operations)| operations.len(), commit), committer }
    }

    /// Settles operations of one account, in order, in one transaction: together with those of other
    /// accounts, or alone if that fails.
    pub(crate) async fn settle(&self, account: AccountId, operations: Arc<[LedgerOperation]>) -> Committed {
        let batch = (account, operations.clone());
        match self.gathered.commit_with_retries(batch, &LOCKED_RETRIES).await {
            Some(committed) => committed,
            None => self.committer.commit_alone(account, &operations).await,
        }
    }
}

#[derive(Clone)]
struct CommitActor {
    store: Store,
    terms: LedgerTerms,
}

impl CommitActor {
    async fn commit_together(
        &self,
        batches: &[(AccountId, Arc<[LedgerOperation]>)],
    ) -> Vec<Option<Gathered<Committed>>> {
        let batches: Vec<Batch<'_>> =
            batches.iter().map(|(account, operations)| Batch { account: *account, operations }).collect();
        match self.store.settle_together(&batches, &self.terms()).await {
            Ok(settled) => settled.into_iter().map(|outcomes| Some(Gathered::of(outcomes.map(Ok)))).collect(),
            Err(error) => match as_outage(&error) {
                Some(outage) => {
                    batches.iter().map(|_| Some(Gathered::Committed(Err(outage.clone())))).collect()
                }
                // One of the operations is faulty, or two collided. Settling each batch alone shows which.
                None => Vec::new(),
            },
        }
    }

    async fn commit_alone(&self, account: AccountId, operations: &[LedgerOperation]) -> Committed {
        let mut collisions = 0;
        loop {
            match self.store.settle(account, operations, &self.terms()).await {
                Ok(outcomes) => return Ok(outcomes),
                Err(error) if is_collision(&error) && collisions < COLLISIONS_MAX => collisions += 1,
                Err(error) => {
                    return Err(as_outage(&error).unwrap_or_else(|| LedgerError::Bug(format!("{error:#}"))));
                }
            }
        }
    }

    fn terms(&self) -> Terms {
        Terms {
            tariff: self.terms.tariff.clone(),
            chance: self.terms.chance.clone(),
            now: self.terms.clock.now(),
        }
    }
}

fn as_outage(error: &anyhow::Error) -> Option<LedgerError> {
    outage(error).map(|of| LedgerError::Outage { of, error: format!("{error:#}") })
}
