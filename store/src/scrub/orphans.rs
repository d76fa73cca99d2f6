//! Finds unreferenced objects. Deleting one follows the rules of a sweep, so that no publish relies on a
//! deleted object.

use domain::{BlobHash, BundleId, Time};
use futures::TryStreamExt;

use super::{ORPHAN_GRACE, Orphan, OrphanFate, Scrub, ScrubCare, ScrubNews, ScrubProgress};
use crate::Blobs;
use crate::blobs::StorageKey;
use crate::handles::IntegrityChecks;
use crate::objects::{ObjectKind, StoredObject};

const OBJECTS_PAGE: usize = 500;

impl IntegrityChecks<'_> {
    /// Finds unreferenced objects, and deletes those that are old enough if the scrub is to do so.
    pub async fn scrub_objects(
        self,
        scrub: &Scrub<'_>,
        mut progress: ScrubProgress,
        report: &mut impl FnMut(ScrubNews),
    ) -> anyhow::Result<ScrubProgress> {
        let Scrub { blobs, care, now, .. } = *scrub;
        let mut pages = blobs.listed().try_chunks(OBJECTS_PAGE);
        while let Some(page) = pages.try_next().await.map_err(|error| error.1)? {
            progress.objects += page.len() as u64;
            let old = page.into_iter().filter(|object| object.written_at < now.minus(ORPHAN_GRACE)).collect();
            for orphan in self.find_orphans(old).await? {
                progress.orphans += 1;
                let fate = match (&orphan.kind, care) {
                    (ObjectKind::Unknown, _) => OrphanFate::Foreign,
                    (_, ScrubCare::Report) => OrphanFate::Removable,
                    (_, ScrubCare::Fix) if self.remove_orphan(blobs, &orphan, now).await? => {
                        progress.removed += 1;
                        OrphanFate::Removed
                    }
                    // It has got a reference at the last moment.
                    (_, ScrubCare::Fix) => {
                        progress.orphans -= 1;
                        continue;
                    }
                };
                report(ScrubNews::Orphan(Orphan { object: orphan, fate }));
            }
            report(ScrubNews::Progress(progress));
        }
        Ok(progress)
    }

    /// Every upload of this age is an orphan.
    async fn find_orphans(self, objects: Vec<StoredObject>) -> anyhow::Result<Vec<StoredObject>> {
        let hashes: Vec<BlobHash> = objects.iter().filter_map(StoredObject::hash).collect();
        let unknown = self.0.blob_index().find_unknown(&hashes).await?;
        let bundles: Vec<BundleId> = objects.iter().filter_map(StoredObject::bundle).collect();
        let unknown_bundles = self.0.blob_index().find_unknown_bundles(&bundles).await?;
        let is_orphan = |object: &StoredObject| match object.kind {
            ObjectKind::Blob(hash) => unknown.contains(&hash),
            ObjectKind::Bundle(id) => unknown_bundles.contains(&id),
            ObjectKind::Spool(_) | ObjectKind::Upload(_) | ObjectKind::Deploy(..) | ObjectKind::Unknown => {
                true
            }
        };
        Ok(objects.into_iter().filter(is_orphan).collect())
    }

    async fn remove_orphan(self, blobs: &Blobs, orphan: &StoredObject, now: Time) -> anyhow::Result<bool> {
        match orphan.kind {
            ObjectKind::Blob(hash) => {
                self.0.blob_index().sweep_orphan(blobs, hash, orphan.size_bytes, now).await
            }
            ObjectKind::Bundle(id) => {
                Ok(self.0.blob_index().delete_orphan_bundles(blobs, &[id], now).await? == 1)
            }
            ObjectKind::Spool(version) => {
                blobs.delete(StorageKey::Spool(version)).await?;
                Ok(true)
            }
            ObjectKind::Upload(ticket) => {
                blobs.delete(StorageKey::Upload(ticket)).await?;
                Ok(true)
            }
            ObjectKind::Deploy(deploy, part) => {
                blobs.delete_deploy_part(deploy, part).await?;
                Ok(true)
            }
            ObjectKind::Unknown => Ok(false),
        }
    }
}
