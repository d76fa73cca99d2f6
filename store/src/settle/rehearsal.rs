//! The rehearsal of a publish: it is settled in memory, from the same rows and by the same rules as a real
//! one, and nothing is written. So its refusal is the one that the publish would get now.

use anyhow::Context;
use domain::{LedgerOperation, Micro, Outcome, PublishOperation};
use sea_orm::{EntityTrait, TransactionTrait};

use super::context::SettleContext;
use super::{Batch, Past, Terms, settle_one};
use crate::Store;

/// What a publish would do.
#[derive(Clone, Debug)]
pub struct Rehearsed {
    /// The id and the host of a new artifact are made up.
    pub outcome: Outcome,
    /// What it would charge. Zero if it would be refused.
    pub price: Micro,
}

impl Store {
    /// What a publish would do now. It takes no lock, so the publish itself may find another state.
    pub async fn rehearse(&self, operation: PublishOperation, terms: &Terms) -> anyhow::Result<Rehearsed> {
        let (account, payment) = (operation.order.account, operation.order.payment.clone());
        let operations = [LedgerOperation::Publish(Box::new(operation))];
        let batch = Batch { account, operations: &operations };
        let transaction = self.database.reader.begin().await.context("begin a rehearsal")?;
        let row = entity::account::Entity::find_by_id(account.to_string()).one(&transaction).await?;
        let rows = row.into_iter().collect();
        let mut context = SettleContext::open(&transaction, rows, &[batch], terms, Past::Unchecked).await?;
        let before = context.state_of(account).map(|(batch, _)| batch.billing_state());
        let [operation] = &operations;
        let outcome = settle_one(&transaction, &mut context, operation, terms).await?;
        // The settled state is only in memory. It is dropped, never written.
        transaction.rollback().await.context("end a rehearsal")?;
        let settlement = before.map(|state| terms.tariff.settle_publish(state, payment.as_ref()));
        let price = match (&outcome, settlement) {
            (Outcome::Published(_), Some(Ok(settlement))) => settlement.charged,
            _ => Micro::ZERO,
        };
        Ok(Rehearsed { outcome, price })
    }
}
