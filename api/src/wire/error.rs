//! The bodies of error responses. [`crate::http::refusal`] sets status and headers, and `domain` defines the
//! texts; neither belongs here.

use domain::Refusal;
use poem_openapi::Object;

use super::Usd;

/// The body of every error except 402, which has a challenge.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Error {
    /// The error code. The same cause always has the same code.
    pub code: String,
    /// What is wrong with this request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
}

/// The price of this request and how to pay it.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Challenge {
    /// Always `payment_required`.
    pub code: String,
    /// What the payment is for, such as `publish`.
    pub reason: String,
    /// The price, plus the account's negative balance if it has one. An inline payment must equal it exactly.
    pub amount_usd: Usd,
    /// The payment methods.
    pub accepts: Vec<Accept>,
    /// What is wrong with this request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
}

/// A payment method. It has `instructions` if it is available here, and a `status` if it is not.
#[derive(Debug, Object)]
pub struct Accept {
    /// `dev`, `x402-usdc-base` or `mpp-card`.
    pub scheme: String,
    #[oai(skip_serializing_if_is_none)]
    pub instructions: Option<String>,
    #[oai(skip_serializing_if_is_none)]
    pub status: Option<String>,
}

impl From<&Refusal> for Error {
    fn from(refusal: &Refusal) -> Self {
        Self { code: refusal.code().to_owned(), message: refusal.message(), hint: refusal.hint() }
    }
}

impl From<&domain::Challenge> for Challenge {
    fn from(challenge: &domain::Challenge) -> Self {
        Self {
            code: "payment_required".to_owned(),
            reason: challenge.reason.clone(),
            amount_usd: challenge.amount.into(),
            accepts: challenge.accepts.iter().map(Accept::from).collect(),
            message: challenge.message.clone(),
            hint: challenge.hint.clone(),
        }
    }
}

impl From<&domain::Accept> for Accept {
    fn from(accept: &domain::Accept) -> Self {
        let domain::Accept { scheme, instructions, status } = accept.clone();
        Self { scheme, instructions, status }
    }
}

impl poem_openapi::types::Example for Error {
    fn example() -> Self {
        Self::from(&Refusal::NotFound(domain::Missing::Artifact))
    }
}

impl poem_openapi::types::Example for Challenge {
    fn example() -> Self {
        let price = domain::Micro::new(5_000);
        Self::from(&domain::Challenge::new("publish", price, domain::PaymentMethods::DEFAULT))
    }
}
