//! The card processor, with Stripe's API: opens checkouts and verifies its signed webhook calls.
//!
//! Nothing here moves money or knows accounts: `service` decides what a paid checkout means. The key and the
//! webhook's secret must never appear in `Debug` output, errors or logs.

mod event;
mod processor;
mod webhook;

pub use event::{CardEvent, EventKind, Livemode, NotJson, PaidCheckout};
pub use processor::{CardProcessor, CheckoutOrder, CheckoutSession, ProcessorAddress, ProcessorFault};
pub use webhook::{BadSignature, WebhookSecret};

/// The configured parts of card payment. The routes of an unconfigured part are not served.
#[derive(Clone, Debug, Default)]
pub struct CardPayments {
    pub processor: Option<CardProcessor>,
    pub webhook_secret: Option<WebhookSecret>,
    /// Events of the other mode move no money.
    pub livemode: Livemode,
}

/// The id of a session, a refund or a dispute becomes part of a ledger entry's reason, so it must be short
/// and printable.
const PROCESSOR_ID_BYTES_MAX: usize = 255;

fn is_processor_id(text: &str) -> bool {
    (1..=PROCESSOR_ID_BYTES_MAX).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}
