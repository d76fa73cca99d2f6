//! Payments that callers offer, the challenge of a 402, and receipts. A challenge must never ask for a
//! payment that cannot settle on this deployment.

use serde::{Deserialize, Serialize};

use crate::{Micro, Time};

const NO_METHOD: &str = "and ask the operator for credit, because no payment settles here";

/// The payment in an `X-PAYMENT` header.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Payment {
    /// `dev:<amount_usd>`: settles instantly, without real money.
    Dev(Micro),
    /// Anything else. It settles nothing, and a call that costs nothing ignores it.
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

/// A way to pay: with instructions if it can settle here, otherwise with a status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accept {
    pub scheme: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
}

/// Whether `dev:<amount_usd>` settles on this deployment, which it does only in dev mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DevPaymentTerms {
    Open,
    Closed,
}

/// Whether an account's owner can buy credit by card on this deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CardTerms {
    Open,
    Closed,
}

/// The payment methods of this deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PaymentMethods {
    pub dev: DevPaymentTerms,
    pub card: CardTerms,
}

impl PaymentMethods {
    /// The defaults of the configuration.
    pub const DEFAULT: PaymentMethods =
        PaymentMethods { dev: DevPaymentTerms::Open, card: CardTerms::Closed };
}

impl Challenge {
    /// The reason of a challenge for buying credit.
    const OF_CREDIT: &str = "credits";

    /// The challenge for a call that costs this much.
    pub fn new(reason: &str, amount: Micro, methods: PaymentMethods) -> Self {
        let way = match methods {
            PaymentMethods { dev: DevPaymentTerms::Open, .. } => format!(
                "then resend the identical request with the header X-PAYMENT: dev:{amount}, or buy credit with \
                 POST /v1/credits and retry with no header"
            ),
            PaymentMethods { card: CardTerms::Open, .. } => {
                "and have the account's owner buy credit on the dashboard, then retry with no header"
                    .to_owned()
            }
            PaymentMethods { card: CardTerms::Closed, .. } => NO_METHOD.to_owned(),
        };
        Self {
            reason: reason.to_owned(),
            amount,
            message: format!(
                "this call costs {amount} USD and the account has no allowance or credit for it"
            ),
            hint: format!("tell your human the price ({amount} USD), {way}"),
            accepts: ways_to_pay(amount, methods.dev),
        }
    }

    /// The challenge for buying credit, which costs its face value (spec 4.8).
    pub fn of_credit(amount: Micro, methods: PaymentMethods) -> Self {
        let way = match methods {
            PaymentMethods { dev: DevPaymentTerms::Open, .. } => {
                format!("then resend the identical request with the header X-PAYMENT: dev:{amount}")
            }
            PaymentMethods { card: CardTerms::Open, .. } => {
                "and have the account's owner buy credit by card on the dashboard: no payment by header settles here"
                    .to_owned()
            }
            PaymentMethods { card: CardTerms::Closed, .. } => NO_METHOD.to_owned(),
        };
        Self {
            reason: Self::OF_CREDIT.to_owned(),
            amount,
            message: format!("{amount} USD of credit costs exactly {amount} USD; nothing has been paid yet"),
            hint: format!("tell your human the amount ({amount} USD), {way}"),
            accepts: ways_to_pay(amount, methods.dev),
        }
    }

    /// The same challenge, for a payment that does not match it.
    #[must_use]
    pub fn refusing(mut self, payment: &Payment) -> Self {
        let settles_here = self.accepts.iter().any(|accept| accept.instructions.is_some());
        self.message = match payment {
            _ if !settles_here => {
                "a payment by X-PAYMENT does not settle here; nothing was charged".to_owned()
            }
            Payment::Dev(offered) => format!(
                "the payment of {offered} USD does not match: exactly {} USD settles this call; nothing was charged",
                self.amount
            ),
            Payment::Unreadable => {
                "X-PAYMENT is not a payment that settles here; nothing was charged".to_owned()
            }
        };
        self
    }

    /// The same challenge for a caller of MCP tools, who cannot send a header and buys this much credit
    /// first.
    #[must_use]
    pub fn settled_by_tool(mut self, top_up: Micro) -> Self {
        let price = self.amount;
        for accept in self.accepts.iter_mut().filter(|accept| accept.instructions.is_some()) {
            let call = format!(
                "add_credits with {{\"amount_usd\": {top_up}, \"payment_scheme\": \"{}\"}}",
                accept.scheme
            );
            self.hint = format!(
                "tell your human the price ({price} USD) and the credit that you would buy for it ({top_up} USD), then \
                 call {call} and make this same call again"
            );
            accept.instructions = Some(format!("call {call}, then make the same call again"));
        }
        self
    }

    /// The same challenge for a request that may not use the dev payment.
    #[must_use]
    pub fn without_dev(self, card: CardTerms) -> Self {
        let methods = PaymentMethods { dev: DevPaymentTerms::Closed, card };
        let closed = match self.reason.as_str() {
            Self::OF_CREDIT => Self::of_credit(self.amount, methods),
            reason => Self::new(reason, self.amount, methods),
        };
        closed.saying(self.message)
    }

    #[must_use]
    pub fn saying(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }
}

fn ways_to_pay(amount: Micro, dev: DevPaymentTerms) -> Vec<Accept> {
    let dev = match dev {
        DevPaymentTerms::Open => Accept::open(
            "dev",
            format!("resend the identical request with the header X-PAYMENT: dev:{amount}"),
        ),
        DevPaymentTerms::Closed => Accept::closed("dev", "disabled"),
    };
    vec![dev, Accept::closed("x402-usdc-base", "stub"), Accept::closed("mpp-card", "stub")]
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

    const CARD_ALONE: PaymentMethods = PaymentMethods { dev: DevPaymentTerms::Closed, card: CardTerms::Open };
    const NONE: PaymentMethods = PaymentMethods { dev: DevPaymentTerms::Closed, card: CardTerms::Closed };

    #[test]
    fn payment_header_is_parsed_strictly() {
        assert_eq!(Payment::parse("dev:0.005"), Payment::Dev(Micro::new(5_000)));
        assert_eq!(Payment::parse("dev:0.0050000"), Payment::Dev(Micro::new(5_000)));
        assert_eq!(Payment::parse(" dev:5 "), Payment::Dev(Micro::new(5_000_000)));
        for bad in ["", "dev:", "dev:abc", "dev:0.0000001", "x402:0.005", "0.005"] {
            assert_eq!(Payment::parse(bad), Payment::Unreadable, "{bad}");
        }
    }

    #[test]
    fn tool_challenge_advises_to_buy_credit_only_where_that_settles() {
        let (price, top_up) = (Micro::new(5_000), Micro::new(1_000_000));
        let open = Challenge::new("publish", price, PaymentMethods::DEFAULT).settled_by_tool(top_up);
        for text in [&open.hint, open.accepts[0].instructions.as_ref().unwrap()] {
            assert!(
                text.contains(r#"add_credits with {"amount_usd": 1, "payment_scheme": "dev"}"#),
                "{text}"
            );
            assert!(!text.contains("X-PAYMENT"), "{text}");
        }
        assert_eq!(open.amount, price);
        let closed = Challenge::new("publish", price, CARD_ALONE);
        assert_eq!(closed.clone().settled_by_tool(top_up), closed);
    }

    #[test]
    fn only_open_payment_methods_have_instructions() {
        let price = Micro::new(5_000);
        let challenges =
            |methods| [Challenge::new("publish", price, methods), Challenge::of_credit(price, methods)];
        for open in challenges(PaymentMethods::DEFAULT) {
            assert!(open.accepts[0].instructions.as_deref().unwrap().ends_with("dev:0.005"));
            assert!(open.hint.contains("X-PAYMENT: dev:0.005"), "{}", open.hint);
        }
        for closed in [CARD_ALONE, NONE].into_iter().flat_map(challenges) {
            let settles = |accept: &Accept| accept.instructions.is_some() || accept.status.is_none();
            assert!(!closed.accepts.iter().any(settles));
            assert!(!closed.hint.contains("X-PAYMENT"), "{}", closed.hint);
        }
    }

    #[test]
    fn challenge_without_dev_payment_equals_one_of_a_deployment_without_it() {
        let price = Micro::new(5_000);
        let challenges =
            |methods| [Challenge::new("publish", price, methods), Challenge::of_credit(price, methods)];
        for (open, closed) in challenges(PaymentMethods::DEFAULT).into_iter().zip(challenges(NONE)) {
            assert_eq!(open.clone().without_dev(CardTerms::Closed), closed);
            assert_eq!(open.saying("owes").without_dev(CardTerms::Closed).message, "owes");
        }
    }

    #[test]
    fn challenge_mentions_the_dashboard_only_if_cards_are_accepted() {
        let price = Micro::new(5_000);
        let hints = |methods| {
            [Challenge::new("publish", price, methods), Challenge::of_credit(price, methods)]
                .map(|one| one.hint)
        };
        for hint in hints(CARD_ALONE) {
            assert!(hint.contains("USD), and have the account's owner buy credit"), "{hint}");
        }
        for hint in hints(NONE) {
            assert!(!hint.contains("dashboard") && hint.contains("USD), and ask the operator"), "{hint}");
        }
    }
}
