//! Books payments, refunds and disputes that the card processor reports. Anyone can call the webhook, and the
//! processor repeats its events. So events must be signed, and each payment and each refund moves money once.

use card::{CardEvent, EventKind, PaidCheckout};
use domain::{
    AccountId, CardPayment, CardReversal, CardReversalOperation, CreditOperation, CreditSource,
    LedgerOperation, Moved, Outcome, Reason, Refusal, ReversalExtent,
};

use crate::{Failure, Service, ServiceResult};

const SIGNATURE_HEADER: &str = "Card-Processor-Signature";
/// Characters of an unknown account's name that are logged.
const NAME_CHARS_MAX: usize = 64;

/// A call of the webhook, as received.
#[derive(Clone, Copy)]
pub struct CardCall<'a> {
    pub signature: Option<&'a str>,
    /// The signed bytes, which must be unchanged.
    pub body: &'a [u8],
}

impl Service {
    /// Processes an event, and credits the account if it reports a paid checkout. Returns whether this call
    /// credited it.
    pub async fn take_card_event(&self, call: CardCall<'_>) -> ServiceResult<bool> {
        let secret = self.0.card.webhook_secret.as_ref();
        let secret =
            secret.ok_or_else(|| Refusal::NotConfigured { what: "the webhook secret".to_owned() })?;
        secret
            .verify(call.signature, call.body, self.0.clock.now())
            .map_err(|fault| Refusal::invalid(SIGNATURE_HEADER, fault.to_string()))?;
        let event = CardEvent::read(call.body, self.0.card.livemode)
            .map_err(|fault| Refusal::InvalidBody { fault: format!("the event {fault}") })?;
        match event {
            CardEvent::Paid(paid) => self.credit_checkout(paid).await,
            CardEvent::Reversed(reversal) => {
                self.reverse_payment(reversal).await?;
                Ok(false)
            }
            CardEvent::Unusable { kind, id, fault } => {
                note_unbooked(kind, &id, fault);
                Ok(false)
            }
            CardEvent::Other => Ok(false),
        }
    }

    /// Expired accounts are credited too, because the credit keeps them from being purged. So are suspended
    /// ones, which have the credit when the suspension is lifted.
    async fn credit_checkout(&self, paid: PaidCheckout) -> ServiceResult<bool> {
        let Some(account) = self.0.store.accounts().find_named(&paid.account).await? else {
            note_unknown_account(&paid);
            return Ok(false);
        };
        let operation = CreditOperation {
            account,
            amount: paid.amount,
            reason: Reason::CardTopUp(paid.session.clone()).to_string(),
            source: CreditSource::Card(CardPayment {
                session: paid.session.clone(),
                payment_intent: paid.payment_intent.clone(),
            }),
        };
        let is_new = match self.0.ledgers.settle(LedgerOperation::Credit(operation)).await? {
            Outcome::Moved(Moved { is_new, .. }) => is_new,
            // The account was purged in the meantime.
            Outcome::Refused(_) => {
                note_unknown_account(&paid);
                return Ok(false);
            }
            outcome => return Err(Failure::behind(outcome)),
        };
        // Also if it was credited before: an earlier attempt may have stopped here.
        if let Some(payment_intent) = &paid.payment_intent {
            self.take_back_early_reversals(payment_intent).await?;
        }
        Ok(is_new)
    }

    /// Takes back what the account was credited. The balance may become negative.
    ///
    /// The reversal may arrive before the payment. It cannot be refused until then, because the payment may
    /// belong to another service, and then the event must be acknowledged. An acknowledged event is not
    /// repeated, so the reversal is stored, and booked when the payment is credited. The reversal is
    /// committed before the payment is queried once more, and the payment before its reversals are queried.
    /// So of two events at the same moment, at least one finds the other.
    async fn reverse_payment(&self, reversal: CardReversal) -> ServiceResult<()> {
        let store = &self.0.store;
        if store.ledger().find_account_of_card_payment(&reversal.payment_intent).await?.is_none() {
            store.ledger().keep_early_reversal(&reversal, self.0.clock.now()).await?;
        }
        let Some(account) = store.ledger().find_account_of_card_payment(&reversal.payment_intent).await?
        else {
            let kind = match reversal.extent {
                ReversalExtent::RefundedInAll(_) => EventKind::Refunded,
                ReversalExtent::Disputed(_) => EventKind::Disputed,
            };
            note_unbooked(kind, &reversal.id, "its payment_intent is not credited here yet");
            return Ok(());
        };
        self.take_back(account, reversal).await
    }

    async fn take_back_early_reversals(&self, payment_intent: &str) -> ServiceResult<()> {
        let reversals = self.0.store.ledger().list_early_reversals(payment_intent).await?;
        if reversals.is_empty() {
            return Ok(());
        }
        // A session credits only one account, which may not be the one that this event names.
        let Some(account) = self.0.store.ledger().find_account_of_card_payment(payment_intent).await? else {
            return Ok(());
        };
        for reversal in reversals {
            self.take_back(account, reversal).await?;
        }
        Ok(())
    }

    async fn take_back(&self, account: AccountId, reversal: CardReversal) -> ServiceResult<()> {
        let operation = LedgerOperation::CardReversal(CardReversalOperation { account, reversal });
        match self.0.ledgers.settle(operation).await? {
            Outcome::Moved(Moved { .. }) => Ok(()),
            outcome => Err(Failure::behind(outcome)),
        }
    }
}

/// Money moved at the processor and not here. An operator must check it.
fn note_unbooked(kind: EventKind, id: &str, fault: &str) {
    match kind {
        EventKind::Paid => telemetry::checkout_uncredited(),
        EventKind::Refunded | EventKind::Disputed | EventKind::Reinstated => {
            telemetry::card_reversal_unbooked()
        }
    }
    tracing::error!(
        card.event = kind.as_str(),
        card.id = %id,
        card.fault = fault,
        "a card processor event moved money that is not in the ledger"
    );
}

fn note_unknown_account(paid: &PaidCheckout) {
    telemetry::checkout_uncredited();
    let name: String = paid.account.chars().take(NAME_CHARS_MAX).collect();
    tracing::error!(card.session = %paid.session, account.named = ?name, "a paid checkout has an unknown account");
}
