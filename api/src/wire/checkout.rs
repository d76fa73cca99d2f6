//! Card payments: the checkout of a person, and the card processor's event.

use domain::{CheckoutAmount, Micro, Refusal};
use poem_openapi::Object;
use poem_openapi::types::Example;

use super::{Amount, Usd};

/// Spec 4.8: the amounts that a card can pay. Cards are charged in cents.
type Payable = Amount<5, 500, 10_000>;

/// The amount of credit to buy by card.
#[derive(Debug, Object)]
#[oai(example)]
pub struct OpenCheckout {
    /// US dollars, from 5 to 500, in whole cents.
    pub amount_usd: Payable,
}

/// A checkout at the card processor.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Checkout {
    /// The page where the person pays.
    pub url: String,
    pub session_id: String,
    pub amount_usd: Usd,
    /// What to do next.
    pub hint: String,
}

/// A card processor event in the format of `checkout.session.completed`. The checkout must be `paid`
/// to add credit.
#[derive(Debug, Object)]
#[oai(example)]
pub struct CardEvent {
    pub id: String,
    #[oai(rename = "type")]
    pub kind: String,
    pub data: CardEventData,
}

#[derive(Debug, Object)]
pub struct CardEventData {
    pub object: CheckoutSession,
}

/// The card processor's checkout.
#[derive(Debug, Object)]
pub struct CheckoutSession {
    /// The `session_id` of the checkout.
    pub id: String,
    pub payment_status: String,
    /// The amount in cents.
    pub amount_total: u64,
    /// Only `usd` is credited.
    pub currency: String,
    pub metadata: CheckoutMetadata,
}

#[derive(Debug, Object)]
pub struct CheckoutMetadata {
    /// The id or handle of the account to credit.
    pub account_id: String,
}

/// The event was processed.
#[derive(Debug, Object)]
#[oai(example)]
pub struct EventTaken {
    /// Always true.
    pub received: bool,
    /// Whether this event added credit to the account.
    pub credited: bool,
}

impl OpenCheckout {
    /// The amount as the service takes it. Its rules are the same as those of the schema.
    pub fn read(&self) -> Result<CheckoutAmount, Refusal> {
        CheckoutAmount::new(self.amount_usd.0).ok_or_else(|| Refusal::InvalidBody {
            fault: "amount_usd: must be from 5 to 500, in whole cents".to_owned(),
        })
    }
}

impl From<service::Checkout> for Checkout {
    fn from(checkout: service::Checkout) -> Self {
        Self {
            url: checkout.url,
            session_id: checkout.session,
            amount_usd: checkout.amount.micro().into(),
            hint:
                "open url and pay there; the credit is added when the card processor confirms the payment, \
                   and GET /v1/account shows it"
                    .to_owned(),
        }
    }
}

impl EventTaken {
    pub fn new(credited: bool) -> Self {
        Self { received: true, credited }
    }
}

impl Example for OpenCheckout {
    fn example() -> Self {
        Self { amount_usd: Amount(Micro::from_cents(2_000)) }
    }
}

impl Example for Checkout {
    fn example() -> Self {
        Self {
            url: "https://checkout.example.com/c/pay/cs_1".to_owned(),
            session_id: "cs_1".to_owned(),
            amount_usd: Micro::from_cents(2_000).into(),
            hint: "open url and pay there".to_owned(),
        }
    }
}

impl Example for CardEvent {
    fn example() -> Self {
        let object = CheckoutSession {
            id: "cs_1".to_owned(),
            payment_status: "paid".to_owned(),
            amount_total: 2_000,
            currency: "usd".to_owned(),
            metadata: CheckoutMetadata { account_id: "acct_a1b2c3d4e5f6".to_owned() },
        };
        let kind = "checkout.session.completed".to_owned();
        Self { id: "evt_1".to_owned(), kind, data: CardEventData { object } }
    }
}

impl Example for EventTaken {
    fn example() -> Self {
        Self::new(true)
    }
}
