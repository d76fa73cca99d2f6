//! Scrubs, and what they do about orphans.

use super::*;
use crate::{
    BlobFault, DamageFault, Harmed, ORPHAN_GRACE, OrphanFate, Scrub, ScrubCare, ScrubNews, ScrubProgress,
};

const LONG_AFTER: Duration = ORPHAN_GRACE.saturating_mul(2);

#[derive(Default)]
struct ScrubFindings {
    progress: ScrubProgress,
    damages: Vec<(BlobHash, DamageFault, Vec<String>)>,
    malformed: Vec<(String, Vec<String>)>,
    orphans: Vec<(String, OrphanFate)>,
}

impl StoreHarness {
    async fn scrub(&self, care: ScrubCare, now: Time) -> ScrubFindings {
        let mut found = ScrubFindings::default();
        let (mut damages, mut malformed, mut orphans) = (Vec::new(), Vec::new(), Vec::new());
        let hosts = |harmed: Vec<Harmed>| harmed.iter().map(|harmed| harmed.host.to_string()).collect();
        let mut news = |news| match news {
            ScrubNews::Damage(damage) => damages.push((damage.hash, damage.fault, hosts(damage.harmed))),
            ScrubNews::Malformed(found) => malformed.push((found.version, hosts(found.harmed))),
            ScrubNews::Orphan(orphan) => orphans.push((orphan.object.name, orphan.fate)),
            ScrubNews::Progress(_) => {}
        };
        let scrub = Scrub { blobs: &self.blobs, care, now, at_once: Scrub::OF_A_FOLDER_AT_ONCE };
        let done = self.store.integrity().scrub_contents(&scrub, None, &mut news).await.unwrap();
        let done = self.store.integrity().scrub_bundles(&scrub, done, &mut news).await.unwrap();
        let done = self.store.integrity().scrub_manifests(done, &mut news).await.unwrap();
        found.progress = self.store.integrity().scrub_objects(&scrub, done, &mut news).await.unwrap();
        (found.damages, found.malformed, found.orphans) = (damages, malformed, orphans);
        found
    }

    async fn put(&self, content: &'static [u8]) -> BlobHash {
        let (hash, content) = (BlobHash::of(content), Bytes::from_static(content));
        let layout = Layout::of(&content, "text/html").unwrap();
        self.blobs.put(hash, content, layout).await.unwrap();
        hash
    }

    async fn is_there(&self, hash: BlobHash) -> bool {
        self.blobs.size_of_blob(hash).await.unwrap().is_some()
    }
}

/// The files of this test have times of the system's clock.
fn now() -> Time {
    domain::Clock::system().now()
}

on_both_databases! {
    async fn scrub_finds_no_damage_in_sound_data(harness: &StoreHarness) {
        let account = harness.claimed().await;
        for content in [&b"one"[..], b"two", b"one"] {
            harness.publish(account, "page", content).await;
        }
        let found = harness.scrub(ScrubCare::Fix, now().plus(LONG_AFTER)).await;
        assert!(found.damages.is_empty() && found.orphans.is_empty());
        assert_eq!((found.progress.contents, found.progress.versions, found.progress.objects), (2, 3, 2));
    }

    async fn missing_blob_is_reported_with_the_harmed_versions(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let harmed = harness.publish(account, "page", b"one").await;
        harness.publish(account, "other", b"two").await;
        let hash = BlobHash::of(b"one");
        harness.blobs.delete_blob(hash).await.unwrap();
        let found = harness.scrub(ScrubCare::Report, now()).await;
        let missing = (hash, DamageFault::Object(BlobFault::Missing), vec![harmed.host.to_string()]);
        assert_eq!(found.damages, [missing]);
        assert_eq!(found.progress.damages, 1);
    }

    async fn manifest_that_contradicts_its_blob_is_found(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let harmed = harness.publish(account, "page", b"one").await;
        let hosts = vec![harmed.host.to_string()];
        harness.sql("UPDATE blobs SET size_bytes = size_bytes + 1").await;
        let found = harness.scrub(ScrubCare::Report, now()).await;
        let faults: Vec<_> = found.damages.iter().map(|damage| damage.1.clone()).collect();
        let size = BlobFault::Size { expected_bytes: 44, found_bytes: 43 };
        assert_eq!(faults, [DamageFault::Object(size), DamageFault::ManifestDiffers]);
        harness.sql("UPDATE blobs SET size_bytes = size_bytes - 1").await;
        harness.sql("DELETE FROM blob_refs").await;
        let found = harness.scrub(ScrubCare::Report, now()).await;
        assert_eq!(found.damages, [(BlobHash::of(b"one"), DamageFault::Unreferenced, hosts.clone())]);
        harness.sql("DELETE FROM blobs").await;
        let found = harness.scrub(ScrubCare::Report, now()).await;
        assert_eq!(found.damages, [(BlobHash::of(b"one"), DamageFault::Unknown, hosts)]);
    }

    async fn unreadable_manifest_is_reported_and_the_scrub_continues(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let garbled = harness.publish(account, "page", b"one").await;
        let other = harness.publish(account, "other", b"two").await;
        harness.sql(&format!("UPDATE versions SET manifest = '{{' WHERE id = '{}'", garbled.version)).await;
        harness.sql(&format!("DELETE FROM blob_refs WHERE version_id = '{}'", other.version)).await;
        let found = harness.scrub(ScrubCare::Report, now()).await;
        assert_eq!(found.malformed, [(garbled.version.to_string(), vec![garbled.host.to_string()])]);
        let unreferenced = (BlobHash::of(b"two"), DamageFault::Unreferenced, vec![other.host.to_string()]);
        assert_eq!(found.damages, [unreferenced]);
        assert_eq!((found.progress.versions, found.progress.damages, found.progress.objects), (2, 2, 2));
    }

    async fn missing_blob_counts_as_stored_until_recorded_as_lost_and_again_after_a_put(harness: &StoreHarness) {
        let account = harness.claimed().await;
        harness.publish(account, "page", b"one").await;
        let hash = BlobHash::of(b"one");
        harness.blobs.delete_blob(hash).await.unwrap();
        harness.scrub(ScrubCare::Report, now()).await;
        assert!(harness.store.blob_index().find_stored(&[hash], now()).await.unwrap().lost.is_empty());
        assert_eq!(harness.scrub(ScrubCare::Fix, now()).await.progress.noted_lost, 1);
        let stored = harness.store.blob_index().find_stored(&[hash], now()).await.unwrap();
        assert!(stored.found.is_empty() && stored.lost.contains_key(&hash));
        // It is damaged as long as it is missing, however often that is recorded.
        let still = harness.scrub(ScrubCare::Fix, now()).await;
        assert_eq!((still.progress.noted_lost, still.damages.len()), (0, 1));
        harness.put(b"one").await;
        harness.store.blob_index().mark_restored(hash, None, now()).await.unwrap();
        let stored = harness.store.blob_index().find_stored(&[hash], now()).await.unwrap();
        assert!(stored.lost.is_empty() && stored.found.contains_key(&hash));
        assert_eq!(harness.scrub(ScrubCare::Report, now()).await.damages, []);
    }

    async fn scrub_removes_only_old_orphans(harness: &StoreHarness) {
        let account = harness.claimed().await;
        harness.publish(account, "page", b"one").await;
        let orphan = harness.put(b"nobody knows of it").await;
        let spooled = VersionId::new(START, &harness.chance);
        harness.blobs.spool(spooled, Bytes::from_static(b"spooled")).await.unwrap();
        let young = harness.scrub(ScrubCare::Fix, now()).await;
        assert_eq!(young.orphans, []);
        let later = now().plus(LONG_AFTER);
        let reported = harness.scrub(ScrubCare::Report, later).await;
        assert_eq!(reported.orphans.len(), 2);
        assert!(reported.orphans.iter().all(|orphan| orphan.1 == OrphanFate::Removable));
        assert!(harness.is_there(orphan).await);
        let removed = harness.scrub(ScrubCare::Fix, later).await;
        assert_eq!((removed.progress.orphans, removed.progress.removed), (2, 2));
        assert!(!harness.is_there(orphan).await && harness.is_there(BlobHash::of(b"one")).await);
        assert_eq!(harness.blobs.spooled(spooled).await.unwrap(), None);
        let again = harness.scrub(ScrubCare::Fix, later).await;
        assert!(again.orphans.is_empty() && again.damages.is_empty());
    }

    async fn publish_that_found_an_orphan_checks_again_after_its_removal(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let hash = harness.put(b"one").await;
        let check = harness.check(&Bytes::from_static(b"one")).await.unwrap();
        harness.scrub(ScrubCare::Fix, now().plus(LONG_AFTER)).await;
        let refused = harness.settle_refused(account, "page", &check).await.unwrap_err();
        assert!(format!("{refused:#}").contains("check again"), "{refused:#}");
        assert!(!harness.is_there(hash).await);
    }
}

#[tokio::test]
async fn scrub_sample_checks_the_given_number_of_distinct_blobs() {
    let harness = sqlite().await;
    let account = harness.claimed().await;
    let contents: [&[u8]; 7] = [b"1", b"2", b"3", b"4", b"5", b"6", b"7"];
    for content in contents {
        harness.publish(account, "page", content).await;
        harness.blobs.delete_blob(BlobHash::of(content)).await.unwrap();
    }
    for (sample, examined) in [(1, 1), (6, 6), (7, 7), (100, 7)] {
        let mut seen = std::collections::HashSet::new();
        let mut news = |news| {
            if let ScrubNews::Damage(damage) = news {
                assert!(seen.insert(damage.hash), "{} was looked at twice", damage.hash);
            }
        };
        let sample = Some((sample, &harness.chance));
        let at_once = Scrub::OF_A_FOLDER_AT_ONCE;
        let scrub = Scrub { blobs: &harness.blobs, care: ScrubCare::Report, now: now(), at_once };
        let done = harness.store.integrity().scrub_contents(&scrub, sample, &mut news).await.unwrap();
        assert_eq!(done.contents, examined);
        assert_eq!(seen.len() as u64, examined);
    }
}
