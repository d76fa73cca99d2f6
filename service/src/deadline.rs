//! The deadline of a caller's operation, and the response when it is missed.
//!
//! Every response is final. The deadline is stored in the job and compared with the database's clock when the
//! operation is settled. A caller that has waited until then is answered from the outcome. If there is none
//! yet, the caller writes a refusal as the outcome. The first to write one, a worker or the API, decides. See
//! docs/decisions/0025.

use std::time::Duration;

use domain::{AccountId, JobId, LedgerOperation, Outcome, Refusal, Repeating, Time};
use store::Refused;
use tokio::time::{Instant, timeout};

use crate::{Failure, Service, ServiceResult};

/// How long a caller waits for its operation. Together with the steps that follow, it stays below the
/// timeouts of common proxies.
const RESPONSE_WAIT: Duration = Duration::from_secs(20);
/// How long the database may take to return or decide the outcome of an operation.
const OUTCOME_WAIT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Deadline {
    /// By the database's clock, as stored in the job.
    pub(crate) at: Time,
    /// The same moment by this process's clock.
    pub(crate) until: Instant,
}

/// An operation whose caller waits for its outcome.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Awaited {
    pub(crate) account: AccountId,
    pub(crate) job: JobId,
    /// Stored beside the outcome: [`LedgerOperation::kind`].
    pub(crate) kind: &'static str,
    pub(crate) repeating: Repeating,
}

impl Service {
    /// The deadline of an operation whose caller waits until this moment.
    pub(crate) async fn deadline(&self, until: Instant) -> anyhow::Result<Deadline> {
        let wait = until.saturating_duration_since(Instant::now());
        Ok(Deadline { at: self.0.store.now().await?.plus(wait), until })
    }

    /// Whether nobody waits for an operation any more. This is an estimate, since clocks differ; the outcome
    /// decides.
    pub(crate) fn is_past_deadline(&self, job: JobId) -> bool {
        self.0.clock.now() >= job.created_at().plus(response_wait())
    }

    /// Settles a caller's operation through the account's ledger. After an error with an unknown outcome, the
    /// operation is given up.
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

    /// Refuses an operation for good. If it has ended already, returns its outcome.
    pub(crate) async fn give_up(&self, awaited: &Awaited, refusal: Refusal) -> ServiceResult<Outcome> {
        let refused =
            Refused { account: awaited.account, kind: awaited.kind, refusal, now: self.0.clock.now() };
        let error =
            match timeout(OUTCOME_WAIT, self.0.store.outcomes().record_refusal(awaited.job, refused)).await {
                Ok(Ok(outcome)) => return Ok(outcome),
                Ok(Err(error)) => format!("{error:#}"),
                Err(_) => format!("no response within {OUTCOME_WAIT:?}"),
            };
        tracing::error!(job.id = %awaited.job, error, "the outcome of an operation is unknown");
        Err(Refusal::OutcomeUnknown(awaited.repeating).into())
    }
}

/// The time until which a new caller waits.
pub(crate) fn response_deadline() -> Instant {
    Instant::now() + response_wait()
}

/// Whether a request may make an attempt of its own: the earlier attempt under its key was refused by its
/// deadline, which has freed the key, and there is time left.
pub(crate) fn may_retry<T>(result: &ServiceResult<T>, until: Instant) -> bool {
    let is_refused = matches!(result, Err(Failure::Refused(refusal)) if refusal.is_past_deadline());
    is_refused && Instant::now() < until
}

/// An error that occurred before any work on a request. With a key or id, an earlier request may still be
/// executing, which only the database knows.
pub(crate) fn failure_before(repeating: Repeating, error: anyhow::Error) -> Failure {
    let is_named = matches!(repeating, Repeating::WithTheSameKey | Repeating::WithTheSameId);
    if is_named && store::is_outage(&error) {
        let error = error.context("the outcome of an earlier request is unknown");
        return Failure::Outage { refusal: Box::new(Refusal::OutcomeUnknown(repeating)), error };
    }
    error.into()
}

/// How a request with an optional `Idempotency-Key` may be repeated.
pub(crate) fn repeating(key: Option<&str>) -> Repeating {
    key.map_or(Repeating::AfterACheck, |_| Repeating::WithTheSameKey)
}

/// A test may shorten it.
fn response_wait() -> Duration {
    match faults::at("answer.wait_ms") {
        Some(faults::Fault::Instead(millis)) => Duration::from_millis(millis.into()),
        _ => RESPONSE_WAIT,
    }
}
