//! Erases purged contents from the blob store.
//!
//! A purge requests the erasure of its contents, and of the bundles that may have them, in its own
//! transaction. Erasing is idempotent and is repeated until it is done, so no crash leaves a byte behind.
//! Rows are marked as in an immediate sweep (`blob_sweep`): a publish in flight that relies on a marked
//! content checks again.
//!
//! A bundle without contents in use is deleted. In another one, the contents without a row are overwritten
//! with zeros and removed from its index. No location changes, so that manifests stay correct and no name is
//! used for different contents, even if the bundle is too new to be repacked. Only one process at a time
//! overwrites a bundle, because two could restore each other's contents.

use std::collections::BTreeSet;

use anyhow::{Context, ensure};
use bytes::Bytes;
use domain::{BlobHash, BundleId, Time};
use futures::future::try_join_all;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{ColumnTrait, DatabaseTransaction, EntityTrait, QueryFilter, QuerySelect};

use crate::blob_index::unreferenced;
use crate::blob_state::BlobState;
use crate::blob_sweep::{ReferenceLock, lock_references, take_next_number};
use crate::bundle_rows::is_empty;
use crate::bundle_sweep::EMPTY_KEPT;
use crate::handles::BlobIndex;
use crate::many::{among, insert_rows};
use crate::{Blobs, bundle, rows};

/// Erasures that are read at a time.
const PAGE: u64 = 500;
/// A longer erasure of one bundle was interrupted.
const CLAIMED_FOR: std::time::Duration = std::time::Duration::from_secs(120);
/// A content that was marked this long ago is no longer being deleted by the process that marked it. Until
/// then, publishes of the same content wait.
const DELETING_FOR: std::time::Duration = std::time::Duration::from_secs(60);
/// A process that was suspended for longer than this after its marks deletes nothing.
const DELETES_WITHIN: std::time::Duration = std::time::Duration::from_secs(20);
/// Contents that are marked in one transaction and deleted at the same time.
const DELETED_AT_ONCE: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErasureKind {
    Content,
    Bundle,
}

/// A bundle in which only this process erases until then.
struct BundleClaim {
    id: BundleId,
    until: i64,
}

impl ErasureKind {
    fn as_str(self) -> &'static str {
        match self {
            ErasureKind::Content => "content",
            ErasureKind::Bundle => "bundle",
        }
    }
}

/// Requests erasures, in the transaction of the purge or of the refusal of a publish.
pub(crate) async fn request(
    transaction: &DatabaseTransaction,
    kind: ErasureKind,
    names: impl IntoIterator<Item = String>,
) -> anyhow::Result<()> {
    use entity::erasure::Column;
    let rows = names.into_iter().map(|name| entity::erasure::ActiveModel {
        kind: Set(kind.as_str().to_owned()),
        name: Set(name),
        revision: Set(1),
        claimed_until: Set(0),
    });
    let mut again = OnConflict::columns([Column::Kind, Column::Name]);
    again.value(Column::Revision, Expr::col((entity::erasure::Entity, Column::Revision)).add(1));
    insert_rows::<entity::erasure::Entity>(transaction, rows, Some(again)).await.context("request erasures")
}

impl BlobIndex<'_> {
    /// Erases purged contents, and returns the number of contents and bundles that are done. What cannot be
    /// erased now is left for the next call.
    pub async fn erase_purged(self, blobs: &Blobs, now: Time) -> anyhow::Result<u64> {
        let mut done = 0;
        for erasures in self.requested(ErasureKind::Content).await?.chunks(DELETED_AT_ONCE) {
            done += self.erase_contents(blobs, erasures.to_vec(), now).await?;
        }
        // After the contents, whose marks request the erasure of the bundles that have them now.
        for erasure in self.requested(ErasureKind::Bundle).await? {
            let Some(claim) = self.claim_erasure(&erasure, now).await? else { continue };
            match self.erase_in_bundle(blobs, &claim, now).await {
                Ok(true) => done += self.forget_erasures(vec![erasure]).await?,
                Ok(false) => self.release_claim(&claim).await?,
                // Its claim ends in two minutes. The other bundles are erased nevertheless.
                Err(error) => {
                    let error = format!("{error:#}");
                    tracing::warn!(error, bundle.id = %claim.id, "could not erase in a bundle yet");
                }
            }
        }
        Ok(done)
    }

    async fn requested(self, kind: ErasureKind) -> anyhow::Result<Vec<entity::erasure::Model>> {
        entity::erasure::Entity::find()
            .filter(entity::erasure::Column::Kind.eq(kind.as_str()))
            .limit(PAGE)
            .all(&self.0.database.reader)
            .await
            .context("list erasures")
    }

    /// Deletes the contents that nothing refers to. An erasure is done if its content has no row any more, or
    /// if something refers to it.
    async fn erase_contents(
        self,
        blobs: &Blobs,
        erasures: Vec<entity::erasure::Model>,
        now: Time,
    ) -> anyhow::Result<u64> {
        let hashes: Vec<String> = erasures.iter().map(|erasure| erasure.name.clone()).collect();
        let parsed = hashes.iter().map(|hash| rows::parse(hash, "a blob hash"));
        for hash in self.find_unknown(&parsed.collect::<anyhow::Result<Vec<_>>>()?).await? {
            // The object of a refused publish, if there is one.
            self.sweep_orphan(blobs, hash, 0, now).await?;
        }
        let began = tokio::time::Instant::now();
        let marked = self.mark_purged(hashes.clone(), now).await?.into_iter();
        ensure!(began.elapsed() < DELETES_WITHIN, "the marks of purged contents are too old");
        try_join_all(marked.map(|row| self.delete_marked(blobs, row, now))).await?;
        let left: Vec<String> = entity::blob::Entity::find()
            .select_only()
            .column(entity::blob::Column::Hash)
            .filter(among(&self.0.database.writer, entity::blob::Column::Hash, hashes))
            .filter(unreferenced())
            .into_tuple()
            .all(&self.0.database.writer)
            .await?;
        let is_done = |erasure: &entity::erasure::Model| !left.contains(&erasure.name);
        self.forget_erasures(erasures.into_iter().filter(is_done).collect()).await
    }

    /// Marks the unreferenced ones of these contents, also those whose deletion was interrupted.
    async fn mark_purged(self, hashes: Vec<String>, now: Time) -> anyhow::Result<Vec<entity::blob::Model>> {
        use entity::blob::Column;
        if hashes.is_empty() {
            return Ok(Vec::new());
        }
        let transaction = self.0.database.begin().await?;
        lock_references(&transaction, ReferenceLock::NoReference).await?;
        let is_free = Column::State
            .eq(BlobState::Present.as_str())
            .or(Column::TouchedAt.lt(now.minus(DELETING_FOR).millis()));
        let marked = entity::blob::Entity::update_many()
            .col_expr(Column::State, Expr::value(BlobState::Deleting.as_str()))
            .col_expr(Column::TouchedAt, Expr::value(now.millis()))
            .filter(among(&transaction, Column::Hash, hashes))
            .filter(is_free)
            .filter(unreferenced())
            .exec_with_returning(&transaction)
            .await
            .context("mark purged contents")?;
        if !marked.is_empty() {
            take_next_number(&transaction).await?;
            // A repack may have moved the contents since the purge.
            let bundles: BTreeSet<String> = marked.iter().filter_map(|row| row.bundle.clone()).collect();
            request(&transaction, ErasureKind::Bundle, bundles).await?;
        }
        transaction.commit().await.context("commit the marks of purged contents")?;
        Ok(marked)
    }

    /// Returns `None` if another process is erasing in this bundle.
    async fn claim_erasure(
        self,
        erasure: &entity::erasure::Model,
        now: Time,
    ) -> anyhow::Result<Option<BundleClaim>> {
        use entity::erasure::Column;
        let until = now.plus(CLAIMED_FOR).millis();
        let claimed = entity::erasure::Entity::update_many()
            .col_expr(Column::ClaimedUntil, Expr::value(until))
            .filter(Column::Kind.eq(erasure.kind.as_str()))
            .filter(Column::Name.eq(erasure.name.as_str()))
            .filter(Column::Revision.eq(erasure.revision))
            .filter(Column::ClaimedUntil.lt(now.millis()))
            .exec(&self.0.database.writer)
            .await
            .context("claim an erasure")?;
        let id = rows::parse(&erasure.name, "a bundle id")?;
        Ok((claimed.rows_affected == 1).then_some(BundleClaim { id, until }))
    }

    async fn release_claim(self, claim: &BundleClaim) -> anyhow::Result<()> {
        use entity::erasure::Column;
        entity::erasure::Entity::update_many()
            .col_expr(Column::ClaimedUntil, Expr::value(0))
            .filter(Column::Kind.eq(ErasureKind::Bundle.as_str()))
            .filter(Column::Name.eq(claim.id.to_string()))
            .filter(Column::ClaimedUntil.eq(claim.until))
            .exec(&self.0.database.writer)
            .await
            .context("release the claim of an erasure")?;
        Ok(())
    }

    /// Whether no other process has claimed the bundle since.
    async fn is_claim_valid(self, claim: &BundleClaim) -> anyhow::Result<bool> {
        let name = claim.id.to_string();
        let found = entity::erasure::Entity::find_by_id((ErasureKind::Bundle.as_str().to_owned(), name))
            .one(&self.0.database.writer)
            .await
            .context("read the claim of an erasure")?;
        Ok(found.is_some_and(|erasure| erasure.claimed_until == claim.until))
    }

    /// Deletes erasures that are done. One that was requested again in the meantime is released instead.
    async fn forget_erasures(self, done: Vec<entity::erasure::Model>) -> anyhow::Result<u64> {
        use entity::erasure::Column;
        let mut forgotten = 0;
        for erasure in done {
            let is_it = || Column::Kind.eq(erasure.kind.as_str()).and(Column::Name.eq(erasure.name.as_str()));
            let deleted = entity::erasure::Entity::delete_many()
                .filter(is_it())
                .filter(Column::Revision.eq(erasure.revision))
                .exec(&self.0.database.writer)
                .await?;
            forgotten += deleted.rows_affected;
            if deleted.rows_affected == 0 {
                entity::erasure::Entity::update_many()
                    .col_expr(Column::ClaimedUntil, Expr::value(0))
                    .filter(is_it())
                    .exec(&self.0.database.writer)
                    .await?;
            }
        }
        Ok(forgotten)
    }

    /// Erases the contents without a row from a bundle. Returns false if that is not possible yet.
    async fn erase_in_bundle(self, blobs: &Blobs, claim: &BundleClaim, now: Time) -> anyhow::Result<bool> {
        let id = claim.id;
        // Most versions have no bundle of their own.
        if entity::bundle::Entity::find_by_id(id.to_string()).one(&self.0.database.writer).await?.is_none() {
            return Ok(true);
        }
        if self.mark_empty_bundle(id, now).await? {
            return self.delete_marked_bundle(blobs, &id.to_string(), now.plus(EMPTY_KEPT)).await;
        }
        // Keeps sweeps from deleting it. Otherwise it would be written again after its deletion.
        self.claim_bundle(id, now).await?;
        let Some(object) = blobs.read_bundle(id).await? else { return Ok(true) };
        let index = bundle::read_index(id, &object, object.len() as u64)?;
        let listed: Vec<BlobHash> = index.contents.iter().map(|blob| blob.hash).collect();
        let is_left = |hash: &BlobHash| *hash != bundle::ERASED;
        if self.find_unknown(&listed).await?.iter().any(is_left) {
            // A redelivered publish may rely on what the bundle has now. It checks again.
            self.take_number_for_overwrite().await?;
            let unused = self.find_unknown(&listed).await?;
            let without = bundle::erase(&object, &index, |hash| unused.contains(hash))?;
            ensure!(self.is_claim_valid(claim).await?, "another process erases in this bundle by now");
            blobs.overwrite_bundle(id, without).await?;
            if !self.is_claim_valid(claim).await? {
                // This process was suspended and may have undone another one's erasure.
                let transaction = self.0.database.begin().await?;
                request(&transaction, ErasureKind::Bundle, [id.to_string()]).await?;
                transaction.commit().await.context("commit the request to erase again")?;
                return Ok(false);
            }
        }
        Ok(!self.is_any_being_deleted(&listed).await? && !self.is_any_requested(&listed).await?)
    }

    async fn take_number_for_overwrite(self) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        lock_references(&transaction, ReferenceLock::NoReference).await?;
        take_next_number(&transaction).await?;
        transaction.commit().await.context("commit the number of an erasure in a bundle")
    }

    /// Marks a bundle without contents to be deleted, even if it is not due. A publish that has claimed it
    /// checks again.
    async fn mark_empty_bundle(self, id: BundleId, now: Time) -> anyhow::Result<bool> {
        use entity::bundle::Column;
        let transaction = self.0.database.begin().await?;
        lock_references(&transaction, ReferenceLock::NoReference).await?;
        let marked = entity::bundle::Entity::update_many()
            .col_expr(Column::State, Expr::value(BlobState::Deleting.as_str()))
            .col_expr(Column::CheckAt, Expr::value(now.plus(EMPTY_KEPT).millis()))
            .filter(Column::Id.eq(id.to_string()))
            .filter(is_empty())
            .exec(&transaction)
            .await
            .context("mark a purged bundle")?;
        if marked.rows_affected == 1 {
            take_next_number(&transaction).await?;
        }
        transaction.commit().await.context("commit the mark of a purged bundle")?;
        Ok(marked.rows_affected == 1)
    }

    /// Whether one of these contents is still to be erased. Its bytes must be erased from the bundle after
    /// that.
    async fn is_any_requested(self, hashes: &[BlobHash]) -> anyhow::Result<bool> {
        use entity::erasure::Column;
        let writer = &self.0.database.writer;
        let found = entity::erasure::Entity::find()
            .filter(among(writer, Column::Name, hashes.iter().map(BlobHash::to_string)))
            .filter(Column::Kind.eq(ErasureKind::Content.as_str()));
        Ok(found.one(writer).await?.is_some())
    }

    /// Whether a sweep is deleting one of these contents. Its bytes must be erased when it is done.
    async fn is_any_being_deleted(self, hashes: &[BlobHash]) -> anyhow::Result<bool> {
        use entity::blob::Column;
        let writer = &self.0.database.writer;
        let found = entity::blob::Entity::find()
            .filter(among(writer, Column::Hash, hashes.iter().map(BlobHash::to_string)))
            .filter(Column::State.eq(BlobState::Deleting.as_str()));
        Ok(found.one(writer).await?.is_some())
    }
}

impl Blobs {
    /// Replaces the object of a bundle by one with fewer contents at the same locations.
    async fn overwrite_bundle(&self, id: BundleId, object: Bytes) -> anyhow::Result<()> {
        self.replace(crate::blobs::StorageKey::Bundle(id), object).await.context("erase in a bundle")
    }
}
