//! What lets moderators work through the queue: the case after this one, the record of the account behind a page, and one
//! decision on several pages.

use domain::{Artifact, Host, OperatorName};
use futures::StreamExt;
use futures::stream;
use store::{AccountReport, QueueWanted, WaitingPlace};

use crate::review::LIST_MAX;
use crate::{DecisionMade, DecisionRequest, DecisionShown, Service, ServiceResult};

/// With how many pages one bulk decision deals: as many as a list shows.
pub const BULK_MAX: usize = LIST_MAX;
/// How many pages of a bulk decision are decided at a time. Each waits for the edges.
const BULK_CONCURRENCY: usize = 2;

/// The cases next to one in the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CasesAround {
    pub previous: Option<Host>,
    pub next: Option<Host>,
}

/// The record of an account, but for the page that is shown beside it.
#[derive(Clone, Debug, Default)]
pub struct AccountHistoryPage {
    /// Pages that are not deleted.
    pub pages: u64,
    /// Decisions by moderators, the newest first.
    pub decisions: Vec<DecisionShown>,
    /// The newest first.
    pub reports: Vec<AccountReport>,
}

/// What came of one page of a bulk decision.
#[derive(Debug)]
pub struct BulkOutcome {
    pub host: Host,
    pub result: ServiceResult<DecisionMade>,
}

impl Service {
    /// The cases before and after a page in the queue. Beside a page that is not in the queue, the next case is the first.
    pub async fn cases_around(&self, wanted: &QueueWanted, host: &Host) -> ServiceResult<CasesAround> {
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

    /// The place of a page in the queue; none when it is not in it.
    pub async fn place_in_queue(
        &self,
        wanted: &QueueWanted,
        host: &Host,
    ) -> ServiceResult<Option<WaitingPlace>> {
        Ok(self.0.store.review_queue().find_position(wanted, host, self.0.clock.now()).await?)
    }

    /// The case to open once a page has been decided on that was at this place: the one after it, or the first.
    pub async fn case_after(
        &self,
        wanted: &QueueWanted,
        place: Option<&WaitingPlace>,
        host: &Host,
    ) -> ServiceResult<Option<Host>> {
        let (store, now) = (&self.0.store, self.0.clock.now());
        let next = store.review_queue().find_next(wanted, place, host, now).await?;
        match (next, place) {
            (None, Some(_)) => Ok(store.review_queue().find_next(wanted, None, host, now).await?),
            (next, _) => Ok(next),
        }
    }

    /// The record of the account behind a page.
    pub async fn history_beside(&self, artifact: &Artifact) -> ServiceResult<AccountHistoryPage> {
        let history = self.0.store.accounts().history(artifact.account, artifact.id).await?;
        Ok(AccountHistoryPage {
            pages: history.pages,
            decisions: history.decisions.into_iter().map(DecisionShown::from).collect(),
            reports: history.reports,
        })
    }

    /// Each of these decisions by itself, in their order: one that is refused leaves the others as they are.
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
