//! Credit that is bought with an API call (spec 4.8), and credit that operators grant. The payment is checked
//! before the ledger is involved. A job therefore has a payment that fits, and repeating its request can only
//! finish what was paid.

use domain::{
    CalledBy, GrantOperation, JobId, LedgerOperation, Micro, Missing, Moved, OperatorName, Origin, Outcome,
    Payment, Reason, Refusal, Repeating, RulingNote, TopUpOperation, ToppedUp,
};
use tokio::time::Instant;

use crate::deadline::{Awaited, failure_before, may_retry, repeating, response_deadline};
use crate::idempotency::{Begun, KeyedRequest, credit_hash};
use crate::{Caller, Failure, Service, ServiceResult};

/// A request for credit, with its payment.
#[derive(Clone, Debug)]
pub struct CreditRequest {
    pub amount: Micro,
    pub payment: Option<Payment>,
    pub idempotency_key: Option<String>,
}

/// Credit that an operator grants, or deducts when the amount is negative.
#[derive(Clone, Debug)]
pub struct CreditGrant {
    /// The account's handle or id.
    pub account: String,
    pub amount: Micro,
    /// The reason. Only operators see it.
    pub note: RulingNote,
    /// Chosen by the caller, so that a repeated request grants only once. Without it, every call is a grant.
    pub id: Option<JobId>,
}

/// A grant that was made, now or earlier.
#[derive(Clone, Debug)]
pub struct Granted {
    pub handle: String,
    pub id: JobId,
    pub amount: Micro,
    pub balance: Micro,
    /// Whether this call made it.
    pub is_new: bool,
}

impl Service {
    /// Grants or deducts credit. The balance may become negative.
    pub async fn grant_credit(
        &self,
        by: &OperatorName,
        origin: Origin,
        grant: CreditGrant,
    ) -> ServiceResult<Granted> {
        let CreditGrant { account, amount, note, id } = grant;
        let repeating = id.map_or(Repeating::AfterALedgerCheck, |_| Repeating::WithTheSameId);
        if amount.is_zero() {
            return Err(Refusal::invalid("amount_usd", "is zero").into());
        }
        let note = note.as_str().trim().to_owned();
        if note.is_empty() {
            return Err(Refusal::invalid("reason", "is empty").into());
        }
        let unknown = || Refusal::NotFound(Missing::Account);
        let failure = |error| failure_before(repeating, error);
        let store = &self.0.store;
        let account = store.accounts().find_named(&account).await.map_err(failure)?.ok_or_else(unknown)?;
        let handle = store.accounts().find(account).await.map_err(failure)?.ok_or_else(unknown)?.handle;
        let job = JobId::new(self.0.clock.now(), &self.0.chance);
        let id = id.unwrap_or(job);
        let deadline = Some(self.deadline(response_deadline()).await.map_err(failure)?.at);
        let called_by = CalledBy { actor: by.to_string(), origin };
        let operation =
            LedgerOperation::Grant(GrantOperation { account, job, id, amount, note, deadline, called_by });
        let awaited = Awaited { account, job, kind: operation.kind(), repeating };
        let Moved { balance, is_new } = match self.settle(operation, &awaited).await? {
            Outcome::Moved(moved) => moved,
            outcome => return Err(Failure::behind(outcome)),
        };
        let made = Reason::OperatorCredit(id);
        if !is_new && store.ledger().find_amount(account, &made).await.map_err(failure)? != Some(amount) {
            return Err(Refusal::IdempotencyConflict.into());
        }
        if is_new {
            tracing::info!(account.handle = %handle, operator.name = %by, credit.micro = amount.get(), "operator granted credit");
        }
        Ok(Granted { handle, id, amount, balance, is_new })
    }

    /// Credits the account with exactly what was paid. Arrears are not added.
    pub async fn buy_credit(&self, caller: &Caller, request: CreditRequest) -> ServiceResult<ToppedUp> {
        caller.may_own(self.0.clock.now())?;
        let until = response_deadline();
        let begun = self.begin_top_up(caller, &request).await?;
        let response = self.top_up(caller, &request, begun, until).await;
        if matches!(begun, Begun::Earlier(_)) && may_retry(&response, until) {
            let begun = self.begin_top_up(caller, &request).await?;
            return self.top_up(caller, &request, begun, until).await;
        }
        response
    }

    async fn top_up(
        &self,
        caller: &Caller,
        request: &CreditRequest,
        begun: Begun,
        until: Instant,
    ) -> ServiceResult<ToppedUp> {
        let repeating = repeating(request.idempotency_key.as_deref());
        let unknown = |error| failure_before(repeating, error);
        let job = match begun {
            Begun::Fresh(job) => job,
            // The ledger would return the same outcome, but only after it has given up its whole commit.
            Begun::Earlier(job) => match self.0.store.outcomes().find(job).await.map_err(unknown)? {
                Some(outcome) => return topped_up_in(outcome),
                None => job,
            },
        };
        let (account, amount) = (caller.account, request.amount);
        let deadline = self.deadline(until).await.map_err(unknown)?;
        let called_by = Some(caller.called_by());
        let operation = LedgerOperation::TopUp(TopUpOperation {
            account,
            job,
            amount,
            deadline: Some(deadline.at),
            called_by,
        });
        let awaited = Awaited { account, job, kind: operation.kind(), repeating };
        topped_up_in(self.settle(operation, &awaited).await?)
    }

    /// Claims a key only with a payment that fits. A repeat of a paid request gets its response again even
    /// without one.
    async fn begin_top_up(&self, caller: &Caller, request: &CreditRequest) -> ServiceResult<Begun> {
        let quote = self.tariff().settle_credit(request.amount, request.payment.as_ref());
        let quote = quote.map_err(Refusal::PaymentRequired);
        let Some(key) = &request.idempotency_key else {
            quote?;
            return Ok(self.begin());
        };
        let keyed = KeyedRequest {
            account: caller.account,
            key,
            hash: credit_hash(request.amount),
            repeating: Repeating::WithTheSameKey,
            conflict: Refusal::IdempotencyConflict,
        };
        match quote {
            Ok(_) => self.begin_keyed(keyed).await,
            Err(unpaid) => self.earlier_keyed(keyed).await?.ok_or_else(|| unpaid.into()),
        }
    }
}

fn topped_up_in(outcome: Outcome) -> ServiceResult<ToppedUp> {
    match outcome {
        Outcome::ToppedUp(topped_up) => Ok(topped_up),
        outcome => Err(Failure::behind(outcome)),
    }
}
