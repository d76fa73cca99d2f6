//! Credit that is bought with an API call. The `X-PAYMENT-RESPONSE` header is made from this receipt, so that
//! they cannot differ.

use domain::{Micro, ToppedUp};
use poem_openapi::Object;
use poem_openapi::types::Example;

use super::publish::Receipt;
use super::{Amount, Usd};

/// Spec 4.8: the amounts that an API call can buy.
pub type Purchasable = Amount<{ CreditPurchase::USD_MIN }, { CreditPurchase::USD_MAX }>;

/// The amount of credit to buy.
#[derive(Debug, Object)]
#[oai(example)]
pub struct CreditPurchase {
    /// US dollars, from 1 to 100, with at most six decimals. The payment must equal it exactly.
    pub amount_usd: Purchasable,
}

/// The account's balance after the purchase.
#[derive(Debug, Object)]
#[oai(example)]
pub struct CreditBought {
    /// The balance. It can still be negative.
    pub credits_usd: Usd,
    pub receipt: Receipt,
}

impl CreditPurchase {
    pub const USD_MIN: i64 = 1;
    pub const USD_MAX: i64 = 100;
}

impl From<&ToppedUp> for CreditBought {
    fn from(topped_up: &ToppedUp) -> Self {
        Self { credits_usd: topped_up.balance.into(), receipt: (&topped_up.receipt).into() }
    }
}

impl Example for CreditPurchase {
    fn example() -> Self {
        Self { amount_usd: Amount(Micro::new(5_000_000)) }
    }
}

impl Example for CreditBought {
    fn example() -> Self {
        let receipt = domain::Receipt {
            rail: "dev".to_owned(),
            amount: Micro::new(5_000_000),
            id: "01K0000000000000000000000A".to_owned(),
            settled_at: domain::Time::from_millis(1_767_225_600_000),
        };
        Self::from(&ToppedUp { balance: Micro::new(5_250_000), receipt })
    }
}
