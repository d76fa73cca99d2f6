//! Compares the index of every bundle with the database.

use domain::BundleId;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QuerySelect};

use super::{Damage, DamageFault, Scrub, ScrubCare, ScrubNews, ScrubProgress};
use crate::blob_state::BlobState;
use crate::blobs::KnownBlob;
use crate::bundle_rows::ask_for_check;
use crate::examine::BlobFault;
use crate::handles::IntegrityChecks;
use crate::rows;

const BUNDLES_PAGE: u64 = 500;

impl IntegrityChecks<'_> {
    /// Checks that each bundle's index lists its contents as the database does. Whether their bytes are there
    /// is checked with the contents. With `--fix` it also makes the next sweep check the bundles that are not
    /// in use, because the sweep of an earlier release deletes contents without that.
    pub async fn scrub_bundles(
        self,
        scrub: &Scrub<'_>,
        mut progress: ScrubProgress,
        report: &mut impl FnMut(ScrubNews),
    ) -> anyhow::Result<ScrubProgress> {
        let mut after = String::new();
        loop {
            let page = self.bundles_after(&after).await?;
            let Some(last) = page.last() else { return Ok(progress) };
            after.clone_from(last);
            for id in &page {
                for blob in self.misplaced_in(scrub, id).await? {
                    progress.damages += 1;
                    let harmed = self.list_harmed_by(blob.hash).await?;
                    report(ScrubNews::Damage(Damage {
                        hash: blob.hash,
                        bundle: blob.bundled.map(|at| at.bundle),
                        fault: DamageFault::Object(BlobFault::Trailer),
                        harmed,
                    }));
                }
            }
            report(ScrubNews::Progress(progress));
        }
    }

    async fn bundles_after(self, after: &str) -> anyhow::Result<Vec<String>> {
        Ok(entity::bundle::Entity::find()
            .select_only()
            .column(entity::bundle::Column::Id)
            .filter(entity::bundle::Column::Id.gt(after))
            .filter(entity::bundle::Column::State.eq(BlobState::Present.as_str()))
            .order_by_asc(entity::bundle::Column::Id)
            .limit(BUNDLES_PAGE)
            .into_tuple()
            .all(&self.0.database.reader)
            .await?)
    }

    /// The referenced contents of a bundle that its index does not list, or lists differently. If the object
    /// is missing, its contents are reported as missing.
    async fn misplaced_in(self, scrub: &Scrub<'_>, id: &str) -> anyhow::Result<Vec<KnownBlob>> {
        let contents = self.0.blob_index().contents_of(id).await?;
        if contents.is_empty() {
            if scrub.care == ScrubCare::Fix {
                ask_for_check(&self.0.database.writer, id, scrub.now).await?;
            }
            return Ok(Vec::new());
        }
        let bundle: BundleId = rows::parse(id, "a bundle id")?;
        let listed = match scrub.blobs.bundle(bundle).await {
            Ok(Some(stored)) => stored.contents,
            Ok(None) => return Ok(Vec::new()),
            Err(error) => {
                scrub.blobs.ping().await?;
                let error = format!("{error:#}");
                tracing::warn!(error, bundle.id = %id, "the index of a bundle cannot be read");
                Vec::new()
            }
        };
        let mut misplaced = Vec::new();
        for blob in contents.into_iter().filter(|blob| !listed.contains(blob)) {
            // It may have been moved or swept in the meantime.
            if self.0.blob_index().find_referenced(blob.hash).await?.as_ref() == Some(&blob) {
                misplaced.push(blob);
            }
        }
        Ok(misplaced)
    }
}
