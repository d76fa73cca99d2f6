//! The account that each checkout session credited, and how much of the payment was refunded or disputed
//! since. A refund names only the payment, and a session must not credit a second account.
//!
//! Payments that were credited earlier have no `payment_intent` here: their refunds are reported and booked
//! by hand. Processes of the previous release write no rows; a session that they credit is still credited
//! once in its account.

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::DbBackend;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// Reading a large ledger takes longer than the pool's statement timeout.
const POSTGRES_PATIENCE: &str = "SET LOCAL statement_timeout = 0";

/// 22 is the position after `topup-card-processor:`.
const SQL: &str = "
CREATE TABLE card_payments (
    session TEXT NOT NULL,
    account_id TEXT NOT NULL,
    payment_intent TEXT,
    credited_micro BIGINT NOT NULL,
    refunded_micro BIGINT NOT NULL,
    disputed_micro BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT card_payments_pk PRIMARY KEY (session),
    CONSTRAINT card_payments_account_fk FOREIGN KEY (account_id) REFERENCES accounts (id) ON DELETE CASCADE,
    CONSTRAINT card_payments_reversed_at_most_once
        CHECK (refunded_micro >= 0 AND disputed_micro >= 0 AND refunded_micro + disputed_micro <= credited_micro)
);
CREATE INDEX card_payments_by_account ON card_payments (account_id);
CREATE INDEX card_payments_by_intent ON card_payments (payment_intent);
INSERT INTO card_payments
    (session, account_id, payment_intent, credited_micro, refunded_micro, disputed_micro, created_at)
SELECT substr(reason, 22), MIN(account_id), NULL, MIN(delta_micro), 0, 0, MIN(created_at)
FROM ledger_entries WHERE reason LIKE 'topup-card-processor:%' GROUP BY substr(reason, 22);
";

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let connection = manager.get_connection();
        if manager.get_database_backend() == DbBackend::Postgres {
            connection.execute_unprepared(POSTGRES_PATIENCE).await?;
        }
        connection.execute_unprepared(SQL).await?;
        Ok(())
    }
}
