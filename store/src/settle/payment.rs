//! The ledger entries of an inline payment: its credit comes before the charge.

use domain::{JobId, Micro, Reason, Receipt, Settlement};

use super::batch::BatchState;

/// The payment method of `X-PAYMENT: dev:…`, the only one that settles inline.
const DEV_METHOD: &str = "dev";

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

/// Credits a payment by the dev method. A repeated payment adds nothing.
pub(super) fn credit(batch: &mut BatchState, amount: Micro, payment: JobId) -> Receipt {
    batch.enter(amount, &Reason::DevTopUp(payment));
    Receipt { rail: DEV_METHOD.to_owned(), amount, id: payment.to_string(), settled_at: batch.now }
}
