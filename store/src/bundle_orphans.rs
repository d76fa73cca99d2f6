//! Finds and deletes bundles without a row.
//!
//! A sweep knows a bundle by its row, which the settlement of its publish adds. A publish can end without a
//! settlement that does so, and its object can appear after its end: see
//! `docs/decisions/0032-small-contents-share-an-object.md`. Only the store itself knows all its objects.
//! Bundles are named by ids, which begin with a time, so a sweep lists only those of the last days.

use std::collections::HashSet;
use std::time::Duration;

use anyhow::Context;
use domain::{BundleId, Time, WrittenBundle};
use futures::TryStreamExt;
use sea_orm::ActiveValue::Set;
use sea_orm::{ConnectionTrait, EntityTrait, QueryFilter, QuerySelect};

use crate::blob_state::BlobState;
use crate::blob_sweep::{ReferenceLock, lock_references, take_next_number};
use crate::bundle_rows::new_row;
use crate::bundle_sweep::EMPTY_KEPT;
use crate::handles::BlobIndex;
use crate::many::{among, insert_rows};
use crate::objects::StoredObject;
use crate::{Blobs, ORPHAN_GRACE};

/// A sweep finds orphans with ids of this age and less. It repeats the search every hour, for objects that
/// appear late and after times without workers. Older orphans are left to a scrub.
const ORPHANS_LISTED: Duration = Duration::from_secs(4 * 24 * 3600);
/// Bundles that are compared with the database at a time.
const LISTED_PAGE: usize = 500;
/// Bundles that are marked in one transaction. Publishes wait until it ends.
const MARKED_AT_ONCE: usize = 500;

impl BlobIndex<'_> {
    /// The bundles of the last days that have no row, and are old enough that no publish may rely on them.
    pub async fn list_orphan_bundles(
        self,
        blobs: &Blobs,
        now: Time,
        at_most: usize,
    ) -> anyhow::Result<Vec<BundleId>> {
        let written_before = now.minus(ORPHAN_GRACE);
        let mut pages = blobs.bundles_since(now.minus(ORPHANS_LISTED)).try_chunks(LISTED_PAGE);
        let mut orphans = Vec::new();
        while orphans.len() < at_most
            && let Some(page) = pages.try_next().await.map_err(|error| error.1)?
        {
            let old = page.iter().filter(|object| object.written_at < written_before);
            let ids: Vec<BundleId> = old.filter_map(StoredObject::bundle).collect();
            orphans.extend(without_row(&self.0.database.reader, &ids).await?);
        }
        orphans.truncate(at_most);
        Ok(orphans)
    }

    /// Which of these bundles have no row, not even as being deleted.
    pub async fn find_unknown_bundles(self, ids: &[BundleId]) -> anyhow::Result<HashSet<BundleId>> {
        Ok(without_row(&self.0.database.reader, ids).await?.into_iter().collect())
    }

    /// Deletes the objects of bundles that have no row, and returns their number. Rows in the state of
    /// deletion are inserted first: see `sweep_orphan`. A bundle that has a row by now is left alone.
    pub async fn delete_orphan_bundles(
        self,
        blobs: &Blobs,
        ids: &[BundleId],
        now: Time,
    ) -> anyhow::Result<u64> {
        let mut deleted = 0;
        for ids in ids.chunks(MARKED_AT_ONCE) {
            let retry_at = now.plus(EMPTY_KEPT);
            for id in self.mark_orphan_bundles(ids, now, retry_at).await? {
                deleted += u64::from(self.delete_marked_bundle(blobs, &id.to_string(), retry_at).await?);
            }
        }
        Ok(deleted)
    }

    async fn mark_orphan_bundles(
        self,
        ids: &[BundleId],
        now: Time,
        retry_at: Time,
    ) -> anyhow::Result<Vec<BundleId>> {
        let transaction = self.0.database.begin().await?;
        lock_references(&transaction, ReferenceLock::NoReference).await?;
        let mut marked = without_row(&transaction, ids).await?;
        let in_use = with_content(&transaction, &marked).await?;
        marked.retain(|id| !in_use.contains(&id.to_string()));
        if marked.is_empty() {
            return Ok(marked);
        }
        let row = |id: &BundleId| entity::bundle::ActiveModel {
            state: Set(BlobState::Deleting.as_str().to_owned()),
            check_at: Set(Some(retry_at.millis())),
            ..new_row(WrittenBundle { id: *id, size_bytes: 0 }, now)
        };
        let rows: Vec<_> = marked.iter().map(row).collect();
        // Without a rule for conflicts, so it fails if another transaction has inserted a row.
        insert_rows::<entity::bundle::Entity>(&transaction, rows, None)
            .await
            .context("mark orphan bundles")?;
        take_next_number(&transaction).await?;
        transaction.commit().await.context("commit the marks of orphan bundles")?;
        Ok(marked)
    }
}

async fn without_row(connection: &impl ConnectionTrait, ids: &[BundleId]) -> anyhow::Result<Vec<BundleId>> {
    let names = ids.iter().map(BundleId::to_string);
    let known: Vec<String> = entity::bundle::Entity::find()
        .select_only()
        .column(entity::bundle::Column::Id)
        .filter(among(connection, entity::bundle::Column::Id, names))
        .into_tuple()
        .all(connection)
        .await?;
    let known: HashSet<String> = known.into_iter().collect();
    Ok(ids.iter().copied().filter(|id| !known.contains(&id.to_string())).collect())
}

/// Those of the bundles that a content is in.
async fn with_content(
    connection: &impl ConnectionTrait,
    ids: &[BundleId],
) -> anyhow::Result<HashSet<String>> {
    let names = ids.iter().map(BundleId::to_string);
    let found: Vec<Option<String>> = entity::blob::Entity::find()
        .select_only()
        .column(entity::blob::Column::Bundle)
        .filter(among(connection, entity::blob::Column::Bundle, names))
        .distinct()
        .into_tuple()
        .all(connection)
        .await?;
    Ok(found.into_iter().flatten().collect())
}
