//! Buying credit with a call (spec 4.8). Whether the payment fits is decided before the ledger is asked: a job stands
//! for a payment that fits, so handing it in again can only finish what was paid.

use domain::{Deed, JobId, Micro, Outcome, Payment, Refusal, Repeating, TopUpDeed, ToppedUp};
use store::{KeyClaim, KeyHolder};

use crate::deadline::{Awaited, failure_before, repeating};
use crate::publish::{Begun, KEY_KEPT};
use crate::{Answer, Caller, Failure, Service};

/// Credit that a caller wants, and what it offers for it.
#[derive(Clone, Debug)]
pub struct CreditRequest {
    pub amount: Micro,
    pub payment: Option<Payment>,
    pub idempotency_key: Option<String>,
}

impl Service {
    /// Credits the account with what was paid, exactly; arrears are not added.
    pub async fn buy_credit(&self, caller: &Caller, request: CreditRequest) -> Answer<ToppedUp> {
        caller.may_own(self.0.clock.now())?;
        let repeating = repeating(request.idempotency_key.as_deref());
        let unknown = |error| failure_before(repeating, error);
        let job = match self.top_up_of(caller, &request).await? {
            Begun::Fresh(job) => job,
            // The ledger would give the same answer, and not before it has given up the whole commit.
            Begun::Earlier(job) => match self.0.store.outcome(job).await.map_err(unknown)? {
                Some(outcome) => return answer(outcome),
                None => job,
            },
        };
        let (account, amount) = (caller.account, request.amount);
        let deadline = self.deadline().await.map_err(unknown)?;
        let deed = Deed::TopUp(TopUpDeed { account, job, amount, deadline: Some(deadline.at) });
        let awaited = Awaited { account, job, kind: deed.kind(), repeating };
        answer(self.settle(deed, &awaited).await?)
    }

    /// The top-up that this request is: a new one, or that of an earlier request with the same key.
    async fn top_up_of(&self, caller: &Caller, request: &CreditRequest) -> Answer<Begun<JobId>> {
        let now = self.0.clock.now();
        let fresh = JobId::new(now, &self.0.chance);
        let quote = self.tariff().settle_credit(request.amount, request.payment.as_ref());
        let Some(key) = &request.idempotency_key else {
            quote.map_err(Refusal::PaymentRequired)?;
            return Ok(Begun::Fresh(fresh));
        };
        let claim = KeyClaim {
            account: caller.account,
            key,
            request_hash: &request_hash(request),
            job: fresh,
            now,
            expires_at: now.plus(KEY_KEPT),
        };
        let unknown = |error| failure_before(Repeating::WithTheSameKey, error);
        let holder = match quote {
            Ok(_) => self.0.store.claim_key(&claim).await.map_err(unknown)?,
            // Nothing is claimed without a payment that fits, but what was answered before is answered again.
            Err(challenge) => {
                let holder = self.0.store.key_holder(&claim).await.map_err(unknown)?;
                holder.ok_or(Refusal::PaymentRequired(challenge))?
            }
        };
        match holder {
            KeyHolder::Claimant => Ok(Begun::Fresh(fresh)),
            KeyHolder::Earlier(job) => Ok(Begun::Earlier(job)),
            KeyHolder::Conflict => Err(Refusal::IdempotencyConflict.into()),
        }
    }
}

fn answer(outcome: Outcome) -> Answer<ToppedUp> {
    match outcome {
        Outcome::ToppedUp(topped_up) => Ok(topped_up),
        outcome => Err(Failure::behind(outcome)),
    }
}

/// What makes two requests the same; it is short enough to stand for itself. The payment is no part of it, as with a
/// publish.
fn request_hash(request: &CreditRequest) -> String {
    format!("credits {}", request.amount.get())
}
