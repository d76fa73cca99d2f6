//! Bundles: what sweeps, repacks and publishes at the same time do with them.

mod checks;
mod concurrent;
mod orphans;
mod purges;

use domain::{BundleId, WrittenBundle};
use futures::TryStreamExt;
use futures::future::{join, join3};

use super::*;
use crate::{
    BlobFault, ContentAddress, ContentReader, DamageFault, KnownBlob, NewContent, ORPHAN_GRACE, ObjectKind,
    Scrub, ScrubCare, ScrubNews, StoredBlobs,
};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// More than the time for which sweeps keep what was checked.
const LATER: Duration = Duration::from_secs(2 * 3600);

/// A site whose contents are stored and that is not settled yet.
#[derive(Clone)]
struct SiteAttempt {
    version: VersionId,
    manifest: Manifest,
    bundle: Option<WrittenBundle>,
    as_of: SweepNumber,
    now: Time,
}

impl SiteAttempt {
    fn bundles(&self) -> Vec<BundleId> {
        self.manifest.files().iter().filter_map(|file| Some(file.bundled?.bundle)).collect()
    }
}

fn content(text: &str) -> Bytes {
    text.repeat(100).into()
}

impl StoreHarness {
    fn version(&self) -> VersionId {
        VersionId::new(START, &self.chance)
    }

    /// The steps of a worker before the settlement.
    async fn prepare(&self, version: VersionId, texts: &[&str], now: Time) -> anyhow::Result<SiteAttempt> {
        self.prepare_of(version, texts.iter().map(|text| content(text)).collect(), now).await
    }

    async fn prepare_of(
        &self,
        version: VersionId,
        contents: Vec<Bytes>,
        now: Time,
    ) -> anyhow::Result<SiteAttempt> {
        let hashes: Vec<BlobHash> = contents.iter().map(|bytes| BlobHash::of(bytes)).collect();
        let StoredBlobs { as_of, mut found, .. } = self.store.blob_index().find_stored(&hashes, now).await?;
        let id = BundleId::from(version);
        let mut missing: Vec<NewContent> = contents
            .iter()
            .filter(|bytes| !found.contains_key(&BlobHash::of(bytes)))
            .map(|bytes| NewContent {
                hash: BlobHash::of(bytes),
                bytes: bytes.clone(),
                layout: Layout::of(bytes, "text/html").unwrap(),
            })
            .collect();
        self.store.blob_index().claim_bundle(id, now).await?;
        let bundle = match self.blobs.bundle(id).await? {
            Some(earlier) => Some(earlier),
            None if missing.len() > 1 => Some(self.blobs.put_bundle(id, &missing).await?.unwrap()),
            None => None,
        };
        for blob in bundle.iter().flat_map(|bundle| &bundle.contents) {
            found.entry(blob.hash).or_insert(blob.clone());
        }
        missing.retain(|new| !found.contains_key(&new.hash));
        for NewContent { hash, bytes, layout } in missing {
            let size_bytes = bytes.len() as u64;
            let variants = self.blobs.put(hash, bytes, layout).await?;
            found.insert(hash, KnownBlob { hash, size_bytes, variants, bundled: None });
        }
        let file = |(index, bytes): (usize, &Bytes)| {
            let blob = &found[&BlobHash::of(bytes)];
            ManifestFile {
                path: format!("{index}.html").parse().unwrap(),
                hash: blob.hash,
                size_bytes: blob.size_bytes,
                content_type: "text/html".into(),
                variants: blob.variants.clone(),
                bundled: blob.bundled,
            }
        };
        let manifest = Manifest::new(contents.iter().enumerate().map(file).collect());
        let bundle = bundle.map(|bundle| bundle.written);
        Ok(SiteAttempt { version, manifest, bundle, as_of, now })
    }

    async fn settle_site(
        &self,
        account: AccountId,
        target: Target,
        attempt: &SiteAttempt,
    ) -> anyhow::Result<Outcome> {
        let operation = LedgerOperation::Publish(Box::new(PublishOperation {
            order: PublishOrder { version: attempt.version, target, ..self.order(account, "a-site") },
            manifest: attempt.manifest.clone(),
            title: None,
            bundle: attempt.bundle,
            blobs_as_of: attempt.as_of,
            verdict: None,
        }));
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: attempt.now };
        Ok(self.store.settle(account, &[operation], &terms).await?.pop().unwrap())
    }

    async fn site(&self, account: AccountId, texts: &[&str], now: Time) -> SiteAttempt {
        let contents: Vec<Bytes> = texts.iter().map(|text| content(text)).collect();
        self.site_of(account, &contents, now).await
    }

    async fn site_of(&self, account: AccountId, contents: &[Bytes], now: Time) -> SiteAttempt {
        let attempt = self.prepare_of(self.version(), contents.to_vec(), now).await.unwrap();
        let outcome = self.settle_site(account, Target::NewOrExisting, &attempt).await.unwrap();
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
        attempt
    }

    /// Retries like the queue, with the same version.
    async fn site_until_settled(&self, account: AccountId, texts: &[&str], now: Time) -> SiteAttempt {
        let version = self.version();
        for _ in 1..200 {
            if let Ok(attempt) = self.prepare(version, texts, now).await
                && self.settle_site(account, Target::NewOrExisting, &attempt).await.is_ok()
            {
                return attempt;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("a publish never settled");
    }

    fn reader(&self) -> ContentReader {
        ContentReader::new(self.store.clone(), self.blobs.clone())
    }

    /// Reads every file and every encoding, as an edge does.
    async fn assert_readable(&self, site: &SiteAttempt) {
        let contents = self.reader().read_all(site.manifest.files()).await.unwrap();
        for (file, content) in site.manifest.files().iter().zip(contents) {
            assert_eq!(BlobHash::of(&content), file.hash);
            let (address, whole) = (ContentAddress::of(file), 0..file.size_bytes);
            let read = self.reader().read(address, whole.clone()).await.unwrap();
            assert_eq!(BlobHash::of(&read), file.hash);
            let chunks: Vec<Bytes> =
                self.reader().stream(address, whole).await.unwrap().try_collect().await.unwrap();
            assert_eq!(chunks.concat(), read);
            for variant in &file.variants {
                let range = variant.offset_bytes..variant.offset_bytes + variant.size_bytes;
                let encoded = self.reader().read(address, range).await.unwrap();
                assert_eq!(encoded, crate::encode(variant.encoding, &read).unwrap());
            }
        }
    }

    async fn leave_at(&self, account: AccountId) {
        self.store.upkeep().purge_account(account, START.plus(LATER)).await.unwrap().unwrap();
    }

    /// The hourly sweep. Returns the numbers of blobs and of bundles that it changed.
    async fn sweep_hourly(&self, now: Time) -> (u64, u64) {
        let blobs = self.store.blob_index().sweep(&self.blobs, now, 1_000).await.unwrap();
        let bundles =
            self.store.blob_index().sweep_bundles(&self.blobs, now, &self.chance, 1_000).await.unwrap();
        (blobs.blobs, bundles)
    }

    async fn sweep_at_once(&self, now: Time) -> u64 {
        self.store.blob_index().sweep_at_once(&self.blobs, now).await.unwrap().blobs
    }

    async fn objects(&self) -> Vec<ObjectKind> {
        self.blobs.listed().map_ok(|object| object.kind).try_collect().await.unwrap()
    }

    async fn bundle_rows(&self) -> u64 {
        let counts = self.store.tables().count_rows().await.unwrap();
        counts.iter().find(|count| count.table == "bundles").unwrap().rows
    }

    async fn damages(&self, care: ScrubCare, now: Time) -> Vec<(BlobHash, DamageFault)> {
        let (mut damages, mut orphans) = (Vec::new(), 0);
        let mut news = |news| match news {
            ScrubNews::Damage(damage) => damages.push((damage.hash, damage.fault)),
            ScrubNews::Orphan(_) => orphans += 1,
            _ => {}
        };
        let scrub = Scrub { blobs: &self.blobs, care, now, at_once: Scrub::OF_A_FOLDER_AT_ONCE };
        let done = self.store.integrity().scrub_contents(&scrub, None, &mut news).await.unwrap();
        let done = self.store.integrity().scrub_bundles(&scrub, done, &mut news).await.unwrap();
        let done = self.store.integrity().scrub_manifests(done, &mut news).await.unwrap();
        self.store.integrity().scrub_objects(&scrub, done, &mut news).await.unwrap();
        damages
    }

    async fn change_bundle(&self, id: BundleId, change: impl FnOnce(&mut Vec<u8>)) {
        let path = self.folder.path().join(format!("blobs/bundles/{id}"));
        let mut bytes = std::fs::read(&path).unwrap();
        change(&mut bytes);
        std::fs::write(&path, bytes).unwrap();
    }
}

/// The files of a test have times of the system's clock.
fn long_after_writing() -> Time {
    domain::Clock::system().now().plus(ORPHAN_GRACE).plus(DAY)
}

on_both_databases! {
    async fn the_contents_of_a_publish_are_in_one_object_and_shared_by_hash(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let site = harness.site(account, &["one", "two", "three"], START).await;
        assert_eq!(harness.objects().await, [ObjectKind::Bundle(site.version.into())]);
        harness.assert_readable(&site).await;
        assert_eq!(harness.damages(ScrubCare::Report, START).await, []);
        let other = harness.site(account, &["two", "three"], START).await;
        assert_eq!((other.bundle, other.bundles()), (None, vec![site.version.into(); 2]));
        let third = harness.site(account, &["two", "four"], START).await;
        assert_eq!(third.bundle, None, "a single new content has its own object");
        assert_eq!(harness.objects().await.len(), 2);
        harness.assert_readable(&third).await;
    }

    async fn a_bundle_is_deleted_when_its_last_content_is_unreferenced(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.site(leaver, &["one", "two"], START).await;
        let kept = harness.site(keeper, &["two", "three", "four"], START).await;
        harness.leave_at(leaver).await;
        assert_eq!(harness.sweep_hourly(START.plus(LATER)).await, (1, 0), "another account uses the rest");
        harness.assert_readable(&kept).await;
        let other = harness.account().await;
        harness.site(other, &["five", "six"], START).await;
        harness.leave_at(other).await;
        assert_eq!(harness.sweep_hourly(START.plus(HOUR / 2)).await, (0, 0));
        assert_eq!(harness.sweep_hourly(START.plus(LATER)).await, (2, 1));
        assert_eq!((harness.objects().await.len(), harness.bundle_rows().await), (2, 2));
    }

    async fn an_immediate_sweep_deletes_a_bundle_however_new(harness: &StoreHarness) {
        let leaver = harness.account().await;
        harness.site(leaver, &["one", "two"], START).await;
        assert_eq!(harness.sweep_at_once(START).await, 0);
        harness.leave_at(leaver).await;
        assert_eq!(harness.sweep_at_once(START).await, 2);
        assert_eq!((harness.objects().await, harness.bundle_rows().await), (vec![], 0));
    }

    async fn of_two_publishes_of_the_same_new_contents_one_bundle_remains(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let texts = ["one", "two"];
        let first = harness.prepare(harness.version(), &texts, START).await.unwrap();
        let second = harness.prepare(harness.version(), &texts, START).await.unwrap();
        for attempt in [&first, &second] {
            harness.settle_site(account, Target::NewOrExisting, attempt).await.unwrap();
        }
        assert_eq!(harness.objects().await.len(), 2);
        assert_eq!(harness.sweep_hourly(START.plus(LATER)).await, (0, 0));
        assert_eq!(harness.sweep_hourly(START.plus(DAY)).await, (0, 1));
        assert_eq!(harness.objects().await, [ObjectKind::Bundle(first.version.into())]);
        // The second manifest names a bundle that is gone.
        assert_eq!(second.bundles(), vec![second.version.into(); 2]);
        harness.assert_readable(&second).await;
        assert_eq!(harness.damages(ScrubCare::Report, START).await, []);
    }

    async fn a_mostly_unused_bundle_is_repacked_and_old_manifests_stay_readable(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.site(leaver, &["one", "two", "three", "four"], START).await;
        let kept = harness.site(keeper, &["two"], START).await;
        harness.leave_at(leaver).await;
        assert_eq!(harness.sweep_hourly(START.plus(LATER)).await, (3, 0), "too new to be repacked");
        assert_eq!(harness.sweep_hourly(START.plus(DAY)).await, (0, 1));
        assert_eq!(harness.objects().await.len(), 2, "readers may have the old location");
        harness.assert_readable(&kept).await;
        assert_eq!(harness.sweep_hourly(START.plus(DAY)).await, (0, 0));
        assert_eq!(harness.sweep_at_once(START.plus(DAY)).await, 0);
        assert_eq!(harness.objects().await.len(), 2);
        assert_eq!(harness.sweep_hourly(START.plus(DAY + LATER)).await, (0, 1));
        assert_eq!((harness.objects().await.len(), harness.bundle_rows().await), (1, 1));
        harness.assert_readable(&kept).await;
        assert_eq!(harness.damages(ScrubCare::Report, START).await, []);
        let again = harness.site(keeper, &["two"], START.plus(DAY)).await;
        assert_ne!(again.bundles(), kept.bundles());
        // The new bundle is full of contents in use.
        assert_eq!(harness.sweep_hourly(START.plus(3 * DAY)).await, (0, 0));
    }

    async fn a_damaged_bundle_is_not_repacked(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        let site = harness.site(leaver, &["one", "two", "three", "four"], START).await;
        let kept = harness.site(keeper, &["two"], START).await;
        let at = usize::try_from(kept.manifest.files()[0].bundled.unwrap().offset_bytes).unwrap();
        harness.change_bundle(site.version.into(), |bytes| bytes[at] ^= 1).await;
        harness.leave_at(leaver).await;
        harness.sweep_hourly(START.plus(LATER)).await;
        assert_eq!(harness.sweep_hourly(START.plus(DAY)).await, (0, 0));
        let damage = (kept.manifest.files()[0].hash, DamageFault::Object(BlobFault::Content));
        assert_eq!(harness.damages(ScrubCare::Report, START).await, [damage]);
        harness.change_bundle(site.version.into(), |bytes| bytes[at] ^= 1).await;
        assert_eq!(harness.sweep_hourly(START.plus(3 * DAY)).await, (0, 1));
        harness.assert_readable(&kept).await;
    }

    async fn a_redelivered_publish_uses_the_bundle_of_its_earlier_attempt(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let version = harness.version();
        harness.prepare(version, &["one", "two"], START).await.unwrap();
        harness.site(account, &["one"], START).await;
        let again = harness.prepare(version, &["one", "two", "three"], START).await.unwrap();
        let bundled: Vec<bool> = again.manifest.files().iter().map(|file| file.bundled.is_some()).collect();
        assert_eq!(bundled, [false, true, false]);
        harness.settle_site(account, Target::NewOrExisting, &again).await.unwrap();
        harness.assert_readable(&again).await;
        assert_eq!(harness.damages(ScrubCare::Fix, long_after_writing()).await, []);
        assert_eq!(harness.objects().await.len(), 3, "no orphans");
    }

    async fn what_was_stored_for_a_refused_publish_is_swept(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let version = harness.version();
        let refused = harness.prepare(version, &["one", "two"], START).await.unwrap();
        harness.settle_site(account, Target::Existing, &refused).await.unwrap();
        // It is settled again after a redelivery.
        let again = harness.prepare(version, &["one", "two"], START).await.unwrap();
        harness.settle_site(account, Target::Existing, &again).await.unwrap();
        assert_eq!((harness.objects().await.len(), harness.bundle_rows().await), (1, 1));
        assert_eq!(harness.sweep_hourly(START.plus(LATER)).await, (2, 1));
        assert_eq!((harness.objects().await, harness.bundle_rows().await), (vec![], 0));
    }

    async fn a_redelivered_publish_does_not_rely_on_a_bundle_that_is_swept(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let version = harness.version();
        let refused = harness.prepare(version, &["one", "two"], START).await.unwrap();
        harness.settle_site(account, Target::Existing, &refused).await.unwrap();
        harness.sql("UPDATE bundles SET state = 'deleting'").await;
        harness.sql("DELETE FROM blobs").await;
        let error = harness.prepare(version, &["one", "two"], START).await.err().unwrap();
        assert!(error.to_string().contains("swept"), "{error:#}");
        harness.sql("UPDATE bundles SET state = 'present', check_at = 0").await;
        let claimed = harness.prepare(version, &["one", "two"], START).await.unwrap();
        assert_eq!(harness.sweep_hourly(START.plus(HOUR / 2)).await, (0, 0));
        harness.settle_site(account, Target::NewOrExisting, &claimed).await.unwrap();
        harness.assert_readable(&claimed).await;
    }

    async fn a_publish_that_found_a_content_before_an_immediate_sweep_looks_again(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.site(leaver, &["one", "two"], START).await;
        let found = harness.prepare(harness.version(), &["one", "two"], START).await.unwrap();
        harness.leave_at(leaver).await;
        assert_eq!(harness.sweep_at_once(START).await, 2);
        harness.settle_site(keeper, Target::NewOrExisting, &found).await.unwrap_err();
        let site = harness.site_until_settled(keeper, &["one", "two"], START).await;
        harness.assert_readable(&site).await;
    }

    async fn whatever_happens_at_once_published_sites_are_readable(harness: &StoreHarness) {
        let keeper = harness.claimed().await;
        for round in 0_u32..25 {
            let text = |number: u32| format!("{number} of round {round}");
            let (one, two, three, four) = (text(1), text(2), text(3), text(4));
            let leaver = harness.account().await;
            // Old enough to be repacked.
            let old = START.plus(DAY * 2 * round);
            let (now, theirs) = (old.plus(DAY + LATER), [&*one, &two, &three, &four]);
            harness.site_until_settled(leaver, &theirs, old).await;
            let mine = harness.site_until_settled(keeper, &[&one], old).await;
            let sweeping = async {
                tokio::time::sleep(Duration::from_micros(u64::from(round) * 200)).await;
                harness.leave_at(leaver).await;
                join3(harness.sweep_at_once(now), harness.sweep_hourly(now), harness.sweep_at_once(now)).await
            };
            let mine_next = [&*one, &two, &three];
            let newer = harness.site_until_settled(keeper, &mine_next, now);
            let (newer, _) = Box::pin(join(newer, sweeping)).await;
            for site in [&mine, &newer] {
                harness.assert_readable(site).await;
            }
            harness.sweep_hourly(now.plus(LATER)).await;
            harness.sweep_hourly(now.plus(2 * LATER)).await;
            for site in [&mine, &newer] {
                harness.assert_readable(site).await;
            }
        }
        assert_eq!(harness.damages(ScrubCare::Fix, long_after_writing()).await, []);
    }
}
