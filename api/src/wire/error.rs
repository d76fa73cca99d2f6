//! The bodies of everything that is not a success. Status and headers are given in [`crate::http::refusal`], words in
//! `domain`; none must be made up here.

use domain::Refusal;
use poem_openapi::Object;

use super::Usd;

/// Every error has this body; only a 402 has another, the challenge.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Error {
    /// What kind of error it is: the same word for the same cause.
    pub code: String,
    /// What is wrong with this very request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
}

/// What settles this exact request now, and how.
#[derive(Debug, Object)]
#[oai(example)]
pub struct Challenge {
    /// Always `payment_required`.
    pub code: String,
    /// What the money is for, such as `publish`.
    pub reason: String,
    /// The price, or the price plus the account's arrears. An inline payment must equal it exactly.
    pub amount_usd: Usd,
    /// The ways to pay.
    pub accepts: Vec<Accept>,
    /// What is wrong with this very request.
    pub message: String,
    /// The next call to make.
    pub hint: String,
}

/// One way to pay: with `instructions` where it can settle here, with a `status` where it cannot.
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
