//! The list of all tables, in the order of their references: a referenced table comes first. A test fails if
//! a table is missing, so that no data is left behind when a database is copied.
//!
//! Rows are copied unchanged, between databases that no process uses. The target must be empty, because
//! otherwise its rows would be mixed with the copied ones.

use anyhow::{Context, ensure};
use futures::TryStreamExt;
use sea_orm::{
    ActiveModelTrait, ConnectionTrait, DatabaseTransaction, EntityTrait, IntoActiveModel, PaginatorTrait,
    QueryFilter, Statement,
};

use crate::blob_index::unreferenced;
use crate::handles::{BlobIndex, LedgerStore, Tables};
use crate::{Store, bundle_rows};

/// Rows that one statement inserts, in its own transaction.
const PAGE_ROWS: usize = 200;

/// The only table into which a migration inserts a row.
const SEEDED: &str = "blob_sweeps";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableCount {
    pub table: &'static str,
    pub rows: u64,
}

/// Sums over the ledgers of all accounts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LedgerTotals {
    pub accounts: u64,
    pub entries: u64,
    pub balance_micro: i64,
    pub moved_micro: i64,
}

macro_rules! tables {
    ($($table:literal $entity:ident),+ $(,)?) => {
        /// The names of the tables, referenced tables first.
        pub const TABLES: &[&str] = &[$($table),+];

        impl Tables<'_> {
            /// The number of rows of every table, from one snapshot.
            pub async fn count_rows(self) -> anyhow::Result<Vec<TableCount>> {
                let reading = self.0.database.begin_reading().await?;
                let counts = vec![$(TableCount {
                    table: $table,
                    rows: entity::$entity::Entity::find().count(&reading).await.context($table)?,
                }),+];
                reading.commit().await.context("end counting rows")?;
                Ok(counts)
            }

            /// Copies every row of every table, from one snapshot, to an empty store. Calls `report` after
            /// each table.
            pub async fn copy_to(
                self,
                to: &Store,
                mut report: impl FnMut(TableCount),
            ) -> anyhow::Result<()> {
                to.tables().require_empty().await?;
                // The row that the migration inserted would collide with the copied one.
                entity::blob_sweep::Entity::delete_many().exec(&to.database.writer).await?;
                let from = self.0.database.begin_reading().await?;
                $({
                    let rows = copy_table::<entity::$entity::Entity>(&from, to).await.context($table)?;
                    report(TableCount { table: $table, rows });
                })+
                from.commit().await.context("end reading the source")
            }
        }
    };
}

tables! {
    "accounts" account,
    "users" user,
    "sessions" session,
    "memberships" membership,
    "invites" invite,
    "tokens" token,
    "oauth_grants" oauth_grant,
    "oauth_devices" oauth_device,
    "artifacts" artifact,
    "versions" version,
    "bundles" bundle,
    "blobs" blob,
    "blob_refs" blob_ref,
    "blob_sweeps" blob_sweep,
    "erasures" erasure,
    "routes" route,
    "former_versions" former_version,
    "usage" usage,
    "monthly_limits" monthly_limit,
    "ledger_entries" ledger_entry,
    "card_payments" card_payment,
    "early_card_reversals" early_card_reversal,
    "reports" report,
    "appeals" appeal,
    "held_pages" held_page,
    "blocked_contents" blocked_content,
    "moderation_decisions" moderation_decision,
    "rulings" ruling,
    "audit" audit,
    "idempotency_keys" idempotency_key,
    "job_outcomes" job_outcome,
    "schedules" schedule,
    "daily_views" daily_view,
    "rescan_walks" rescan_walk,
    "content_verdicts" content_verdict,
}

impl Tables<'_> {
    /// Fails unless the database has only its schema.
    pub async fn require_empty(self) -> anyhow::Result<()> {
        let is_seed = |table: &str| table == SEEDED;
        for count in self.count_rows().await? {
            let TableCount { table, rows } = count;
            ensure!(rows == 0 || is_seed(table), "its table {table} is not empty: it has {rows} rows");
        }
        Ok(())
    }
}

impl BlobIndex<'_> {
    /// Deletes the rows of unreferenced contents without deleting the objects. This is for copies, which need
    /// not contain these objects. A publish of the same content then stores it again. The rows of bundles
    /// without contents are deleted, too.
    pub async fn forget_unreferenced(self) -> anyhow::Result<u64> {
        let forgotten = entity::blob::Entity::delete_many()
            .filter(unreferenced())
            .exec(&self.0.database.writer)
            .await
            .context("delete the rows of unreferenced blobs")?;
        entity::bundle::Entity::delete_many()
            .filter(bundle_rows::is_empty())
            .exec(&self.0.database.writer)
            .await
            .context("delete the rows of bundles without contents")?;
        Ok(forgotten.rows_affected)
    }
}

impl LedgerStore<'_> {
    /// Sums over the ledgers. In an intact database the balances and the entries have the same sum.
    pub async fn totals(self) -> anyhow::Result<LedgerTotals> {
        let sql = "SELECT (SELECT COUNT(*) FROM accounts) AS accounts,
                (SELECT COUNT(*) FROM ledger_entries) AS entries,
                CAST((SELECT COALESCE(SUM(balance_micro), 0) FROM accounts) AS BIGINT) AS balance_micro,
                CAST((SELECT COALESCE(SUM(delta_micro), 0) FROM ledger_entries) AS BIGINT) AS moved_micro";
        let reading = self.0.database.begin_reading().await?;
        let statement = Statement::from_string(reading.get_database_backend(), sql);
        let row = reading.query_one_raw(statement).await?.context("the database returned no sums")?;
        reading.commit().await.context("end summing the ledger")?;
        let number = |column: &str| row.try_get::<i64>("", column);
        Ok(LedgerTotals {
            accounts: crate::rows::count(number("accounts")?),
            entries: crate::rows::count(number("entries")?),
            balance_micro: number("balance_micro")?,
            moved_micro: number("moved_micro")?,
        })
    }
}

async fn copy_table<E>(from: &DatabaseTransaction, to: &Store) -> anyhow::Result<u64>
where
    E: EntityTrait,
    E::Model: IntoActiveModel<E::ActiveModel> + Send,
    E::ActiveModel: ActiveModelTrait<Entity = E> + Send,
{
    let mut rows = std::pin::pin!(E::find().stream(from).await?.try_chunks(PAGE_ROWS));
    let mut copied = 0;
    while let Some(page) = rows.try_next().await.map_err(|error| error.1)? {
        let page: Vec<E::ActiveModel> = page.into_iter().map(IntoActiveModel::into_active_model).collect();
        copied += page.len() as u64;
        let transaction = to.database.begin().await?;
        E::insert_many(page).exec_without_returning(&transaction).await?;
        transaction.commit().await.context("commit a page of rows")?;
    }
    Ok(copied)
}
