//! Immediate sweeps of unreferenced blobs, without the delay that protects publishes in flight.
//!
//! Each immediate sweep takes the next number in the transaction that marks the blobs to delete. A publish
//! reads the number in the same statement that checks for its blobs. It commits only if the number is
//! unchanged after it has written its references. A lock on the table of references orders the two: either
//! the sweep sees the references and keeps the blobs, or the publish sees a new number, fails and checks
//! again. Therefore no code may mark a blob outside such a transaction.

use anyhow::{Context, ensure};
use domain::{BlobHash, SweepNumber, Time};
use futures::StreamExt;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, EntityTrait, IntoActiveModel, QueryFilter,
    QuerySelect,
};

use crate::blob_index::{SWEEP_ROW, SweptBlobs, unreferenced};
use crate::blob_state::BlobState;
use crate::handles::BlobIndex;
use crate::{Blobs, rows};

/// Blobs that are marked in one transaction. Publishes wait until it ends.
const MARKED_AT_ONCE: u64 = 1_000;
const DELETES_AT_ONCE: usize = 8;

/// The mode of the lock on the table of references.
#[derive(Clone, Copy)]
pub(crate) enum ReferenceLock {
    /// Excludes sweeps. Inserting a reference takes the same lock.
    NoSweep,
    /// Excludes other sweeps and inserts of references.
    NoReference,
}

impl BlobIndex<'_> {
    /// Deletes every unreferenced blob, however new, and the bundles that have no content in use after that.
    /// A publish in flight that relies on one checks again. A blob that cannot be deleted does not stop the
    /// sweep.
    pub async fn sweep_at_once(self, blobs: &Blobs, now: Time) -> anyhow::Result<SweptBlobs> {
        let mut swept = SweptBlobs::default();
        loop {
            let candidates = self.list_unreferenced().await?;
            let is_last = (candidates.len() as u64) < MARKED_AT_ONCE;
            let marked = self.mark_at_once(candidates, now).await?.into_iter();
            let deletions = marked.map(|blob| self.delete_marked(blobs, blob, now));
            let mut deletions = futures::stream::iter(deletions).buffer_unordered(DELETES_AT_ONCE);
            while let Some(deleted) = deletions.next().await {
                swept = swept + deleted?;
            }
            if is_last {
                self.sweep_empty_bundles(blobs, now).await?;
                return Ok(swept);
            }
        }
    }

    /// Deletes an object that has no row. The row that is inserted first marks the blob as being deleted, so
    /// that a publish that has found the object checks again. Returns false if the blob has got a row in the
    /// meantime.
    pub(crate) async fn sweep_orphan(
        self,
        blobs: &Blobs,
        hash: BlobHash,
        size_bytes: u64,
        now: Time,
    ) -> anyhow::Result<bool> {
        let transaction = self.0.database.begin().await?;
        lock_references(&transaction, ReferenceLock::NoReference).await?;
        let hash = hash.to_string();
        if entity::blob::Entity::find_by_id(hash.as_str()).one(&transaction).await?.is_some() {
            return Ok(false);
        }
        let row = entity::blob::Model {
            hash,
            size_bytes: rows::number(size_bytes),
            variants: "[]".to_owned(),
            state: BlobState::Deleting.as_str().to_owned(),
            touched_at: now.millis(),
            created_at: now.millis(),
            lost_at: None,
            bundle: None,
            bundle_offset: None,
        };
        // A plain insert, which fails if another transaction has inserted the row.
        entity::blob::Entity::insert(row.clone().into_active_model())
            .exec_without_returning(&transaction)
            .await
            .context("mark an orphan blob")?;
        take_next_number(&transaction).await?;
        transaction.commit().await.context("commit the mark of an orphan blob")?;
        Ok(self.delete_marked(blobs, row, now).await?.blobs == 1)
    }

    async fn list_unreferenced(self) -> anyhow::Result<Vec<String>> {
        Ok(entity::blob::Entity::find()
            .select_only()
            .column(entity::blob::Column::Hash)
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .filter(unreferenced())
            .limit(MARKED_AT_ONCE)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?)
    }

    /// Marks the candidates that are still unreferenced.
    async fn mark_at_once(
        self,
        candidates: Vec<String>,
        now: Time,
    ) -> anyhow::Result<Vec<entity::blob::Model>> {
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.0.database.begin().await?;
        lock_references(&transaction, ReferenceLock::NoReference).await?;
        let marked = entity::blob::Entity::update_many()
            .col_expr(entity::blob::Column::State, Expr::value(BlobState::Deleting.as_str()))
            .col_expr(entity::blob::Column::TouchedAt, Expr::value(now.millis()))
            .filter(entity::blob::Column::Hash.is_in(candidates))
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .filter(unreferenced())
            .exec_with_returning(&transaction)
            .await
            .context("mark blobs to be deleted")?;
        if !marked.is_empty() {
            take_next_number(&transaction).await?;
        }
        transaction.commit().await.context("commit the marks of a sweep")?;
        Ok(marked)
    }
}

pub(crate) async fn take_next_number(transaction: &DatabaseTransaction) -> anyhow::Result<()> {
    entity::blob_sweep::Entity::update_many()
        .col_expr(entity::blob_sweep::Column::Number, Expr::col(entity::blob_sweep::Column::Number).add(1))
        .filter(entity::blob_sweep::Column::Id.eq(SWEEP_ROW))
        .exec(transaction)
        .await
        .context("number a sweep")?;
    Ok(())
}

/// The number of the last immediate sweep.
pub(crate) async fn last_number(connection: &impl ConnectionTrait) -> anyhow::Result<SweepNumber> {
    let row = entity::blob_sweep::Entity::find_by_id(SWEEP_ROW).one(connection).await?;
    Ok(SweepNumber(row.context("the number of sweeps is missing in the database")?.number))
}

/// Fails if an immediate sweep ran since the blobs were checked. The transaction must have written its
/// references before the call: they keep the next sweep out until the transaction ends.
pub(crate) async fn require_none_since(
    transaction: &DatabaseTransaction,
    as_of: SweepNumber,
) -> anyhow::Result<()> {
    let number = last_number(transaction).await?;
    ensure!(number == as_of, "blobs were swept after this publish checked for them; it must check again");
    Ok(())
}

/// The number of the last immediate sweep. No other one can run until the transaction ends.
pub(crate) async fn exclude_sweeps(transaction: &DatabaseTransaction) -> anyhow::Result<SweepNumber> {
    lock_references(transaction, ReferenceLock::NoSweep).await?;
    last_number(transaction).await
}

/// SQLite needs no lock, because it has one writer at a time.
pub(crate) async fn lock_references(
    transaction: &DatabaseTransaction,
    lock: ReferenceLock,
) -> anyhow::Result<()> {
    let sql = match lock {
        ReferenceLock::NoSweep => "LOCK TABLE blob_refs IN ROW EXCLUSIVE MODE",
        ReferenceLock::NoReference => "LOCK TABLE blob_refs IN SHARE ROW EXCLUSIVE MODE",
    };
    if transaction.get_database_backend() == DbBackend::Postgres {
        transaction.execute_unprepared(sql).await.context("lock the table of blob references")?;
    }
    Ok(())
}
