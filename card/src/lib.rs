//! The card processor, which speaks Stripe's shapes: checkouts are opened there, and its word comes back signed.
//!
//! Nothing here moves money or knows an account: what a paid checkout means, `service` decides. Neither the key nor
//! the webhook's secret may come out of `Debug`, of an error or into a log.

mod event;
mod processor;
mod webhook;

pub use event::{CardEvent, EventKind, Livemode, NotJson, PaidCheckout};
pub use processor::{CardProcessor, CheckoutOrder, CheckoutSession, ProcessorAddress, ProcessorFault};
pub use webhook::{BadSignature, WebhookSecret};

/// What is configured of card payment; what is not has no calls.
#[derive(Clone, Debug, Default)]
pub struct CardPayments {
    pub processor: Option<CardProcessor>,
    pub webhook_secret: Option<WebhookSecret>,
    /// Events of the other mode move no money here.
    pub livemode: Livemode,
}

/// The id of a session, a refund or a dispute becomes part of a ledger's reason, so it is short and visible.
const PROCESSOR_ID_BYTES_MAX: usize = 255;

fn is_processor_id(text: &str) -> bool {
    (1..=PROCESSOR_ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
