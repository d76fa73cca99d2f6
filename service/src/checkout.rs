//! Credit by card: sends a person to the processor's checkout. Only the webhook adds the credit, however the
//! person returns.

use card::CheckoutOrder;
use domain::{CheckoutAmount, Refusal, Slug, Visibility};

use crate::{Person, Service, ServiceResult};

/// A page to make unlisted or private once there is credit for it.
#[derive(Clone, Debug)]
pub struct CheckoutRequest {
    pub page: Slug,
    pub visibility: Visibility,
}

/// A checkout that is not yet paid.
#[derive(Clone, Debug)]
pub struct Checkout {
    pub session: String,
    /// Where the person pays.
    pub url: String,
    pub amount: CheckoutAmount,
    /// The path of the page to return to.
    pub return_path: String,
}

impl Service {
    /// Whether credit can be bought by card.
    pub fn accepts_cards(&self) -> bool {
        self.0.card.processor.is_some()
    }

    /// Opens a checkout for the account that the person named. Only its owner buys credit. The person returns
    /// to the account's credit page, which remembers what the credit is for.
    pub async fn open_checkout(
        &self,
        person: &Person,
        account: Option<&str>,
        amount: CheckoutAmount,
        purpose: Option<CheckoutRequest>,
    ) -> ServiceResult<Checkout> {
        let processor = self.0.card.processor.as_ref();
        let processor =
            processor.ok_or_else(|| Refusal::NotConfigured { what: "card payment".to_owned() })?;
        let caller = self.caller_of(person, account).await?;
        caller.may_own(self.0.clock.now())?;
        let return_path = return_path(&caller.handle, purpose.as_ref());
        let order = CheckoutOrder {
            idempotency_key: format!("checkout-{}", self.0.chance.ulid(self.0.clock.now())),
            account: caller.account,
            amount,
            paid_path: format!("{return_path}{}done=paid-by-card", if purpose.is_some() { '&' } else { '?' }),
            unpaid_path: return_path.clone(),
        };
        let opened = processor.open_checkout(&order).await;
        let session = opened.map_err(|fault| {
            let error = anyhow::Error::from(fault);
            tracing::error!(error = format!("{error:#}"), account.handle = %caller.handle, "could not open a card checkout");
            Refusal::ProcessorError
        })?;
        tracing::info!(account.handle = %caller.handle, card.session = %session.id, "checkout opened");
        Ok(Checkout { session: session.id, url: session.url, amount, return_path })
    }
}

fn return_path(handle: &str, purpose: Option<&CheckoutRequest>) -> String {
    let page = format!("/dashboard/{handle}/credit");
    match purpose {
        Some(CheckoutRequest { page: slug, visibility }) => {
            format!("{page}?page={slug}&visibility={}", visibility.as_str())
        }
        None => page,
    }
}
