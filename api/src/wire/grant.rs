//! Credit that an operator grants or deducts.

use domain::{MalformedReason, Micro, Reason, Refusal, RulingNote};
use poem_openapi::Object;
use poem_openapi::types::Example;
use service::CreditGrant;

use super::text::typed_texts;
use super::{Amount, Usd};

typed_texts! {
    TypedAccount: min_length: Some(1), max_length: Some(40), pattern: Some("^[A-Za-z0-9_]+$".to_owned());
    TypedReason: min_length: Some(1), max_length: Some(RulingNote::LENGTH_MAX),
        pattern: Some(RulingNote::PATTERN.to_owned());
    TypedId: pattern: Some("^[0-7][0-9A-HJKMNP-TV-Z]{25}$".to_owned());
}

/// The account and the amount.
#[derive(Object)]
#[oai(example)]
pub struct GrantCredit {
    /// The account's handle or id.
    pub account: TypedAccount,
    /// US dollars, from -10,000 to 10,000, with at most six decimals. A negative amount deducts credit.
    pub amount_usd: Amount<-10_000, 10_000>,
    /// The reason. Only the operator's staff can see it.
    pub reason: TypedReason,
    /// A ULID that you choose. Repeating the call with the same id grants the credit only once. Without it,
    /// every call is a new grant.
    pub id: Option<TypedId>,
}

/// The account's balance after the grant.
#[derive(Debug, Object)]
#[oai(example)]
pub struct CreditGranted {
    pub handle: String,
    pub id: String,
    /// The reason of the ledger entry.
    pub ledger_reason: String,
    pub amount_usd: Usd,
    /// The balance. It can be negative.
    pub credits_usd: Usd,
    /// Whether this call granted the credit. False if an earlier call with the same id did.
    pub is_new: bool,
}

impl GrantCredit {
    pub fn read(self) -> Result<CreditGrant, Refusal> {
        let invalid = |fault: MalformedReason| Refusal::invalid("reason", fault.to_string());
        let malformed = |_| Refusal::invalid("id", "is not a ULID");
        let id = self.id.map(|id| id.0.parse()).transpose().map_err(malformed)?;
        Ok(CreditGrant {
            account: self.account.0,
            amount: self.amount_usd.0,
            note: self.reason.0.parse().map_err(invalid)?,
            id,
        })
    }
}

impl From<&service::Granted> for CreditGranted {
    fn from(granted: &service::Granted) -> Self {
        Self {
            handle: granted.handle.clone(),
            id: granted.id.to_string(),
            ledger_reason: Reason::OperatorCredit(granted.id).to_string(),
            amount_usd: granted.amount.into(),
            credits_usd: granted.balance.into(),
            is_new: granted.is_new,
        }
    }
}

impl Example for GrantCredit {
    fn example() -> Self {
        Self {
            account: TypedAccount("acct_k3x9m2p4q7r1".to_owned()),
            amount_usd: Amount(Micro::new(5_000_000)),
            reason: TypedReason("Compensation for the outage of 3 May".to_owned()),
            id: Some(TypedId("01K0000000000000000000000A".to_owned())),
        }
    }
}

impl Example for CreditGranted {
    fn example() -> Self {
        let id = "01K0000000000000000000000A".to_owned();
        Self {
            handle: "acct_k3x9m2p4q7r1".to_owned(),
            ledger_reason: format!("operator-credit:{id}"),
            id,
            amount_usd: Micro::new(5_000_000).into(),
            credits_usd: Micro::new(5_250_000).into(),
            is_new: true,
        }
    }
}
