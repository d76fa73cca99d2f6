//! Card payments in the ledger: credits by checkout sessions, and refunds and disputes. Each session credits
//! one account, and no more than its credit is ever taken back.

use domain::{CardPayment, CardReversalOperation, Micro, ReversalExtent};
use sea_orm::ActiveValue::Set;
use sea_orm::{
    ActiveModelTrait, ColumnTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, QueryFilter,
    QuerySelect,
};

use super::batch::BatchState;
use crate::handles::LedgerStore;
use crate::rows;

/// Credits the account. Returns false if the session has credited this account or another one before.
pub(super) async fn credit(
    transaction: &DatabaseTransaction,
    batch: &mut BatchState,
    amount: Micro,
    payment: &CardPayment,
    reason: &str,
) -> anyhow::Result<bool> {
    let account = batch.account_id()?.to_string();
    if let Some(earlier) = entity::card_payment::Entity::find_by_id(&payment.session).one(transaction).await?
    {
        // A release without payment intents credited it.
        if earlier.account_id == account && earlier.payment_intent.is_none() {
            let mut row = earlier.into_active_model();
            row.payment_intent = Set(payment.payment_intent.clone());
            row.update(transaction).await?;
        }
        return Ok(false);
    }
    let is_new = batch.enter(amount, &reason);
    // If two accounts are credited at the same moment, the primary key makes one of the commits fail, and the
    // processor repeats its event.
    let row = entity::card_payment::ActiveModel {
        session: Set(payment.session.clone()),
        account_id: Set(account),
        payment_intent: Set(payment.payment_intent.clone()),
        credited_micro: Set(amount.get()),
        refunded_micro: Set(0),
        disputed_micro: Set(0),
        created_at: Set(batch.now.millis()),
    };
    entity::card_payment::Entity::insert(row).exec_without_returning(transaction).await?;
    batch.record_real_payment();
    Ok(is_new)
}

/// Takes back the part of a reversal that was not taken back before. Returns false if nothing is left to take
/// back.
pub(super) async fn reverse(
    transaction: &DatabaseTransaction,
    batch: &mut BatchState,
    operation: &CardReversalOperation,
) -> anyhow::Result<bool> {
    use entity::card_payment::Column;
    let found = entity::card_payment::Entity::find()
        .filter(Column::PaymentIntent.eq(operation.reversal.payment_intent.as_str()))
        .filter(Column::AccountId.eq(operation.account.to_string()))
        .one(transaction)
        .await?;
    let Some(payment) = found else { return Ok(false) };
    let left = payment.credited_micro - payment.refunded_micro - payment.disputed_micro;
    let wanted = match operation.reversal.extent {
        ReversalExtent::RefundedInAll(in_all) => in_all.get() - payment.refunded_micro,
        ReversalExtent::Disputed(amount) => amount.get(),
    };
    let taken = wanted.min(left);
    if taken <= 0 || !batch.enter(Micro::new(-taken), &operation.reason()) {
        return Ok(false);
    }
    let (refunded, disputed) = (payment.refunded_micro, payment.disputed_micro);
    let mut row = payment.into_active_model();
    match operation.reversal.extent {
        ReversalExtent::RefundedInAll(_) => row.refunded_micro = Set(refunded + taken),
        ReversalExtent::Disputed(_) => row.disputed_micro = Set(disputed + taken),
    }
    row.update(transaction).await?;
    Ok(true)
}

impl LedgerStore<'_> {
    /// The account that a card payment credited.
    pub async fn find_account_of_card_payment(
        self,
        payment_intent: &str,
    ) -> anyhow::Result<Option<domain::AccountId>> {
        use entity::card_payment::Column;
        let found: Option<String> = entity::card_payment::Entity::find()
            .select_only()
            .column(Column::AccountId)
            .filter(Column::PaymentIntent.eq(payment_intent))
            .into_tuple()
            .one(&self.0.database.reader)
            .await?;
        found.map(|account| rows::parse(&account, "an account id")).transpose()
    }
}
