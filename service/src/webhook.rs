//! The card processor's word. It comes more than once and from anyone who finds the address: so it must be signed, and
//! a checkout is credited once, by a reason made of its session.

use card::{CardEvent, PaidCheckout};
use domain::{CreditDeed, Deed, Moved, Outcome, Rail, Reason, Refusal};

use crate::{Answer, Failure, Service};

const SIGNATURE_HEADER: &str = "Card-Processor-Signature";
/// An account that is no account is told in the log, and no longer than this.
const NAME_CHARS_MAX: usize = 64;

/// A call of the webhook, as it came.
#[derive(Clone, Copy)]
pub struct CardCall<'a> {
    pub signature: Option<&'a str>,
    /// What was signed: not one byte may be another.
    pub body: &'a [u8],
}

impl Service {
    /// Takes the processor's word, and credits the account if it says that a checkout was paid. Whether this very call
    /// credited it.
    pub async fn take_card_event(&self, call: CardCall<'_>) -> Answer<bool> {
        let secret = self.0.card.webhook_secret.as_ref();
        let secret =
            secret.ok_or_else(|| Refusal::NotConfigured { what: "the webhook secret".to_owned() })?;
        secret
            .verify(call.signature, call.body, self.0.clock.now())
            .map_err(|fault| Refusal::invalid(SIGNATURE_HEADER, fault.to_string()))?;
        let event = CardEvent::read(call.body)
            .map_err(|fault| Refusal::InvalidBody { fault: format!("the event {fault}") })?;
        match event {
            CardEvent::Paid(paid) => self.credit_checkout(paid).await,
            CardEvent::Unusable { session, fault } => {
                telemetry::checkout_uncredited();
                tracing::error!(card.session = %session, card.fault = fault, "a paid checkout cannot be credited");
                Ok(false)
            }
            CardEvent::Other => Ok(false),
        }
    }

    /// An expired account is credited too: the money is there, and keeps the account from being purged.
    async fn credit_checkout(&self, paid: PaidCheckout) -> Answer<bool> {
        let Some(account) = self.0.store.account_named(&paid.account).await? else {
            note_unknown_account(&paid);
            return Ok(false);
        };
        let deed = CreditDeed {
            account,
            amount: paid.amount,
            reason: Reason::CardTopUp(paid.session.clone()).to_string(),
            rail: Rail::Card,
        };
        match self.0.ledgers.settle(Deed::Credit(deed)).await? {
            Outcome::Moved(Moved { is_new, .. }) => Ok(is_new),
            // It was purged since the look.
            Outcome::Refused(_) => {
                note_unknown_account(&paid);
                Ok(false)
            }
            outcome => Err(Failure::behind(outcome)),
        }
    }
}

fn note_unknown_account(paid: &PaidCheckout) {
    telemetry::checkout_uncredited();
    let name: String = paid.account.chars().take(NAME_CHARS_MAX).collect();
    tracing::error!(card.session = %paid.session, account.named = ?name, "a paid checkout names no account");
}
