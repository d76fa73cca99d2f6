//! What a caller offers, what a 402 demands, and what proves a payment. A challenge must never tell a caller to pay
//! in a way that cannot settle here.

use serde::{Deserialize, Serialize};

use crate::{Micro, Time};

/// What the `X-PAYMENT` header offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payment {
    /// `dev:<amount_usd>`: instant, no real money.
    Dev(Micro),
    /// Anything else. It settles nothing, but a call that costs nothing ignores it.
    Unreadable,
}

impl Payment {
    pub fn parse(header: &str) -> Self {
        header
            .trim()
            .strip_prefix("dev:")
            .and_then(Micro::parse_usd)
            .map_or(Payment::Unreadable, Payment::Dev)
    }
}

/// Proof of a settled payment (spec 2.10).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub rail: String,
    pub amount: Micro,
    pub id: String,
    pub settled_at: Time,
}

/// The body of a 402 (spec 2.9): what settles this exact request now, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Challenge {
    pub reason: String,
    pub amount: Micro,
    pub message: String,
    pub hint: String,
    pub accepts: Vec<Accept>,
}

/// One way to pay: with instructions where it can settle here, with a status where it cannot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accept {
    pub scheme: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

impl Challenge {
    pub fn new(reason: &str, amount: Micro, dev_rail_is_open: bool) -> Self {
        let dev = if dev_rail_is_open {
            Accept::open(
                "dev",
                format!("resend the identical request with the header X-PAYMENT: dev:{amount}"),
            )
        } else {
            Accept::closed("dev", "disabled")
        };
        let hint = if dev_rail_is_open {
            format!(
                "tell your human the price ({amount} USD), then resend the identical request with the header \
                 X-PAYMENT: dev:{amount}, or buy credit with POST /v1/credits and retry with no header"
            )
        } else {
            format!(
                "tell your human the price ({amount} USD), have the account's owner buy credit on the dashboard, \
                 then retry with no header"
            )
        };
        Self {
            reason: reason.to_owned(),
            amount,
            message: format!(
                "this call costs {amount} USD and the account has no allowance or credit for it"
            ),
            hint,
            accepts: vec![dev, Accept::closed("x402-usdc-base", "stub"), Accept::closed("mpp-card", "stub")],
        }
    }

    /// The same challenge, told to one whose payment did not fit it.
    #[must_use]
    pub fn refusing(mut self, payment: &Payment) -> Self {
        self.message = match payment {
            Payment::Dev(offered) => format!(
                "the payment of {offered} USD does not match: exactly {} USD settles this call; nothing was charged",
                self.amount
            ),
            Payment::Unreadable => {
                "X-PAYMENT is not of a form that settles here; nothing was charged".to_owned()
            }
        };
        self
    }

    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}

impl Accept {
    fn open(scheme: &str, instructions: String) -> Self {
        Self { scheme: scheme.to_owned(), instructions: Some(instructions), status: None }
    }

    fn closed(scheme: &str, status: &str) -> Self {
        Self { scheme: scheme.to_owned(), instructions: None, status: Some(status.to_owned()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_read_exactly_or_not_at_all() {
        assert_eq!(Payment::parse("dev:0.005"), Payment::Dev(Micro::new(5_000)));
        assert_eq!(Payment::parse(" dev:5 "), Payment::Dev(Micro::new(5_000_000)));
        for bad in ["", "dev:", "dev:abc", "dev:0.0000001", "x402:0.005", "0.005"] {
            assert_eq!(Payment::parse(bad), Payment::Unreadable, "{bad}");
        }
    }

    #[test]
    fn only_a_rail_that_settles_here_carries_instructions() {
        let open = Challenge::new("publish", Micro::new(5_000), true);
        assert!(open.accepts[0].instructions.as_deref().unwrap().ends_with("dev:0.005"));
        let closed = Challenge::new("publish", Micro::new(5_000), false);
        assert!(closed.accepts.iter().all(|accept| accept.instructions.is_none() && accept.status.is_some()));
    }
}
