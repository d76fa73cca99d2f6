//! Credit by card: a person is sent to the processor's checkout. Nothing is credited here; that is the webhook's word
//! alone, however the person comes back.

use card::CheckoutOrder;
use domain::{CheckoutAmount, Refusal};

use crate::{Answer, Person, Service};

/// A checkout that waits to be paid.
#[derive(Clone, Debug)]
pub struct Checkout {
    pub session: String,
    /// Where a person pays.
    pub url: String,
    pub amount: CheckoutAmount,
}

impl Service {
    /// Opens a checkout for the account that the person named: only its owner buys credit.
    pub async fn open_checkout(
        &self,
        person: &Person,
        account: Option<&str>,
        amount: CheckoutAmount,
    ) -> Answer<Checkout> {
        let processor = self.0.card.processor.as_ref();
        let processor =
            processor.ok_or_else(|| Refusal::NotConfigured { what: "the card rail".to_owned() })?;
        let caller = self.caller_of(person, account).await?;
        caller.may_own(self.0.clock.now())?;
        let opened = processor.open_checkout(&CheckoutOrder { account: caller.account, amount }).await;
        let session = opened.map_err(|fault| {
            let error = anyhow::Error::from(fault);
            tracing::error!(error = format!("{error:#}"), account.handle = %caller.handle, "no checkout was opened");
            Refusal::ProcessorError
        })?;
        tracing::info!(account.handle = %caller.handle, card.session = %session.id, "checkout opened");
        Ok(Checkout { session: session.id, url: session.url, amount })
    }
}
