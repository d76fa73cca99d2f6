//! The number of immediate sweeps of blobs so far. A publish compares the number before and after.

use sea_orm_migration::prelude::*;

use crate::IN_ONE_GO;

#[derive(DeriveMigrationName)]
pub struct Migration;

/// One row, which must always exist, because publishes read it.
const SQL: &str = "
CREATE TABLE blob_sweeps (
    id INTEGER NOT NULL,
    number BIGINT NOT NULL,
    CONSTRAINT blob_sweeps_pk PRIMARY KEY (id),
    CONSTRAINT blob_sweeps_one_row CHECK (id = 1),
    CONSTRAINT blob_sweeps_number_not_negative CHECK (number >= 0)
);
INSERT INTO blob_sweeps (id, number) VALUES (1, 0);
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
