//! Refunds and disputes that the card processor reported before their payment. `card_payments` cannot hold
//! them, because its rows name the account, which only the payment's own event contains.
//!
//! Processes of the previous release neither read nor write this table: during an upgrade such an event is
//! logged, as before.

use sea_orm_migration::prelude::*;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
CREATE TABLE early_card_reversals (
    id TEXT NOT NULL,
    payment_intent TEXT NOT NULL,
    kind TEXT NOT NULL,
    amount_micro BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT early_card_reversals_pk PRIMARY KEY (id),
    CONSTRAINT early_card_reversals_kind CHECK (kind IN ('refunded_in_all', 'disputed'))
);
CREATE INDEX early_card_reversals_by_intent ON early_card_reversals (payment_intent);
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(SQL).await?;
        Ok(())
    }
}
