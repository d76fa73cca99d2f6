//! The first schema. Its SQL is in a file of its own and valid for both databases.

use sea_orm_migration::prelude::*;

use crate::IN_ONE_GO;

/// Creates every table of the service.
#[derive(DeriveMigrationName)]
pub struct Migration;

#[async_trait::async_trait]
impl MigrationTrait for Migration {
    fn use_transaction(&self) -> Option<bool> {
        IN_ONE_GO
    }

    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.get_connection().execute_unprepared(include_str!("m0001_the_house.sql")).await?;
        Ok(())
    }
}
