//! Commits what the ledgers have to commit, the batches of several accounts together. It must never let the deed of one
//! account fail those of another, nor have one account wait for another that somebody else has in hand.

use std::sync::Arc;

use domain::{AccountId, LedgerOperation, Outcome};
use store::{Batch, Store, Terms, WriteBatch, is_collision, outage};

use crate::terms::{LedgerError, LedgerTerms};

/// One commit takes no further batch when it has so many deeds. A batch is never cut.
const DEEDS_ENOUGH: usize = 128;
/// How often a batch is tried again when it collides with another account (a host drawn twice).
const COLLISIONS_MAX: usize = 8;

pub(crate) type Committed = Result<Vec<Outcome>, LedgerError>;

/// The way of the ledgers to their commits. There is never more than one batch for each on it.
#[derive(Clone)]
pub(crate) struct Commits {
    gathered: WriteBatch<(AccountId, Arc<[LedgerOperation]>), Committed>,
    committer: CommitActor,
}

impl Commits {
    pub(crate) fn start(store: Store, terms: LedgerTerms) -> Self {
        let at_once = store.commits_at_once();
        let committer = CommitActor { store, terms };
        let commit = {
            let committer = committer.clone();
            move |batches: Vec<(AccountId, Arc<[LedgerOperation]>)>| {
                let committer = committer.clone();
                async move { committer.commit_together(&batches).await }
            }
        };
        Self {
            gathered: WriteBatch::start(at_once, DEEDS_ENOUGH, |(_, operations)| operations.len(), commit),
            committer,
        }
    }

    /// Settles deeds of one account, in their order, in one transaction: together with those of other accounts, or by
    /// itself if that was not to be.
    pub(crate) async fn settle(&self, account: AccountId, operations: Arc<[LedgerOperation]>) -> Committed {
        match self.gathered.commit((account, operations.clone())).await {
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
    ) -> Vec<Option<Committed>> {
        let batches: Vec<Batch<'_>> =
            batches.iter().map(|(account, operations)| Batch { account: *account, operations }).collect();
        match self.store.settle_together(&batches, &self.terms()).await {
            Ok(settled) => settled.into_iter().map(|outcomes| outcomes.map(Ok)).collect(),
            Err(error) => match as_outage(&error) {
                Some(outage) => batches.iter().map(|_| Some(Err(outage.clone()))).collect(),
                // Something is wrong with one of them, or two collided: which one shows when each is alone.
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
