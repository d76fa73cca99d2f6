//! A look through all that is stored, and what is done about what nobody knows of.

use super::*;
use crate::{BlobFault, DamageFault, ORPHAN_GRACE, OrphanCare, OrphanFate, ScrubNews, ScrubProgress};

const LONG_AFTER: Duration = ORPHAN_GRACE.saturating_mul(2);

#[derive(Default)]
struct Found {
    progress: ScrubProgress,
    damages: Vec<(BlobHash, DamageFault, Vec<String>)>,
    orphans: Vec<(String, OrphanFate)>,
}

impl Bed {
    async fn scrub(&self, care: OrphanCare, now: Time) -> Found {
        let mut found = Found::default();
        let (mut damages, mut orphans) = (Vec::new(), Vec::new());
        let mut news = |news| match news {
            ScrubNews::Damage(damage) => {
                let hosts = damage.harmed.iter().map(|harmed| harmed.host.to_string()).collect();
                damages.push((damage.hash, damage.fault, hosts));
            }
            ScrubNews::Orphan(orphan) => orphans.push((orphan.object.name, orphan.fate)),
            ScrubNews::Progress(_) => {}
        };
        let done = self.store.scrub_contents(&self.blobs, None, &mut news).await.unwrap();
        let done = self.store.scrub_manifests(done, &mut news).await.unwrap();
        found.progress = self.store.scrub_objects(&self.blobs, care, now, done, &mut news).await.unwrap();
        (found.damages, found.orphans) = (damages, orphans);
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

/// When files of this test were written is told by the system's clock.
fn now() -> Time {
    domain::Clock::system().now()
}

on_both_databases! {
    async fn what_is_sound_is_found_sound(bed: &Bed) {
        let account = bed.claimed().await;
        for content in [&b"one"[..], b"two", b"one"] {
            bed.publish(account, "page", content).await;
        }
        let found = bed.scrub(OrphanCare::Remove, now().plus(LONG_AFTER)).await;
        assert!(found.damages.is_empty() && found.orphans.is_empty());
        assert_eq!((found.progress.contents, found.progress.versions, found.progress.objects), (2, 3, 2));
    }

    async fn a_content_that_is_gone_is_named_with_whom_it_harms(bed: &Bed) {
        let account = bed.claimed().await;
        let harmed = bed.publish(account, "page", b"one").await;
        bed.publish(account, "other", b"two").await;
        let hash = BlobHash::of(b"one");
        bed.blobs.delete_blob(hash).await.unwrap();
        let found = bed.scrub(OrphanCare::Report, now()).await;
        let missing = (hash, DamageFault::Object(BlobFault::Missing), vec![harmed.host.to_string()]);
        assert_eq!(found.damages, [missing]);
        assert_eq!(found.progress.damages, 1);
    }

    async fn a_manifest_that_says_something_else_is_found(bed: &Bed) {
        let account = bed.claimed().await;
        let harmed = bed.publish(account, "page", b"one").await;
        let hosts = vec![harmed.host.to_string()];
        bed.sql("UPDATE blobs SET size_bytes = size_bytes + 1").await;
        let found = bed.scrub(OrphanCare::Report, now()).await;
        let told: Vec<_> = found.damages.iter().map(|damage| damage.1.clone()).collect();
        let size = BlobFault::Size { expected_bytes: 44, found_bytes: 43 };
        assert_eq!(told, [DamageFault::Object(size), DamageFault::ManifestDiffers]);
        bed.sql("UPDATE blobs SET size_bytes = size_bytes - 1").await;
        bed.sql("DELETE FROM blob_refs").await;
        let found = bed.scrub(OrphanCare::Report, now()).await;
        assert_eq!(found.damages, [(BlobHash::of(b"one"), DamageFault::Unreferenced, hosts.clone())]);
        bed.sql("DELETE FROM blobs").await;
        let found = bed.scrub(OrphanCare::Report, now()).await;
        assert_eq!(found.damages, [(BlobHash::of(b"one"), DamageFault::Unknown, hosts)]);
    }

    async fn only_what_is_old_and_unknown_is_removed(bed: &Bed) {
        let account = bed.claimed().await;
        bed.publish(account, "page", b"one").await;
        let orphan = bed.put(b"nobody knows of it").await;
        let spooled = VersionId::new(START, &bed.chance);
        bed.blobs.spool(spooled, Bytes::from_static(b"spooled")).await.unwrap();
        let young = bed.scrub(OrphanCare::Remove, now()).await;
        assert_eq!(young.orphans, []);
        let later = now().plus(LONG_AFTER);
        let reported = bed.scrub(OrphanCare::Report, later).await;
        assert_eq!(reported.orphans.len(), 2);
        assert!(reported.orphans.iter().all(|orphan| orphan.1 == OrphanFate::Removable));
        assert!(bed.is_there(orphan).await);
        let removed = bed.scrub(OrphanCare::Remove, later).await;
        assert_eq!((removed.progress.orphans, removed.progress.removed), (2, 2));
        assert!(!bed.is_there(orphan).await && bed.is_there(BlobHash::of(b"one")).await);
        assert_eq!(bed.blobs.spooled(spooled).await.unwrap(), None);
        let again = bed.scrub(OrphanCare::Remove, later).await;
        assert!(again.orphans.is_empty() && again.damages.is_empty());
    }

    async fn a_publish_that_has_found_a_orphan_looks_again_when_that_is_removed(bed: &Bed) {
        let account = bed.claimed().await;
        let hash = bed.put(b"one").await;
        let look = bed.look(&Bytes::from_static(b"one")).await.unwrap();
        bed.scrub(OrphanCare::Remove, now().plus(LONG_AFTER)).await;
        let refused = bed.settle_look(account, "page", &look).await.unwrap_err();
        assert!(format!("{refused:#}").contains("look again"), "{refused:#}");
        assert!(!bed.is_there(hash).await);
    }
}

#[tokio::test]
async fn a_sample_looks_at_so_many_and_no_content_twice() {
    let bed = sqlite().await;
    let account = bed.claimed().await;
    let contents: [&[u8]; 7] = [b"1", b"2", b"3", b"4", b"5", b"6", b"7"];
    for content in contents {
        bed.publish(account, "page", content).await;
        bed.blobs.delete_blob(BlobHash::of(content)).await.unwrap();
    }
    for (wanted, looked_at) in [(1, 1), (6, 6), (7, 7), (100, 7)] {
        let mut seen = std::collections::HashSet::new();
        let mut news = |news| {
            if let ScrubNews::Damage(damage) = news {
                assert!(seen.insert(damage.hash), "{} was looked at twice", damage.hash);
            }
        };
        let sample = Some((wanted, &bed.chance));
        let done = bed.store.scrub_contents(&bed.blobs, sample, &mut news).await.unwrap();
        assert_eq!(done.contents, looked_at);
        assert_eq!(seen.len() as u64, looked_at);
    }
}
