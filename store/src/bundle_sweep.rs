//! Deletes bundles without contents in use, and repacks those that are mostly unused.
//!
//! A content protects its bundle: a bundle is deleted only when no row of `blobs` refers to it, and rows are
//! deleted by the rules of `blob_index` and `blob_sweep`. Three writers add such rows:
//! - The settlement of the publish that wrote the bundle adds the bundle's row and those of its contents in
//!   one transaction. Other than `bundle_orphans`, sweeps know a bundle only by its row.
//! - A redelivered publish may find the bundle of an earlier attempt that was settled. It claims the bundle
//!   first. A claim delays the next check, and fails if the bundle is being deleted.
//! - A repack adds the row of the new bundle before its object, and moves contents there only while that row
//!   is present.
//!
//! Several sweeps may run at the same time. A sweep of blobs marks a row, asks for the check of its bundle
//! and then deletes the row. The statement that records a check as done requires that the bundle still has
//! all contents that were checked, and that none is marked. Otherwise a bundle that becomes empty would not
//! be due.
//!
//! The statement that marks a bundle for deletion requires that `check_at` has passed and that the bundle has
//! no contents. Claims and repacks set `check_at`. Of two concurrent statements, one therefore waits for the
//! row lock and then sees the change of the other.

use std::time::Duration;

use anyhow::{Context, ensure};
use domain::{BundleId, Chance, Time};
use sea_orm::sea_query::Expr;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use crate::blob_index::known;
use crate::blob_state::BlobState;
use crate::blobs::KnownBlob;
use crate::bundle::{self, Segment};
use crate::bundle_rows::{FIRST_CHECK_AFTER, ask_for_check, has_contents, is_empty, new_row};
use crate::bundles::{is_whole_in, segment_of};
use crate::handles::BlobIndex;
use crate::{Blobs, rows};

/// How long a bundle without contents is kept for readers that still have a location in it. Without the
/// bundle, they would have to query the database. A claim delays the check by the same time.
pub(crate) const EMPTY_KEPT: Duration = Duration::from_secs(3600);
/// A bundle that cannot be repacked is tried again after this time.
const RETRY_AFTER: Duration = Duration::from_secs(24 * 3600);
/// A bundle is repacked if the bytes in use are fewer than its size divided by this.
const REPACKED_BELOW_DIVISOR: u64 = 2;
/// A repack reads and writes one object.
const REPACKS_MAX: u64 = 200;

/// What a sweep does with a bundle.
enum Fate {
    Kept,
    /// It is mostly unused, and too new to be repacked.
    CheckedLater(Time),
    Repacked,
}

impl BlobIndex<'_> {
    /// Claims the bundle that an earlier attempt of a publish may have written, so that no sweep deletes it
    /// within an hour. Call it after the check for blobs, and before reading the bundle. If the bundle has no
    /// row, either no attempt was settled, or the object is deleted too.
    pub async fn claim_bundle(self, id: BundleId, now: Time) -> anyhow::Result<()> {
        use entity::bundle::Column;
        if entity::bundle::Entity::find_by_id(id.to_string()).one(&self.0.database.reader).await?.is_none() {
            return Ok(());
        }
        let claimed = entity::bundle::Entity::update_many()
            .col_expr(Column::CheckAt, Expr::value(now.plus(EMPTY_KEPT).millis()))
            .filter(Column::Id.eq(id.to_string()))
            .filter(Column::State.eq(BlobState::Present.as_str()))
            .exec(&self.0.database.writer)
            .await
            .context("claim a bundle")?;
        ensure!(claimed.rows_affected == 1, "a bundle is being swept; try again");
        Ok(())
    }

    /// Checks bundles that have lost contents: deletes those without any, and repacks those that are mostly
    /// unused. Returns the number of both. A bundle that fails does not stop the sweep.
    pub async fn sweep_bundles(
        self,
        blobs: &Blobs,
        now: Time,
        chance: &Chance,
        at_most: u64,
    ) -> anyhow::Result<u64> {
        let (mut changed, mut repacks) = (0, 0);
        for bundle in self.list_due_bundles(now, at_most).await? {
            let rows = self.rows_in(&bundle.id).await?;
            if rows.is_empty() {
                changed += u64::from(self.sweep_bundle(blobs, &bundle, now).await?);
                continue;
            }
            // Another sweep is deleting a content. The bundle stays due.
            if rows.iter().any(|row| row.state != BlobState::Present.as_str()) {
                continue;
            }
            let contents = rows.into_iter().map(known).collect::<anyhow::Result<Vec<_>>>()?;
            let contents_count = contents.len();
            let next_check = match fate_of(&bundle, &contents, now) {
                Fate::Kept => None,
                Fate::CheckedLater(at) => Some(at),
                Fate::Repacked if repacks == REPACKS_MAX => continue,
                Fate::Repacked => {
                    repacks += 1;
                    let Err(error) = self.repack(blobs, &bundle, contents, now, chance).await else {
                        changed += 1;
                        continue;
                    };
                    let error = format!("{error:#}");
                    tracing::warn!(error, bundle.id = %bundle.id, "could not repack a bundle; retrying later");
                    Some(now.plus(RETRY_AFTER))
                }
            };
            self.set_next_check(&bundle, contents_count, next_check).await?;
        }
        Ok(changed)
    }

    /// Deletes the bundles that have no content in use.
    pub(crate) async fn sweep_empty_bundles(self, blobs: &Blobs, now: Time) -> anyhow::Result<()> {
        const PAGE: u64 = 1_000;
        loop {
            let due = entity::bundle::Entity::find()
                .filter(entity::bundle::Column::CheckAt.lte(now.millis()))
                .filter(entity::bundle::Column::State.eq(BlobState::Present.as_str()))
                .filter(is_empty())
                .limit(PAGE)
                .all(&self.0.database.reader)
                .await?;
            for bundle in &due {
                self.sweep_bundle(blobs, bundle, now).await?;
            }
            if (due.len() as u64) < PAGE {
                return Ok(());
            }
        }
    }

    async fn list_due_bundles(self, now: Time, at_most: u64) -> anyhow::Result<Vec<entity::bundle::Model>> {
        Ok(entity::bundle::Entity::find()
            .filter(entity::bundle::Column::CheckAt.lte(now.millis()))
            .order_by_asc(entity::bundle::Column::CheckAt)
            .limit(at_most)
            .all(&self.0.database.reader)
            .await?)
    }

    /// The contents whose location is in this bundle, even those that are being deleted.
    pub(crate) async fn contents_of(self, bundle: &str) -> anyhow::Result<Vec<KnownBlob>> {
        self.rows_in(bundle).await?.into_iter().map(known).collect()
    }

    async fn rows_in(self, bundle: &str) -> anyhow::Result<Vec<entity::blob::Model>> {
        Ok(entity::blob::Entity::find()
            .filter(entity::blob::Column::Bundle.eq(bundle))
            .order_by_asc(entity::blob::Column::Hash)
            .all(&self.0.database.reader)
            .await?)
    }

    /// Deletes a bundle without contents. Returns false if it has contents again or cannot be deleted now.
    async fn sweep_bundle(
        self,
        blobs: &Blobs,
        bundle: &entity::bundle::Model,
        now: Time,
    ) -> anyhow::Result<bool> {
        let retry_at = now.plus(EMPTY_KEPT);
        // The mark also sets the time of the next check, so that no other sweep takes the same bundle.
        let marked = entity::bundle::Entity::update_many()
            .col_expr(entity::bundle::Column::State, Expr::value(BlobState::Deleting.as_str()))
            .col_expr(entity::bundle::Column::CheckAt, Expr::value(retry_at.millis()))
            .filter(entity::bundle::Column::Id.eq(bundle.id.as_str()))
            .filter(entity::bundle::Column::CheckAt.lte(now.millis()))
            .filter(is_empty())
            .exec(&self.0.database.writer)
            .await
            .context("mark a bundle to be deleted")?;
        if marked.rows_affected == 0 {
            return Ok(false);
        }
        self.delete_marked_bundle(blobs, &bundle.id, retry_at).await
    }

    /// Deletes the object of a bundle whose row is marked to be deleted and checked at that time.
    pub(crate) async fn delete_marked_bundle(
        self,
        blobs: &Blobs,
        id: &str,
        retry_at: Time,
    ) -> anyhow::Result<bool> {
        if let Err(error) = blobs.delete_bundle(rows::parse(id, "a bundle id")?).await {
            let error = format!("{error:#}");
            tracing::warn!(error, bundle.id = %id, "could not delete a bundle; retrying later");
            return Ok(false);
        }
        entity::bundle::Entity::delete_many()
            .filter(entity::bundle::Column::Id.eq(id))
            .filter(entity::bundle::Column::State.eq(BlobState::Deleting.as_str()))
            .filter(entity::bundle::Column::CheckAt.eq(retry_at.millis()))
            .exec(&self.0.database.writer)
            .await?;
        Ok(true)
    }

    /// Does nothing if another time was set in the meantime, or if the bundle has lost one of the contents or
    /// another sweep is deleting one. Then it stays due.
    async fn set_next_check(
        self,
        bundle: &entity::bundle::Model,
        contents: usize,
        at: Option<Time>,
    ) -> anyhow::Result<()> {
        entity::bundle::Entity::update_many()
            .col_expr(entity::bundle::Column::CheckAt, Expr::value(at.map(Time::millis)))
            .filter(entity::bundle::Column::Id.eq(bundle.id.as_str()))
            .filter(entity::bundle::Column::CheckAt.eq(bundle.check_at))
            .filter(has_contents(contents))
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }

    /// Moves the contents to a new bundle. The old one stays for readers that have the old location.
    async fn repack(
        self,
        blobs: &Blobs,
        bundle: &entity::bundle::Model,
        contents: Vec<KnownBlob>,
        now: Time,
        chance: &Chance,
    ) -> anyhow::Result<()> {
        let old = rows::parse(&bundle.id, "a bundle id")?;
        let object = blobs.read_bundle(old).await?.context("the bundle is not in the blob store")?;
        let mut segments = Vec::with_capacity(contents.len());
        for blob in contents {
            let segment = segment_of(&blob, &object).filter(|_| is_whole_in(&blob, &object));
            let segment = segment.with_context(|| format!("its content {} is damaged", blob.hash))?;
            segments.push(Segment { blob, parts: vec![object.slice(segment)] });
        }
        let (object, stored) = bundle::assemble(BundleId::new(now, chance), segments);
        let row = new_row(stored.written, now);
        entity::bundle::Entity::insert(row).exec_without_returning(&self.0.database.writer).await?;
        ensure!(blobs.create_bundle(stored.id(), object).await?, "the new bundle exists already");
        let moved = self.move_contents(&bundle.id, &stored.contents, stored.id(), now).await;
        if moved.is_err() {
            // No reader has a location in it.
            ask_for_check(&self.0.database.writer, &stored.id().to_string(), now).await?;
        }
        moved
    }

    /// Moves the contents in one transaction. The new bundle has no contents until then, so a sweep may
    /// already have marked it for deletion. In that case this fails, and also if a sweep is deleting a
    /// content.
    async fn move_contents(
        self,
        from: &str,
        contents: &[KnownBlob],
        to: BundleId,
        now: Time,
    ) -> anyhow::Result<()> {
        use entity::blob::Column;
        let transaction = self.0.database.begin().await?;
        let kept = entity::bundle::Entity::update_many()
            .col_expr(entity::bundle::Column::CheckAt, Expr::value(now.plus(FIRST_CHECK_AFTER).millis()))
            .filter(entity::bundle::Column::Id.eq(to.to_string()))
            .filter(entity::bundle::Column::State.eq(BlobState::Present.as_str()))
            .exec(&transaction)
            .await?;
        ensure!(kept.rows_affected == 1, "the new bundle was swept");
        for blob in contents {
            let at = blob.bundled.context("a repacked content is not in a bundle")?;
            let moved = entity::blob::Entity::update_many()
                .col_expr(Column::Bundle, Expr::value(to.to_string()))
                .col_expr(Column::BundleOffset, Expr::value(rows::number(at.offset_bytes)))
                .filter(Column::Hash.eq(blob.hash.to_string()))
                .filter(Column::Bundle.eq(from))
                .filter(Column::State.eq(BlobState::Present.as_str()))
                .exec(&transaction)
                .await
                .context("move a content to another bundle")?;
            ensure!(moved.rows_affected == 1, "a content was swept or moved");
        }
        entity::bundle::Entity::update_many()
            .col_expr(entity::bundle::Column::CheckAt, Expr::value(now.plus(EMPTY_KEPT).millis()))
            .filter(entity::bundle::Column::Id.eq(from))
            .exec(&transaction)
            .await?;
        transaction.commit().await.context("commit a repack")
    }
}

fn fate_of(bundle: &entity::bundle::Model, contents: &[KnownBlob], now: Time) -> Fate {
    let used_bytes: u64 = contents.iter().map(KnownBlob::segment_bytes).sum();
    if used_bytes.saturating_mul(REPACKED_BELOW_DIVISOR) >= rows::count(bundle.size_bytes) {
        return Fate::Kept;
    }
    let from = Time::from_millis(bundle.created_at).plus(FIRST_CHECK_AFTER);
    if now < from { Fate::CheckedLater(from) } else { Fate::Repacked }
}
