//! Support for moderators: the neighbouring cases in the review queue, the history of the account behind a
//! page, and bulk decisions.

use domain::{Artifact, Host, OperatorName};
use futures::StreamExt;
use futures::stream;
use store::{AccountReport, ReviewFilter, WaitingCursor};

use crate::review::LIST_MAX;
use crate::{DecisionMade, DecisionRequest, DecisionShown, Service, ServiceResult};

/// Pages in one bulk decision: as many as a list shows.
pub const BULK_MAX: usize = LIST_MAX;
/// Pages of a bulk decision that are decided concurrently. Each waits for the edges.
const BULK_CONCURRENCY: usize = 2;

/// The neighbours of a case in the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CasesAround {
    pub previous: Option<Host>,
    pub next: Option<Host>,
}

/// The history of an account, without the page that is shown beside it.
#[derive(Clone, Debug, Default)]
pub struct AccountHistoryPage {
    /// Pages that are not deleted.
    pub pages: u64,
    /// Decisions by moderators, newest first.
    pub decisions: Vec<DecisionShown>,
    /// Newest first.
    pub reports: Vec<AccountReport>,
}

/// The result for one page of a bulk decision.
#[derive(Debug)]
pub struct BulkOutcome {
    pub host: Host,
    pub result: ServiceResult<DecisionMade>,
}

impl Service {
    /// The cases before and after a page in the queue. For a page that is not in the queue, the next case is
    /// the first.
    pub async fn cases_around(&self, wanted: &ReviewFilter, host: &Host) -> ServiceResult<CasesAround> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let place = store.review_queue().find_position(wanted, host, now).await?;
        let previous = match &place {
            Some(place) => store.review_queue().find_previous(wanted, place, now).await?,
            None => None,
        };
        Ok(CasesAround {
            previous,
            next: store.review_queue().find_next(wanted, place.as_ref(), host, now).await?,
        })
    }

    /// The position of a page in the queue, if it is there.
    pub async fn place_in_queue(
        &self,
        wanted: &ReviewFilter,
        host: &Host,
    ) -> ServiceResult<Option<WaitingCursor>> {
        Ok(self.0.store.review_queue().find_position(wanted, host, self.0.clock.now()).await?)
    }

    /// The case to open after a decision on the page at this position: the next one, or the first.
    pub async fn case_after(
        &self,
        wanted: &ReviewFilter,
        place: Option<&WaitingCursor>,
        host: &Host,
    ) -> ServiceResult<Option<Host>> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let next = store.review_queue().find_next(wanted, place, host, now).await?;
        match (next, place) {
            (None, Some(_)) => Ok(store.review_queue().find_next(wanted, None, host, now).await?),
            (next, _) => Ok(next),
        }
    }

    /// The history of the account behind a page.
    pub async fn history_beside(&self, artifact: &Artifact) -> ServiceResult<AccountHistoryPage> {
        let history = self.0.store.accounts().history(artifact.account, artifact.id).await?;
        Ok(AccountHistoryPage {
            pages: history.pages,
            decisions: history.decisions.into_iter().map(DecisionShown::from).collect(),
            reports: history.reports,
        })
    }

    /// Decides each request separately, in order. A refused one does not affect the others.
    pub async fn decide_each(&self, who: &OperatorName, requests: Vec<DecisionRequest>) -> Vec<BulkOutcome> {
        let decided = requests.into_iter().map(|request| {
            Box::pin(async move {
                let host = request.host.clone();
                BulkOutcome { host, result: self.decide(who, request).await }
            })
        });
        stream::iter(decided).buffered(BULK_CONCURRENCY).collect().await
    }
}
