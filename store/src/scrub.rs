//! Checks all stored data: every referenced blob exists and is intact, every manifest agrees with the
//! database, and every object in the blob store is referenced.
//!
//! It runs page by page beside the live service. A suspected fault is checked again before it is reported,
//! because accounts are purged and blobs swept in the meantime. This module must never delete what a publish
//! in flight relies on: see `blob_sweep`.

mod bundles;
mod manifests;
mod orphans;

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use domain::{BlobHash, BundleId, Chance, Host, Time};
use futures::StreamExt;
use futures::TryStreamExt;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, Statement};

use crate::blob_index::{known, unreferenced};
use crate::blob_state::BlobState;
use crate::blobs::KnownBlob;
use crate::examine::BlobFault;
use crate::handles::{BlobIndex, IntegrityChecks};
use crate::objects::StoredObject;
use crate::{Blobs, rows};

/// An object without references may still get some for this long: a publish is retried through an outage of
/// some minutes, and spooled uploads wait for up to a day.
pub const ORPHAN_GRACE: Duration = Duration::from_secs(24 * 3600);

const CONTENTS_PAGE: u64 = 500;
const HARMED_SHOWN_MAX: u64 = 20;

/// Events that are reported during a scrub.
#[derive(Clone, Debug)]
pub enum ScrubNews {
    /// The progress so far.
    Progress(ScrubProgress),
    Damage(Damage),
    Malformed(MalformedManifest),
    Orphan(Orphan),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubProgress {
    pub contents: u64,
    pub bytes: u64,
    pub versions: u64,
    pub objects: u64,
    pub damages: u64,
    /// Missing contents that this scrub marked as lost.
    pub noted_lost: u64,
    pub orphans: u64,
    pub removed: u64,
}

/// A damaged content and the versions that contain it.
#[derive(Clone, Debug)]
pub struct Damage {
    pub hash: BlobHash,
    /// The bundle that should have it. `None`: its own object.
    pub bundle: Option<BundleId>,
    pub fault: DamageFault,
    /// The first versions; there may be more.
    pub harmed: Vec<Harmed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageFault {
    Object(BlobFault),
    /// A manifest lists the content, and the database does not have it.
    Unknown,
    /// The manifest and the database have different sizes or variants for the content.
    ManifestDiffers,
    /// A manifest lists the content, and no reference protects it from sweeps.
    Unreferenced,
}

impl fmt::Display for DamageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DamageFault::Object(fault) => fault.fmt(f),
            DamageFault::Unknown => f.write_str("a manifest lists it, but the database does not have it"),
            DamageFault::ManifestDiffers => {
                f.write_str("its size or encodings in a manifest differ from those in the database")
            }
            DamageFault::Unreferenced => {
                f.write_str("a manifest lists it, but no reference protects it from sweeps")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harmed {
    pub host: Host,
    pub seq: u32,
    /// Whether visitors see this version.
    pub is_live: bool,
}

/// A version whose manifest cannot be parsed, so that its contents are unknown.
#[derive(Clone, Debug)]
pub struct MalformedManifest {
    pub version: String,
    pub harmed: Vec<Harmed>,
}

/// An unreferenced object.
#[derive(Clone, Debug)]
pub struct Orphan {
    pub object: StoredObject,
    pub fate: OrphanFate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrphanFate {
    /// It does not belong to this service and is kept.
    Foreign,
    /// It is old enough to be deleted.
    Removable,
    Removed,
}

/// What a scrub does besides reporting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrubCare {
    Report,
    /// Deletes orphans, and marks missing contents as lost, so that a publish with the same content stores it
    /// again.
    Fix,
}

/// The scope of a scrub.
#[derive(Clone, Copy, Debug)]
pub struct Scrub<'a> {
    pub blobs: &'a Blobs,
    pub care: ScrubCare,
    pub now: Time,
    /// Contents that are read concurrently, each decoded on its own thread.
    pub at_once: usize,
}

impl Scrub<'_> {
    /// For a local folder. A disk is not faster with more.
    pub const OF_A_FOLDER_AT_ONCE: usize = 4;
}

impl BlobIndex<'_> {
    /// Contents that are stored according to the database, in the order of their hashes.
    pub async fn list(self, after: Option<BlobHash>, at_most: u64) -> anyhow::Result<Vec<KnownBlob>> {
        let mut wanted = entity::blob::Entity::find()
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .order_by_asc(entity::blob::Column::Hash)
            .limit(at_most);
        if let Some(after) = after {
            wanted = wanted.filter(entity::blob::Column::Hash.gt(after.to_string()));
        }
        wanted.all(&self.0.database.reader).await?.into_iter().map(known).collect()
    }

    /// Bundles that have contents according to the database, in the order of their ids.
    pub async fn list_bundles(self, after: Option<BundleId>, at_most: u64) -> anyhow::Result<Vec<BundleId>> {
        let after = after.map(|id| id.to_string()).unwrap_or_default();
        let found: Vec<String> = entity::blob::Entity::find()
            .select_only()
            .column(entity::blob::Column::Bundle)
            .distinct()
            .filter(entity::blob::Column::Bundle.gt(after))
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .order_by_asc(entity::blob::Column::Bundle)
            .limit(at_most)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        found.iter().map(|id| rows::parse(id, "a bundle id")).collect()
    }

    /// Contents that are stored in a bundle according to the database.
    pub async fn list_in_bundle(self, id: BundleId) -> anyhow::Result<Vec<KnownBlob>> {
        let found = entity::blob::Entity::find()
            .filter(entity::blob::Column::Bundle.eq(id.to_string()))
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .order_by_asc(entity::blob::Column::Hash)
            .all(&self.0.database.reader)
            .await?;
        found.into_iter().map(known).collect()
    }

    /// Which of these contents have no row, not even as being deleted.
    pub async fn find_unknown(self, hashes: &[BlobHash]) -> anyhow::Result<HashSet<BlobHash>> {
        let known: Vec<String> = entity::blob::Entity::find()
            .select_only()
            .column(entity::blob::Column::Hash)
            .filter(entity::blob::Column::Hash.is_in(hashes.iter().map(BlobHash::to_string)))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        let known: HashSet<String> = known.into_iter().collect();
        Ok(hashes.iter().copied().filter(|hash| !known.contains(&hash.to_string())).collect())
    }

    /// The row of a referenced content. An unreferenced one may have been swept by now.
    async fn find_referenced(self, hash: BlobHash) -> anyhow::Result<Option<KnownBlob>> {
        let found = entity::blob::Entity::find_by_id(hash.to_string())
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .filter(unreferenced().not())
            .one(&self.0.database.reader)
            .await?;
        found.map(known).transpose()
    }
}

impl IntegrityChecks<'_> {
    /// The versions with a content, live ones first.
    pub async fn list_harmed_by(self, hash: BlobHash) -> anyhow::Result<Vec<Harmed>> {
        #[derive(FromQueryResult)]
        struct Row {
            host: String,
            seq: i32,
            live: i32,
        }
        let database = &self.0.database.reader;
        let sql = "SELECT artifacts.host AS host, versions.seq AS seq,
                CASE WHEN routes.host IS NULL THEN 0 ELSE 1 END AS live
            FROM blob_refs JOIN versions ON versions.id = blob_refs.version_id
            JOIN artifacts ON artifacts.id = versions.artifact_id
            LEFT JOIN routes ON routes.version_id = versions.id
            WHERE blob_refs.hash = $1 ORDER BY live DESC, artifacts.host, versions.seq LIMIT $2";
        let values = [hash.to_string().into(), rows::number(HARMED_SHOWN_MAX).into()];
        let statement = Statement::from_sql_and_values(database.get_database_backend(), sql, values);
        let found = Row::find_by_statement(statement).all(database).await?;
        found
            .into_iter()
            .map(|row| {
                Ok(Harmed {
                    host: rows::parse(&row.host, "a host")?,
                    seq: u32::try_from(row.seq).unwrap_or(0),
                    is_live: row.live == 1,
                })
            })
            .collect()
    }

    /// Examines every referenced content, or a sample of this size from a random position on, and returns the
    /// progress.
    pub async fn scrub_contents(
        self,
        scrub: &Scrub<'_>,
        sample: Option<(u64, &Chance)>,
        report: &mut impl FnMut(ScrubNews),
    ) -> anyhow::Result<ScrubProgress> {
        let mut progress = ScrubProgress::default();
        let start = sample.map(|(_, chance)| BlobHash::of(&chance.bytes::<32>()));
        let left = |progress: &ScrubProgress| {
            sample.map_or(u64::MAX, |(number, _)| number.saturating_sub(progress.contents))
        };
        let (mut after, mut has_wrapped) = (start, start.is_none());
        while left(&progress) > 0 {
            let mut page = self.0.blob_index().list(after, Ord::min(CONTENTS_PAGE, left(&progress))).await?;
            if has_wrapped && let Some(start) = start {
                page.retain(|blob| blob.hash <= start);
            }
            after = page.last().map(|blob| blob.hash);
            if after.is_none() {
                if has_wrapped {
                    break;
                }
                has_wrapped = true;
                continue;
            }
            self.scrub_page(scrub, page, &mut progress, report).await?;
        }
        Ok(progress)
    }

    async fn scrub_page(
        self,
        scrub: &Scrub<'_>,
        page: Vec<KnownBlob>,
        progress: &mut ScrubProgress,
        report: &mut impl FnMut(ScrubNews),
    ) -> anyhow::Result<()> {
        let examinations = page.into_iter().map(|blob| async move {
            let fault = self.fault_of(scrub, &blob).await?;
            anyhow::Ok((blob, fault))
        });
        let mut examinations = futures::stream::iter(examinations).buffer_unordered(scrub.at_once);
        while let Some((blob, fault)) = examinations.try_next().await? {
            progress.contents += 1;
            progress.bytes += blob.size_bytes;
            if let Some(fault) = fault {
                progress.damages += 1;
                if scrub.care == ScrubCare::Fix && fault == BlobFault::Missing {
                    progress.noted_lost +=
                        u64::from(self.0.blob_index().mark_lost(blob.hash, scrub.now).await?);
                }
                let harmed = self.list_harmed_by(blob.hash).await?;
                report(ScrubNews::Damage(Damage {
                    hash: blob.hash,
                    bundle: blob.bundled.map(|at| at.bundle),
                    fault: DamageFault::Object(fault),
                    harmed,
                }));
            }
            report(ScrubNews::Progress(*progress));
        }
        Ok(())
    }

    /// The fault of a referenced content. If a sweep has moved it in the meantime, it is examined where it is
    /// now.
    async fn fault_of(self, scrub: &Scrub<'_>, blob: &KnownBlob) -> anyhow::Result<Option<BlobFault>> {
        let Some(fault) = scrub.blobs.examine(blob).await? else { return Ok(None) };
        match self.0.blob_index().find_referenced(blob.hash).await? {
            Some(now) if now.bundled != blob.bundled => scrub.blobs.examine(&now).await,
            Some(_) => Ok(Some(fault)),
            None => Ok(None),
        }
    }
}
