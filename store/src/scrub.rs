//! Looking through everything that is stored: that every content that the database counts on is there and whole, that
//! every manifest says the same, and that nothing lies in the blob store that nobody knows of.
//!
//! It runs beside the live service, page by page. What seems to be wrong is looked at again before it is told, because
//! accounts are purged and contents swept meanwhile. Nothing here may delete what a publish in flight counts on: see
//! `blob_sweep`.

mod manifests;
mod orphans;

use std::collections::HashSet;
use std::fmt;
use std::time::Duration;

use anyhow::Context;
use domain::{BlobHash, Chance, Host, Time};
use futures::StreamExt;
use futures::TryStreamExt;
use sea_orm::sea_query::ExprTrait;
use sea_orm::{ColumnTrait, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, Statement};

use crate::blob_index::{BlobState, unreferenced};
use crate::blobs::KnownBlob;
use crate::examine::BlobFault;
use crate::handles::{BlobIndex, IntegrityChecks};
use crate::objects::StoredObject;
use crate::{Blobs, rows};

/// Something that nobody knows of may be on its way to being known for this long: a publish outlasts an outage of some
/// minutes, and spooled uploads wait for a day at most.
pub const ORPHAN_GRACE: Duration = Duration::from_secs(24 * 3600);

const CONTENTS_PAGE: u64 = 500;
const HARMED_SHOWN_MAX: u64 = 20;

/// What is told while a scrub goes on.
#[derive(Clone, Debug)]
pub enum ScrubNews {
    /// So much has been looked through by now.
    Progress(ScrubProgress),
    Damage(Damage),
    Malformed(MalformedManifest),
    Orphan(Orphan),
}

/// How far a scrub is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ScrubProgress {
    pub contents: u64,
    pub bytes: u64,
    pub versions: u64,
    pub objects: u64,
    pub damages: u64,
    /// Missing contents that are now noted as lost.
    pub noted_lost: u64,
    pub orphans: u64,
    pub removed: u64,
}

/// A content that is not as it should be, and the versions that suffer by it.
#[derive(Clone, Debug)]
pub struct Damage {
    pub hash: BlobHash,
    pub fault: DamageFault,
    /// The first of them; there may be more.
    pub harmed: Vec<Harmed>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageFault {
    Object(BlobFault),
    /// A manifest names it, and the database knows no such content.
    Unknown,
    /// A manifest has another size or other encodings for it than the database.
    ManifestDiffers,
    /// A manifest names it, and nothing keeps it from being swept.
    Unreferenced,
}

impl fmt::Display for DamageFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DamageFault::Object(fault) => fault.fmt(f),
            DamageFault::Unknown => f.write_str("a manifest names it, and the database does not know it"),
            DamageFault::ManifestDiffers => {
                f.write_str("a manifest has another size or other encodings for it than the database")
            }
            DamageFault::Unreferenced => {
                f.write_str("a manifest names it, and no reference keeps it from being swept")
            }
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Harmed {
    pub host: Host,
    pub seq: u32,
    /// It is what visitors see.
    pub is_live: bool,
}

/// A version whose manifest cannot be read, so that nobody knows what belongs to it.
#[derive(Clone, Debug)]
pub struct MalformedManifest {
    pub version: String,
    pub harmed: Vec<Harmed>,
}

/// An object that nothing refers to.
#[derive(Clone, Debug)]
pub struct Orphan {
    pub object: StoredObject,
    pub fate: OrphanFate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrphanFate {
    /// It is none of ours, and stays.
    Foreign,
    /// It is old enough to be removed.
    Removable,
    Removed,
}

/// What a scrub does beyond looking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScrubCare {
    Report,
    /// Orphans are removed, and missing contents noted, so that whoever publishes one again puts it.
    Mend,
}

/// Where a scrub looks, and what for.
#[derive(Clone, Copy, Debug)]
pub struct Scrub<'a> {
    pub blobs: &'a Blobs,
    pub care: ScrubCare,
    pub now: Time,
    /// Contents that are read at a time, each of them decoded on a thread of its own.
    pub at_once: usize,
}

impl Scrub<'_> {
    /// For a folder: a disk gains nothing by more.
    pub const OF_A_FOLDER_AT_ONCE: usize = 4;
}

impl BlobIndex<'_> {
    /// Contents that the database says are stored, in the order of their hashes.
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

    /// Which of these contents the database does not know, not even as about to be deleted.
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

    /// What nothing refers to is swept one day, so it may be gone by now.
    async fn is_referenced(self, hash: BlobHash) -> anyhow::Result<bool> {
        let found = entity::blob::Entity::find_by_id(hash.to_string())
            .filter(entity::blob::Column::State.eq(BlobState::Present.as_str()))
            .filter(unreferenced().not())
            .one(&self.0.database.reader)
            .await?;
        Ok(found.is_some())
    }
}

impl IntegrityChecks<'_> {
    /// The versions that a content is part of, live ones first.
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

    /// Looks at every content that is counted on, or at so many from a random place on. How far it came.
    pub async fn scrub_contents(
        self,
        scrub: &Scrub<'_>,
        sample: Option<(u64, &Chance)>,
        news: &mut impl FnMut(ScrubNews),
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
            self.scrub_page(scrub, page, &mut progress, news).await?;
        }
        Ok(progress)
    }

    async fn scrub_page(
        self,
        scrub: &Scrub<'_>,
        page: Vec<KnownBlob>,
        progress: &mut ScrubProgress,
        news: &mut impl FnMut(ScrubNews),
    ) -> anyhow::Result<()> {
        let examinations = page.into_iter().map(|blob| async move {
            let fault = scrub.blobs.examine(&blob).await?;
            anyhow::Ok((blob, fault))
        });
        let mut examinations = futures::stream::iter(examinations).buffer_unordered(scrub.at_once);
        while let Some((blob, fault)) = examinations.try_next().await? {
            progress.contents += 1;
            progress.bytes += blob.size_bytes;
            if let Some(fault) = fault
                && self.0.blob_index().is_referenced(blob.hash).await?
            {
                progress.damages += 1;
                if scrub.care == ScrubCare::Mend && fault == BlobFault::Missing {
                    progress.noted_lost +=
                        u64::from(self.0.blob_index().mark_lost(blob.hash, scrub.now).await?);
                }
                let harmed = self.list_harmed_by(blob.hash).await?;
                news(ScrubNews::Damage(Damage {
                    hash: blob.hash,
                    fault: DamageFault::Object(fault),
                    harmed,
                }));
            }
            news(ScrubNews::Progress(*progress));
        }
        Ok(())
    }
}

fn known(row: entity::blob::Model) -> anyhow::Result<KnownBlob> {
    Ok(KnownBlob {
        hash: rows::parse(&row.hash, "a blob hash")?,
        size_bytes: rows::count(row.size_bytes),
        variants: serde_json::from_str(&row.variants).context("malformed variants in the database")?,
    })
}
