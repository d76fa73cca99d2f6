//! The schema's history: one file per change, forward only, every constraint named, the same for SQLite and
//! PostgreSQL.
//!
//! A change that has landed is never edited; a correction is the next file.

use sea_orm_migration::prelude::*;

mod m0001_the_house;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(m0001_the_house::Migration)]
    }
}

/// Brings the database to the newest schema.
pub async fn migrate(database: &DatabaseConnection) -> Result<(), DbErr> {
    Migrator::up(database, None).await
}

/// Whether the database has the newest schema; a role does not start on an older one.
pub async fn is_current(database: &DatabaseConnection) -> Result<bool, DbErr> {
    Ok(Migrator::get_pending_migrations(database).await?.is_empty())
}

pub use sea_orm_migration::sea_orm::{DatabaseConnection, DbErr};
