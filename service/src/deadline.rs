//! Until when a caller's operation may be settled, and what the caller gets when it was not.
//!
//! Every response is final. The deadline is kept in the job and compared with the database's clock where the operation is
//! settled. A caller that has waited until then is answered from the outcome, which is written here if there is none
//! yet. The first to write it, a worker or the API, decides. See docs/decisions/0025.

use std::time::Duration;

use domain::{AccountId, JobId, LedgerOperation, Outcome, Refusal, Repeating, Time};
use store::Refused;
use tokio::time::{Instant, timeout};

use crate::{Failure, Service, ServiceResult};

/// How long a caller waits for its operation. With what follows it stays below the patience of common proxies.
const ANSWER_WAIT: Duration = Duration::from_secs(20);
/// How long the database may take to say, or to decide, how an operation ended.
const LAST_WORD_WAIT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// By the database's clock, as the job has it.
    pub(crate) at: Time,
    /// The same by this process's clock: so long the caller waits.
    pub(crate) until: Instant,
}

/// An operation whose caller waits for its outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) account: AccountId,
    pub(crate) job: JobId,
    /// What is kept beside the outcome: [`LedgerOperation::kind`].
    pub(crate) kind: &'static str,
    pub(crate) repeating: Repeating,
}

impl Service {
    /// The deadline of an operation whose caller waits until a moment: [`answer_until`].
    pub(crate) async fn deadline(&self, until: Instant) -> anyhow::Result<Deadline> {
        let wait = until.saturating_duration_since(Instant::now());
        Ok(Deadline { at: self.0.store.now().await?.plus(wait), until })
    }

    /// Whether nobody waits for an operation any more. It is a guess, since clocks differ; the outcome decides.
    pub(crate) fn is_past_deadline(&self, job: JobId) -> bool {
        self.0.clock.now() >= job.created_at().plus(answer_wait())
    }

    /// Has the account's ledger settle a caller's operation. An error that leaves its fate open is resolved here.
    pub(crate) async fn settle(
        &self,
        operation: LedgerOperation,
        awaited: &Awaited,
    ) -> ServiceResult<Outcome> {
        match self.0.ledgers.settle(operation).await.map_err(Failure::from) {
            Ok(outcome) => Ok(outcome),
            Err(failure) => self.give_up(awaited, *failure.handle().map_err(Failure::Bug)?).await,
        }
    }

    /// Refuses an operation for good, unless it has ended already: then that is its outcome.
    pub(crate) async fn give_up(&self, awaited: &Awaited, refusal: Refusal) -> ServiceResult<Outcome> {
        let refused =
            Refused { account: awaited.account, kind: awaited.kind, refusal, now: self.0.clock.now() };
        let error =
            match timeout(LAST_WORD_WAIT, self.0.store.outcomes().record_refusal(awaited.job, refused)).await
            {
                Ok(Ok(outcome)) => return Ok(outcome),
                Ok(Err(error)) => format!("{error:#}"),
                Err(_) => format!("no answer within {LAST_WORD_WAIT:?}"),
            };
        tracing::error!(job.id = %awaited.job, error, "the outcome of an operation is unknown");
        Err(Refusal::OutcomeUnknown(awaited.repeating).into())
    }
}

/// Until when a caller waits that arrives now.
pub(crate) fn answer_until() -> Instant {
    Instant::now() + answer_wait()
}

/// Whether a request found that the earlier attempt under its key was refused by its deadline, and has time left for an
/// attempt of its own: the refusal has freed the key.
pub(crate) fn may_start_anew<T>(answer: &ServiceResult<T>, until: Instant) -> bool {
    let is_refused = matches!(answer, Err(Failure::Refused(refusal)) if refusal.is_past_deadline());
    is_refused && Instant::now() < until
}

/// An error that came up before anything was done of a request. Under its key or id an earlier request may still be carried
/// out, which only the database knows.
pub(crate) fn failure_before(repeating: Repeating, error: anyhow::Error) -> Failure {
    let is_named = matches!(repeating, Repeating::WithTheSameKey | Repeating::WithTheSameId);
    if is_named && store::is_outage(&error) {
        let error = error.context("the outcome of an earlier request is unknown");
        return Failure::Outage { refusal: Box::new(Refusal::OutcomeUnknown(repeating)), error };
    }
    error.into()
}

/// How a request that takes an `Idempotency-Key` may be repeated.
pub(crate) fn repeating(key: Option<&str>) -> Repeating {
    key.map_or(Repeating::AfterACheck, |_| Repeating::WithTheSameKey)
}

/// A test may shorten it.
fn answer_wait() -> Duration {
    match faults::at("answer.wait_ms") {
        Some(faults::Fault::Instead(millis)) => Duration::from_millis(millis.into()),
        _ => ANSWER_WAIT,
    }
}
