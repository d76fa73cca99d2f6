//! How a settlement becomes entries: what an inline payment brings in comes before what the call takes out.

use domain::{JobId, Micro, Reason, Receipt, Settlement};

use super::batch::BatchState;

/// The rail of `X-PAYMENT: dev:…`, the only one that settles inline.
const DEV_RAIL: &str = "dev";

/// Spec 4.9: an inline payment is credited, then spent. The receipt is for the payment, if there was one.
pub(super) fn pay(
    batch: &mut BatchState,
    settlement: Settlement,
    payment: JobId,
    reason: &Reason,
) -> Option<Receipt> {
    let receipt = (settlement.credited > Micro::ZERO).then(|| credit(batch, settlement.credited, payment));
    batch.enter(-settlement.charged, reason);
    receipt
}

/// Credits a payment by the dev rail. The same payment again adds nothing.
pub(super) fn credit(batch: &mut BatchState, amount: Micro, payment: JobId) -> Receipt {
    batch.enter(amount, &Reason::DevTopUp(payment));
    Receipt { rail: DEV_RAIL.to_owned(), amount, id: payment.to_string(), settled_at: batch.now }
}
