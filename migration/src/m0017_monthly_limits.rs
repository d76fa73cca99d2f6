//! The free limits that were in force in a month. Without them, `ledger check` would report publishes as
//! tampering that were free under a limit that was lowered later.
//!
//! Processes of the previous release write none. A month without a row is checked against the limits of the
//! settings.

use sea_orm_migration::prelude::*;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

const SQL: &str = "
CREATE TABLE monthly_limits (
    month TEXT NOT NULL,
    provisional_free_publishes BIGINT NOT NULL,
    claimed_free_publishes BIGINT NOT NULL,
    CONSTRAINT monthly_limits_pk PRIMARY KEY (month)
);
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
