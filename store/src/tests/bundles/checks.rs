//! Bundles: what scrubs find, and what is copied.

use super::*;
use crate::CopiedBundle;

on_both_databases! {
    async fn a_bundle_that_is_gone_is_missing_for_all_its_contents(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let site = harness.site(account, &["one", "two"], START).await;
        let id = BundleId::from(site.version);
        harness.blobs.delete_bundle(id).await.unwrap();
        let missing = harness.damages(ScrubCare::Fix, START).await;
        assert_eq!(missing.len(), 2);
        assert!(missing.iter().all(|damage| damage.1 == DamageFault::Object(BlobFault::Missing)));
        let hash = BlobHash::of(&content("one"));
        let stored = harness.store.blob_index().find_stored(&[hash], START).await.unwrap();
        let lost = stored.lost.get(&hash).unwrap();
        // One is stored again, as a publish does.
        let layout = Layout::again(&content("one"), &lost.variants).unwrap().unwrap();
        harness.blobs.put(hash, content("one"), layout).await.unwrap();
        harness.store.blob_index().mark_restored(hash, None, START).await.unwrap();
        let [one, two] = [0, 1].map(|file| ContentAddress::of(&site.manifest.files()[file]));
        assert_eq!(harness.reader().read(one, 0..300).await.unwrap(), content("one"));
        let other = harness.reader().read(two, 0..300).await;
        assert!(other.is_err());
        assert_eq!(harness.damages(ScrubCare::Report, START).await.len(), 1);
    }

    async fn a_scrub_compares_the_index_with_the_database(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let site = harness.site(account, &["one", "two"], START).await;
        let id = BundleId::from(site.version);
        let trailer = DamageFault::Object(BlobFault::Trailer);
        let is_trailer = |damage: &(BlobHash, DamageFault)| damage.1 == trailer;
        harness.change_bundle(id, |bytes| *bytes.last_mut().unwrap() ^= 1).await;
        let found = harness.damages(ScrubCare::Report, START).await;
        assert_eq!(found.len(), 2);
        assert!(found.iter().all(is_trailer));
        harness.change_bundle(id, |bytes| *bytes.last_mut().unwrap() ^= 1).await;
        harness.change_bundle(id, |bytes| bytes.truncate(100)).await;
        let found = harness.damages(ScrubCare::Report, START).await;
        assert_eq!(found.len(), 4, "{found:?}");
        assert!(matches!(found[0].1, DamageFault::Object(BlobFault::Size { found_bytes: 100, .. })));
    }

    async fn an_orphan_bundle_is_removed_and_a_publish_that_relies_on_it_looks_again(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let attempt = harness.prepare(harness.version(), &["one", "two"], START).await.unwrap();
        assert_eq!(harness.damages(ScrubCare::Fix, long_after_writing()).await, []);
        assert_eq!((harness.objects().await, harness.bundle_rows().await), (vec![], 0));
        let error = harness.settle_site(account, Target::NewOrExisting, &attempt).await.unwrap_err();
        assert!(format!("{error:#}").contains("check again"), "{error:#}");
        let again = harness.prepare(attempt.version, &["one", "two"], START).await.unwrap();
        harness.settle_site(account, Target::NewOrExisting, &again).await.unwrap();
        assert_eq!(harness.damages(ScrubCare::Fix, long_after_writing()).await, []);
        harness.assert_readable(&again).await;
    }

    async fn a_scrub_that_fixes_finds_what_an_earlier_release_has_swept(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.site(account, &["one", "two"], START).await;
        harness.leave_at(account).await;
        harness.sql("DELETE FROM blobs").await;
        harness.sql("UPDATE bundles SET check_at = NULL").await;
        assert_eq!(harness.sweep_hourly(START.plus(DAY)).await, (0, 0));
        harness.damages(ScrubCare::Fix, START).await;
        assert_eq!(harness.sweep_hourly(START.plus(DAY)).await, (0, 1));
        assert_eq!((harness.objects().await, harness.bundle_rows().await), (vec![], 0));
    }
}

#[tokio::test]
async fn a_bundle_is_copied_and_its_damaged_contents_are_named() {
    let harness = sqlite().await;
    let account = harness.claimed().await;
    let site = harness.site(account, &["one", "two"], START).await;
    let id = BundleId::from(site.version);
    let contents = harness.store.blob_index().list_in_bundle(id).await.unwrap();
    assert_eq!(harness.store.blob_index().list_bundles(None, 10).await.unwrap(), [id]);
    assert_eq!(harness.store.blob_index().list_bundles(Some(id), 10).await.unwrap(), []);
    let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let targets: Vec<_> = folders.iter().map(|folder| Blobs::local(folder.path()).unwrap()).collect();
    let copied = harness.blobs.copy_bundle(id, &contents, &targets[0]).await.unwrap();
    let size_bytes = site.bundle.unwrap().size_bytes;
    assert_eq!(copied, CopiedBundle { size_bytes, lost: vec![] });
    assert_eq!(targets[0].bundle(id).await.unwrap(), harness.blobs.bundle(id).await.unwrap());

    harness.change_bundle(id, |bytes| bytes[0] ^= 1).await;
    let damaged = BlobHash::of(&content("one"));
    for _ in 0..2 {
        let copied = harness.blobs.copy_bundle(id, &contents, &targets[1]).await.unwrap();
        assert_eq!(copied, CopiedBundle { size_bytes, lost: vec![damaged] });
    }
    let kept = harness.blobs.copy_bundle(id, &contents, &targets[0]).await.unwrap();
    assert_eq!(kept.lost, [], "the earlier copy is whole");

    harness.blobs.delete_bundle(id).await.unwrap();
    let gone = harness.blobs.copy_bundle(id, &contents, &targets[2]).await.unwrap();
    assert_eq!((gone.size_bytes, gone.lost.len()), (0, 2));
    assert_eq!(targets[2].size_of_bundle(id).await.unwrap(), None);
}
