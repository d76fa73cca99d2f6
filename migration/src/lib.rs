//! The schema's history: one file per migration, forward only. Every constraint is named, and the SQL is the
//! same for SQLite and PostgreSQL where possible.
//!
//! A landed migration is never edited. The next file corrects it.

use std::collections::HashSet;

use sea_orm_migration::prelude::*;
use sea_orm_migration::sea_orm::{DbBackend, EntityTrait};
use sea_orm_migration::seaql_migrations;

mod m0001_the_house;
mod m0002_sweeps_at_once;
mod m0003_daily_views;
mod m0004_scans;
mod m0005_moderators;
mod m0006_indexes_in_use;
mod m0007_rulings;
mod m0008_lost_contents;
mod m0009_artifacts_of_an_account;
mod m0012_tokens_by_minter;
mod m0013_audit_origins;
mod m0014_card_payments;
mod m0015_audit_by_person;
mod m0016_pages_of_lists;
mod m0017_monthly_limits;
mod m0018_early_card_reversals;
mod m0019_content_verdicts;
mod m0019_pending_versions;
mod m0020_blocked_contents;
mod m0021_suspensions;
mod m0022_bundles;
mod m0022_contents_of_bundles;
mod m0023_route_changes;
mod m0025_retention;
mod m0025_retention_indexes;
mod m0026_former_versions;
mod m0027_purges;
mod m0028_oauth;
mod m0030_titles_and_names;
mod m0030_titles_and_names_indexes;
mod m0033_token_marks;
mod m0034_link_generations;
mod m0035_ledger_by_time;
mod m0035_monthly_views;
mod m0035_statistics;
mod m0036_days_without_views_index;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(m0001_the_house::Migration),
            Box::new(m0002_sweeps_at_once::Migration),
            Box::new(m0003_daily_views::Migration),
            Box::new(m0004_scans::Migration),
            Box::new(m0005_moderators::Migration),
            Box::new(m0006_indexes_in_use::Migration),
            Box::new(m0007_rulings::Migration),
            Box::new(m0008_lost_contents::Migration),
            Box::new(m0009_artifacts_of_an_account::Migration),
            Box::new(m0012_tokens_by_minter::Migration),
            Box::new(m0013_audit_origins::Migration),
            Box::new(m0014_card_payments::Migration),
            Box::new(m0015_audit_by_person::Migration),
            Box::new(m0016_pages_of_lists::Migration),
            Box::new(m0017_monthly_limits::Migration),
            Box::new(m0018_early_card_reversals::Migration),
            Box::new(m0019_content_verdicts::Migration),
            Box::new(m0019_pending_versions::Migration),
            Box::new(m0020_blocked_contents::Migration),
            Box::new(m0021_suspensions::Migration),
            Box::new(m0022_bundles::Migration),
            Box::new(m0022_contents_of_bundles::Migration),
            Box::new(m0023_route_changes::Migration),
            Box::new(m0025_retention::Migration),
            Box::new(m0025_retention_indexes::Migration),
            Box::new(m0026_former_versions::Migration),
            Box::new(m0027_purges::Migration),
            Box::new(m0028_oauth::Migration),
            Box::new(m0030_titles_and_names::Migration),
            Box::new(m0030_titles_and_names_indexes::Migration),
            Box::new(m0033_token_marks::Migration),
            Box::new(m0034_link_generations::Migration),
            Box::new(m0035_ledger_by_time::Migration),
            Box::new(m0035_monthly_views::Migration),
            Box::new(m0035_statistics::Migration),
            Box::new(m0036_days_without_views_index::Migration),
        ]
    }
}

/// Applies all missing migrations.
pub async fn migrate(database: &DatabaseConnection) -> Result<(), DbErr> {
    // The migrator itself would reject a history that contains unknown migrations of a later release.
    if is_current(database).await? {
        return Ok(());
    }
    Migrator::up(database, None).await
}

/// Whether the database has every migration of this program; otherwise no process starts. Additional
/// migrations of a later release do no harm, because migrations only expand the schema while older processes
/// may run. This function only reads, because an edge's database role cannot write.
pub async fn is_current(database: &DatabaseConnection) -> Result<bool, DbErr> {
    if !SchemaManager::new(database).has_table(HISTORY).await? {
        return Ok(false);
    }
    let history = seaql_migrations::Entity::find().all(database).await?;
    let applied: HashSet<String> = history.into_iter().map(|change| change.version).collect();
    let known: HashSet<String> =
        Migrator::migrations().iter().map(|change| change.name().to_owned()).collect();
    Ok(known.is_subset(&applied))
}

/// The newest applied migration, if any.
pub async fn newest_applied(database: &DatabaseConnection) -> Result<Option<String>, DbErr> {
    if !SchemaManager::new(database).has_table(HISTORY).await? {
        return Ok(None);
    }
    let history = seaql_migrations::Entity::find().all(database).await?;
    Ok(history.into_iter().map(|change| change.version).max())
}

/// The newest migration of this program.
pub fn newest_known() -> String {
    Migrator::migrations().last().map(|change| change.name().to_owned()).unwrap_or_default()
}

/// The migrator's table.
const HISTORY: &str = "seaql_migrations";

/// A migration and its row in the history are committed together, on SQLite too. An interrupted migration
/// runs again at the next start.
const IN_ONE_GO: Option<bool> = Some(true);

/// DDL that waits for a table lock blocks every later query on that table. It is better to fail and be
/// restarted.
async fn wait_briefly(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    if manager.get_database_backend() == DbBackend::Postgres {
        manager.get_connection().execute_unprepared("SET LOCAL lock_timeout = '3s'").await?;
    }
    Ok(())
}

pub use sea_orm_migration::sea_orm::{DatabaseConnection, DbErr};
