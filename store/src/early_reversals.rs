//! Refunds and disputes that arrive before their payment is credited. The card processor sends events in any
//! order and does not repeat an acknowledged one.

use std::time::Duration;

use anyhow::{Context, bail};
use domain::{CardReversal, Micro, ReversalExtent, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder};

use crate::handles::LedgerStore;

/// Longer than the processor repeats an event. Reversals that are left then belong to payments of other
/// systems.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3600);
const REFUNDED_IN_ALL: &str = "refunded_in_all";
const DISPUTED: &str = "disputed";

impl LedgerStore<'_> {
    /// Stores a reversal until its payment is credited. A repeated reversal changes nothing.
    pub async fn keep_early_reversal(self, reversal: &CardReversal, now: Time) -> anyhow::Result<()> {
        use entity::early_card_reversal::{ActiveModel, Column, Entity};
        let (kind, amount) = match reversal.extent {
            ReversalExtent::RefundedInAll(amount) => (REFUNDED_IN_ALL, amount),
            ReversalExtent::Disputed(amount) => (DISPUTED, amount),
        };
        let row = ActiveModel {
            id: Set(reversal.id.clone()),
            payment_intent: Set(reversal.payment_intent.clone()),
            kind: Set(kind.to_owned()),
            amount_micro: Set(amount.get()),
            created_at: Set(now.millis()),
        };
        Entity::insert(row)
            .on_conflict_do_nothing_on([Column::Id])
            .exec_without_returning(&self.0.database.writer)
            .await
            .context("store a reversal of a card payment")?;
        Ok(())
    }

    /// The early reversals of a payment, in the order of arrival.
    pub async fn list_early_reversals(self, payment_intent: &str) -> anyhow::Result<Vec<CardReversal>> {
        use entity::early_card_reversal::{Column, Entity};
        let found = Entity::find()
            .filter(Column::PaymentIntent.eq(payment_intent))
            .order_by_asc(Column::CreatedAt)
            .order_by_asc(Column::Id)
            .all(&self.0.database.reader)
            .await
            .context("read early reversals of a card payment")?;
        found.into_iter().map(reversal).collect()
    }

    pub(crate) async fn sweep_early_reversals(self, now: Time) -> anyhow::Result<u64> {
        use entity::early_card_reversal::{Column, Entity};
        let deleted = Entity::delete_many()
            .filter(Column::CreatedAt.lt(now.minus(KEPT).millis()))
            .exec(&self.0.database.writer)
            .await
            .context("delete old reversals of card payments")?;
        Ok(deleted.rows_affected)
    }
}

fn reversal(row: entity::early_card_reversal::Model) -> anyhow::Result<CardReversal> {
    let amount = Micro::new(row.amount_micro);
    let extent = match row.kind.as_str() {
        REFUNDED_IN_ALL => ReversalExtent::RefundedInAll(amount),
        DISPUTED => ReversalExtent::Disputed(amount),
        kind => bail!("the reversal {} has the unknown kind {kind}", row.id),
    };
    Ok(CardReversal { id: row.id, payment_intent: row.payment_intent, extent })
}
