//! Which blobs are stored, and when they may be deleted. A blob that a publish relies on must never be swept.

use std::collections::{BTreeMap, HashMap};
use std::ops::Add;
use std::time::Duration;

use anyhow::{Context, ensure};
use domain::{BlobHash, BundledAt, Manifest, ManifestFile, SweepNumber, Time};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, OnConflict, Query};
use sea_orm::{
    ColumnTrait, ConnectionTrait, EntityTrait, FromQueryResult, Iterable, QueryFilter, QuerySelect,
};

use crate::blob_state::BlobState;
use crate::blobs::KnownBlob;
use crate::handles::BlobIndex;
use crate::many::among;
use crate::script::Script;
use crate::{Blobs, bundle_rows, rows};

/// An unreferenced blob is kept for this long after the last publish that checked for it. That is far longer
/// than a publish takes from its check to its commit, so the scheduled sweep never deletes a blob that a
/// publish relies on. The sweep without this delay is in `blob_sweep`.
const UNREFERENCED_KEPT: Duration = Duration::from_secs(3600);
/// A check updates the time of the last check only if that is older than this, so most checks write nothing.
const TOUCH_EVERY: Duration = Duration::from_secs(600);

/// The row that holds the number of the last immediate sweep.
pub(crate) const SWEEP_ROW: i32 = 1;

/// What a sweep deleted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SweptBlobs {
    pub blobs: u64,
    pub bytes: u64,
}

impl Add for SweptBlobs {
    type Output = SweptBlobs;

    fn add(self, other: SweptBlobs) -> SweptBlobs {
        SweptBlobs { blobs: self.blobs + other.blobs, bytes: self.bytes + other.bytes }
    }
}

/// Which of the requested blobs are stored.
#[derive(Clone, Debug)]
pub struct StoredBlobs {
    /// The result is valid while this is the number of the last immediate sweep.
    pub as_of: SweepNumber,
    pub found: HashMap<BlobHash, KnownBlob>,
    /// Blobs that a scrub found missing, with the variants that manifests list. A publish that has such a
    /// content stores it again with the same layout.
    pub lost: HashMap<BlobHash, KnownBlob>,
}

impl BlobIndex<'_> {
    /// Checks which of these blobs are stored, and where. They stay stored for at least an hour,
    /// unless an operator starts an immediate sweep.
    pub async fn find_stored(self, hashes: &[BlobHash], now: Time) -> anyhow::Result<StoredBlobs> {
        let (as_of, found) = known_blobs(&self.0.database.reader, hashes).await?;
        let stale_before = now.minus(TOUCH_EVERY).millis();
        if found.iter().any(|blob| blob.touched_at < stale_before) {
            let touched = found.iter().map(|blob| blob.hash.clone());
            let touch = entity::blob::Entity::update_many()
                .col_expr(entity::blob::Column::TouchedAt, Expr::value(now.millis()))
                .filter(among(&self.0.database.writer, entity::blob::Column::Hash, touched))
                .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
                .exec(&self.0.database.writer)
                .await?;
            ensure!(touch.rows_affected == found.len() as u64, "a blob is being swept; try again");
        }
        ensure!(
            found.iter().all(|blob| blob.state == BlobState::Present.as_str()),
            "a blob is being swept; try again"
        );
        let mut stored = StoredBlobs { as_of, found: HashMap::new(), lost: HashMap::new() };
        for blob in found {
            let side = if blob.lost_at.is_none() { &mut stored.found } else { &mut stored.lost };
            let blob = known(blob)?;
            side.insert(blob.hash, blob);
        }
        Ok(stored)
    }

    /// Marks a blob as missing from the blob store. Returns false if it was marked already or nothing relies
    /// on it.
    pub(crate) async fn mark_lost(self, hash: BlobHash, now: Time) -> anyhow::Result<bool> {
        let noted = entity::blob::Entity::update_many()
            .col_expr(entity::blob::Column::LostAt, Expr::value(now.millis()))
            .filter(entity::blob::Column::Hash.eq(hash.to_string()))
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .filter(entity::blob::Column::LostAt.is_null())
            .exec(&self.0.database.writer)
            .await
            .context("mark a blob as lost")?;
        Ok(noted.rows_affected == 1)
    }

    /// Marks a lost blob as stored again, in its own object or in the bundle where it was.
    pub async fn mark_restored(
        self,
        hash: BlobHash,
        bundled: Option<BundledAt>,
        now: Time,
    ) -> anyhow::Result<()> {
        let transaction = self.0.database.begin().await?;
        let row = entity::blob::Entity::find_by_id(hash.to_string()).one(&transaction).await?;
        entity::blob::Entity::update_many()
            .col_expr(entity::blob::Column::LostAt, Expr::value(Option::<i64>::None))
            .col_expr(entity::blob::Column::Bundle, Expr::value(bundled.map(|at| at.bundle.to_string())))
            .col_expr(
                entity::blob::Column::BundleOffset,
                Expr::value(bundled.map(|at| rows::number(at.offset_bytes))),
            )
            .filter(entity::blob::Column::Hash.eq(hash.to_string()))
            .exec(&transaction)
            .await
            .context("mark a lost blob as stored again")?;
        if let Some(left) = row.and_then(|row| row.bundle)
            && bundled.is_none()
        {
            bundle_rows::ask_for_check(&transaction, &left, now).await?;
        }
        transaction.commit().await.context("commit that a lost blob is stored again")
    }

    /// Deletes blobs that are unreferenced and that no publish has checked for within an hour. A blob that
    /// cannot be deleted does not stop the sweep.
    pub async fn sweep(self, blobs: &Blobs, now: Time, at_most: u64) -> anyhow::Result<SweptBlobs> {
        let untouched_since = now.minus(UNREFERENCED_KEPT).millis();
        let mut swept = SweptBlobs::default();
        for blob in self.list_sweepable(untouched_since, at_most).await? {
            if !self.mark_deleting(&blob.hash, untouched_since, now).await? {
                continue;
            }
            swept = swept + self.delete_marked(blobs, blob, now).await?;
        }
        Ok(swept)
    }

    /// Deletes a blob that this sweep has marked. If the blob store fails to delete it, a later sweep
    /// retries. The bytes of a blob in a bundle stay there until the bundle is deleted. Such a blob may have
    /// its own object as well, from a publish that stored it at the same time.
    pub(crate) async fn delete_marked(
        self,
        blobs: &Blobs,
        blob: entity::blob::Model,
        marked_at: Time,
    ) -> anyhow::Result<SweptBlobs> {
        if let Err(error) = blobs.delete_blob(rows::parse(&blob.hash, "a blob hash")?).await {
            tracing::warn!(error = format!("{error:#}"), blob.hash = %blob.hash, "could not delete a blob; the next sweep retries");
            return Ok(SweptBlobs::default());
        }
        if let Some(bundle) = &blob.bundle {
            bundle_rows::ask_for_check(&self.0.database.writer, bundle, marked_at).await?;
        }
        self.forget_deleted(&blob.hash, marked_at).await?;
        Ok(SweptBlobs { blobs: 1, bytes: rows::count(blob.size_bytes) })
    }

    async fn list_sweepable(
        self,
        untouched_since: i64,
        at_most: u64,
    ) -> anyhow::Result<Vec<entity::blob::Model>> {
        Ok(entity::blob::Entity::find()
            .filter(entity::blob::Column::TouchedAt.lt(untouched_since))
            .filter(unreferenced())
            .limit(at_most)
            .all(&self.0.database.reader)
            .await?)
    }

    /// A single statement checks that the blob is unreferenced and untouched, and marks it so that no publish
    /// relies on it any more. The mark also updates the touch time, so no other sweep takes the same blob
    /// while this one is deleting it.
    async fn mark_deleting(self, hash: &str, untouched_since: i64, now: Time) -> anyhow::Result<bool> {
        let marked = entity::blob::Entity::update_many()
            .col_expr(entity::blob::Column::State, Expr::value(BlobState::Deleting.as_str()))
            .col_expr(entity::blob::Column::TouchedAt, Expr::value(now.millis()))
            .filter(entity::blob::Column::Hash.eq(hash))
            .filter(entity::blob::Column::TouchedAt.lt(untouched_since))
            .filter(unreferenced())
            .exec(&self.0.database.writer)
            .await?;
        Ok(marked.rows_affected == 1)
    }

    /// Only the sweep that marked a blob deletes its row.
    async fn forget_deleted(self, hash: &str, marked_at: Time) -> anyhow::Result<()> {
        entity::blob::Entity::delete_many()
            .filter(entity::blob::Column::Hash.eq(hash))
            .filter(entity::blob::Column::State.eq(BlobState::Deleting.as_str()))
            .filter(entity::blob::Column::TouchedAt.eq(marked_at.millis()))
            .exec(&self.0.database.writer)
            .await?;
        Ok(())
    }
}

/// The rows of these blobs and the number of the last immediate sweep. One statement reads both, so they are
/// consistent.
async fn known_blobs(
    connection: &impl ConnectionTrait,
    hashes: &[BlobHash],
) -> anyhow::Result<(SweepNumber, Vec<entity::blob::Model>)> {
    let is_wanted = among(connection, entity::blob::Column::Hash, hashes.iter().map(BlobHash::to_string));
    let select = Query::select()
        .column((entity::blob_sweep::Entity, entity::blob_sweep::Column::Number))
        .columns(entity::blob::Column::iter().map(|column| (entity::blob::Entity, column)))
        .from(entity::blob_sweep::Entity)
        .left_join(entity::blob::Entity, is_wanted)
        .and_where(entity::blob_sweep::Column::Id.eq(SWEEP_ROW))
        .to_owned();
    let rows = connection.query_all(&select).await.context("find contents")?;
    let first = rows.first().context("the number of sweeps is missing in the database")?;
    let number = SweepNumber(first.try_get("", "number")?);
    let known = rows.iter().map(|row| Option::<entity::blob::Model>::from_query_result(row, ""));
    Ok((number, known.filter_map(Result::transpose).collect::<Result<_, _>>()?))
}

/// Rows for the contents of a manifest, by their hashes.
pub(crate) fn rows_of(
    manifest: &Manifest,
    now: Time,
) -> anyhow::Result<BTreeMap<String, entity::blob::ActiveModel>> {
    let row = |file: &ManifestFile| {
        let hash = file.hash.to_string();
        let row = entity::blob::ActiveModel {
            hash: Set(hash.clone()),
            size_bytes: Set(rows::number(file.size_bytes)),
            variants: Set(serde_json::to_string(&file.variants)?),
            state: Set(BlobState::Present.as_str().to_owned()),
            touched_at: Set(now.millis()),
            created_at: Set(now.millis()),
            lost_at: Set(None),
            bundle: Set(file.bundled.map(|at| at.bundle.to_string())),
            bundle_offset: Set(file.bundled.map(|at| rows::number(at.offset_bytes))),
        };
        Ok((hash, row))
    };
    manifest.files().iter().map(row).collect()
}

/// Inserts missing rows in the order of their hashes, so that two transactions with the same contents take
/// their locks in the same order.
pub(crate) fn insert(
    script: &mut Script,
    contents: BTreeMap<String, entity::blob::ActiveModel>,
) -> anyhow::Result<()> {
    let keep = OnConflict::column(entity::blob::Column::Hash).do_nothing().to_owned();
    script.insert::<entity::blob::Entity>(contents.into_values(), Some(keep))
}

pub(crate) fn known(row: entity::blob::Model) -> anyhow::Result<KnownBlob> {
    Ok(KnownBlob {
        hash: rows::parse(&row.hash, "a blob hash")?,
        size_bytes: rows::count(row.size_bytes),
        variants: serde_json::from_str(&row.variants).context("malformed variants in the database")?,
        bundled: bundled_at(row.bundle.as_deref(), row.bundle_offset)?,
    })
}

pub(crate) fn bundled_at(bundle: Option<&str>, offset: Option<i64>) -> anyhow::Result<Option<BundledAt>> {
    let Some(bundle) = bundle else { return Ok(None) };
    let offset = offset.context("a blob in a bundle has no offset in the database")?;
    Ok(Some(BundledAt { bundle: rows::parse(bundle, "a bundle id")?, offset_bytes: rows::count(offset) }))
}

pub(crate) fn unreferenced() -> sea_orm::sea_query::SimpleExpr {
    Expr::cust("NOT EXISTS (SELECT 1 FROM blob_refs WHERE blob_refs.hash = blobs.hash)")
}
