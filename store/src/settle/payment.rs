//! How a settlement becomes entries: what an inline payment brings in comes before what the call takes out.

use domain::{JobId, Micro, Reason, Receipt, Settlement};

use super::book::Book;

/// The rail of `X-PAYMENT: dev:…`, the only one that settles inline.
const DEV_RAIL: &str = "dev";

/// Spec 4.9: an inline payment is credited, then spent. The receipt is for the payment, if there was one.
pub(super) fn pay(
    book: &mut Book,
    settlement: Settlement,
    payment: JobId,
    reason: &Reason,
) -> Option<Receipt> {
    let receipt = (settlement.credited > Micro::ZERO).then(|| credit(book, settlement.credited, payment));
    book.enter(-settlement.charged, reason);
    receipt
}

/// Credits a payment by the dev rail. The same payment again adds nothing.
pub(super) fn credit(book: &mut Book, amount: Micro, payment: JobId) -> Receipt {
    book.enter(amount, &Reason::DevTopUp(payment));
    Receipt { rail: DEV_RAIL.to_owned(), amount, id: payment.to_string(), settled_at: book.now }
}
