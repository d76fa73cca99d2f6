//! Compares manifests with the database and reports differences with the versions that they affect.

use std::collections::{HashMap, HashSet};

use domain::{BlobHash, Manifest, ManifestFile};
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{Damage, DamageFault, Harmed, MalformedManifest, ScrubNews, ScrubProgress};
use crate::blob_index::known;
use crate::blobs::KnownBlob;
use crate::handles::IntegrityChecks;
use crate::rows;

/// A manifest has up to 50 files.
const VERSIONS_PAGE: u64 = 50;

impl IntegrityChecks<'_> {
    /// Compares every version's manifest with the database.
    pub async fn scrub_manifests(
        self,
        mut progress: ScrubProgress,
        report: &mut impl FnMut(ScrubNews),
    ) -> anyhow::Result<ScrubProgress> {
        let mut after = String::new();
        loop {
            let page = self.manifests_after(&after).await?;
            let Some((last, _)) = page.last() else { return Ok(progress) };
            after.clone_from(last);
            progress.versions += page.len() as u64;
            let (page, malformed) = parsed(page);
            for version in malformed {
                let harmed = self.harmed_version(&version).await?;
                // A version that was purged in the meantime is not affected.
                if !harmed.is_empty() {
                    progress.damages += 1;
                    report(ScrubNews::Malformed(MalformedManifest { version, harmed }));
                }
            }
            for (file, fault) in self.wrong_files(&page).await? {
                progress.damages += 1;
                let harmed = self.harmed_version(&file.0).await?;
                report(ScrubNews::Damage(Damage { hash: file.1, bundle: None, fault, harmed }));
            }
            report(ScrubNews::Progress(progress));
        }
    }

    async fn manifests_after(self, after: &str) -> anyhow::Result<Vec<(String, String)>> {
        Ok(entity::version::Entity::find()
            .select_only()
            .columns([entity::version::Column::Id, entity::version::Column::Manifest])
            .filter(entity::version::Column::Id.gt(after))
            .order_by_asc(entity::version::Column::Id)
            .limit(VERSIONS_PAGE)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?)
    }

    /// The files of these versions that differ from the database, by version and hash. Versions that were
    /// purged in the meantime are left out.
    async fn wrong_files(
        self,
        page: &[(String, Manifest)],
    ) -> anyhow::Result<Vec<((String, BlobHash), DamageFault)>> {
        let files: Vec<(&str, &ManifestFile)> = page
            .iter()
            .flat_map(|(version, manifest)| manifest.files().iter().map(|file| (version.as_str(), file)))
            .collect();
        let hashes: HashSet<String> = files.iter().map(|(_, file)| file.hash.to_string()).collect();
        let known: HashMap<BlobHash, KnownBlob> = entity::blob::Entity::find()
            .filter(entity::blob::Column::Hash.is_in(hashes))
            .all(&self.0.database.reader)
            .await?
            .into_iter()
            .map(|row| known(row).map(|blob| (blob.hash, blob)))
            .collect::<anyhow::Result<_>>()?;
        let versions = page.iter().map(|(version, _)| version.clone());
        let references: HashSet<(String, String)> = entity::blob_ref::Entity::find()
            .select_only()
            .columns([entity::blob_ref::Column::VersionId, entity::blob_ref::Column::Hash])
            .filter(entity::blob_ref::Column::VersionId.is_in(versions))
            .into_tuple::<(String, String)>()
            .all(&self.0.database.reader)
            .await?
            .into_iter()
            .collect();
        let mut wrong = HashMap::new();
        for (version, file) in files {
            let is_referenced = references.contains(&(version.to_owned(), file.hash.to_string()));
            if let Some(fault) = fault_of(file, known.get(&file.hash), is_referenced) {
                wrong.insert((version.to_owned(), file.hash), fault);
            }
        }
        self.retain_existing_versions(&mut wrong).await?;
        Ok(wrong.into_iter().collect())
    }

    async fn retain_existing_versions(
        self,
        wrong: &mut HashMap<(String, BlobHash), DamageFault>,
    ) -> anyhow::Result<()> {
        if wrong.is_empty() {
            return Ok(());
        }
        let versions: HashSet<String> = wrong.keys().map(|(version, _)| version.clone()).collect();
        let there: Vec<String> = entity::version::Entity::find()
            .select_only()
            .column(entity::version::Column::Id)
            .filter(entity::version::Column::Id.is_in(versions))
            .into_tuple()
            .all(&self.0.database.reader)
            .await?;
        let there: HashSet<String> = there.into_iter().collect();
        wrong.retain(|(version, _), _| there.contains(version));
        Ok(())
    }

    async fn harmed_version(self, version: &str) -> anyhow::Result<Vec<Harmed>> {
        let Some(row) = entity::version::Entity::find_by_id(version).one(&self.0.database.reader).await?
        else {
            return Ok(Vec::new());
        };
        let artifact = rows::artifact::find_even_deleted(&self.0.database.reader, &row.artifact_id).await?;
        let Some(artifact) = artifact else { return Ok(Vec::new()) };
        Ok(vec![Harmed {
            host: rows::parse(&artifact.host, "a host")?,
            seq: u32::try_from(row.seq).unwrap_or(0),
            is_live: artifact.live_version_id.as_deref() == Some(version) && artifact.deleted_at.is_none(),
        }])
    }
}

/// The parsed manifests of these versions, and the versions whose manifest is malformed.
fn parsed(page: Vec<(String, String)>) -> (Vec<(String, Manifest)>, Vec<String>) {
    let (mut manifests, mut malformed) = (Vec::new(), Vec::new());
    for (version, text) in page {
        match rows::manifest(&text) {
            Ok(manifest) => manifests.push((version, manifest)),
            Err(_) => malformed.push(version),
        }
    }
    (manifests, malformed)
}

fn fault_of(file: &ManifestFile, known: Option<&KnownBlob>, is_referenced: bool) -> Option<DamageFault> {
    match known {
        None => Some(DamageFault::Unknown),
        Some(known) if known.size_bytes != file.size_bytes || known.variants != file.variants => {
            Some(DamageFault::ManifestDiffers)
        }
        Some(_) => (!is_referenced).then_some(DamageFault::Unreferenced),
    }
}
