//! Purges: what they erase from bundles, and what happens when an erasure is interrupted.

use super::*;

impl StoreHarness {
    /// Deletes the rows of the site and requests the erasure, as a process does that is killed after that.
    async fn purge_rows(&self, account: AccountId, now: Time) {
        let slug = "a-site".parse().unwrap();
        let change = Change { now, ..self.change_by_token(account).await };
        let site = self.store.artifacts().find(account, &slug).await.unwrap().unwrap();
        let purged = self.store.artifacts().purge(&change, site.id).await.unwrap();
        assert_eq!(purged.unwrap().held, Vec::<u32>::new());
    }

    async fn erase(&self, now: Time) -> u64 {
        self.store.blob_index().erase_purged(&self.blobs, now).await.unwrap()
    }

    /// Whether the bundle of a site still has the bytes of a content. False if the bundle is gone.
    async fn has_bytes(&self, site: &SiteAttempt, text: &str) -> bool {
        let Some(object) = self.blobs.read_bundle(site.version.into()).await.unwrap() else { return false };
        let wanted = content(text);
        object.windows(wanted.len()).any(|window| window == &wanted[..])
    }
}

on_both_databases! {
    async fn an_interrupted_purge_is_completed_by_a_later_erasure(harness: &StoreHarness) {
        let (owner, keeper) = (harness.claimed().await, harness.claimed().await);
        let purged = harness.site(owner, &["one", "two", "three"], START).await;
        let kept = harness.site(keeper, &["two"], START).await;
        harness.purge_rows(owner, START).await;
        assert_eq!(harness.storage(owner).await, 0);
        assert!(harness.has_bytes(&purged, "one").await);
        assert!(harness.erase(START).await > 0);
        let left = ["one", "two", "three"];
        let left = [
            harness.has_bytes(&purged, left[0]).await,
            harness.has_bytes(&purged, left[1]).await,
            harness.has_bytes(&purged, left[2]).await,
        ];
        assert_eq!(left, [false, true, false]);
        harness.assert_readable(&kept).await;
        assert_eq!(harness.damages(ScrubCare::Report, START).await, []);
        assert_eq!(harness.erase(START.plus(HOUR)).await, 0, "every request is done");
        harness.purge_rows(keeper, START).await;
        assert!(harness.erase(START.plus(HOUR)).await > 0);
        assert_eq!((harness.objects().await, harness.bundle_rows().await), (vec![], 0));
    }

    async fn an_interrupted_erasure_in_a_bundle_is_repeated_two_minutes_later(harness: &StoreHarness) {
        let (owner, keeper) = (harness.claimed().await, harness.claimed().await);
        let purged = harness.site(owner, &["one", "two"], START).await;
        harness.site(keeper, &["two"], START).await;
        harness.purge_rows(owner, START).await;
        // The process that has claimed the bundles was killed.
        let claimed_until = START.plus(Duration::from_secs(120)).millis();
        let claim = format!("UPDATE erasures SET claimed_until = {claimed_until} WHERE kind = 'bundle'");
        harness.sql(&claim).await;
        harness.erase(START).await;
        assert!(harness.has_bytes(&purged, "one").await);
        harness.erase(START.plus(Duration::from_secs(121))).await;
        assert!(!harness.has_bytes(&purged, "one").await);
    }

    async fn an_interrupted_erasure_of_a_content_is_repeated_a_minute_later(harness: &StoreHarness) {
        let owner = harness.claimed().await;
        let purged = harness.site(owner, &["one"], START).await;
        assert_eq!(purged.bundle, None);
        harness.purge_rows(owner, START).await;
        harness.sql(&format!("UPDATE blobs SET state = 'deleting', touched_at = {}", START.millis())).await;
        harness.erase(START.plus(Duration::from_secs(59))).await;
        assert_eq!(harness.objects().await.len(), 1);
        harness.erase(START.plus(Duration::from_secs(61))).await;
        assert_eq!(harness.objects().await, []);
    }

    async fn a_reader_of_an_erased_content_gets_an_error_and_no_zeros(harness: &StoreHarness) {
        let (owner, keeper) = (harness.claimed().await, harness.claimed().await);
        let purged = harness.site(owner, &["one", "two"], START).await;
        let zeros = Bytes::from(vec![0; 500]);
        harness.site(keeper, &["two"], START).await;
        harness.purge_rows(owner, START).await;
        harness.erase(START).await;
        let [one, two] = [0, 1].map(|at| ContentAddress::of(&purged.manifest.files()[at]));
        let missing = harness.reader().read(one, 0..300).await.unwrap_err();
        assert!(format!("{missing:#}").contains("erased"), "{missing:#}");
        assert!(harness.reader().stream(one, 0..300).await.is_err());
        let missing = harness.reader().read_all(purged.manifest.files()).await.unwrap_err();
        assert!(format!("{missing:#}").contains("erased"), "{missing:#}");
        assert_eq!(harness.reader().read(two, 0..300).await.unwrap(), content("two"));
        // Zeros that were published are read like any other content.
        let site = harness.site_of(keeper, &[zeros.clone(), content("three")], START).await;
        let published = ContentAddress::of(&site.manifest.files()[0]);
        assert_eq!(harness.reader().read(published, 0..500).await.unwrap(), zeros);
        let together = harness.reader().read_all(site.manifest.files()).await.unwrap();
        assert_eq!(together, [zeros, content("three")]);
    }

    async fn every_content_of_a_large_purge_is_erased(harness: &StoreHarness) {
        let (owner, keeper) = (harness.claimed().await, harness.claimed().await);
        let mut sites = Vec::new();
        for version in 0..12 {
            let texts: Vec<String> = (0..48).map(|file| format!("{file} of {version}.")).collect();
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            sites.push(harness.site(owner, &texts, START).await);
            // Keeps half of the bundle in use.
            harness.site(keeper, &texts[24..], START).await;
        }
        harness.purge_rows(owner, START).await;
        while harness.erase(START).await > 0 {}
        for (version, site) in sites.iter().enumerate() {
            for file in [0, 23] {
                let text = format!("{file} of {version}.");
                assert!(!harness.has_bytes(site, &text).await, "{text}");
            }
            assert!(harness.has_bytes(site, &format!("24 of {version}.")).await);
        }
    }

    async fn the_content_of_a_refused_publish_is_erased_if_a_sweep_came_in_between(harness: &StoreHarness) {
        let (account, leaver) = (harness.claimed().await, harness.account().await);
        harness.site(leaver, &["left"], START).await;
        let attempt = harness.prepare(harness.version(), &["alone"], START).await.unwrap();
        harness.leave_at(leaver).await;
        assert_eq!(harness.sweep_at_once(START).await, 1);
        harness.settle_site(account, Target::Existing, &attempt).await.unwrap();
        assert_eq!(harness.objects().await.len(), 1);
        assert_eq!(harness.erase(START).await, 1);
        assert_eq!(harness.objects().await, []);
        // Without a sweep, the settlement records it for the hourly sweep.
        let attempt = harness.prepare(harness.version(), &["other"], START).await.unwrap();
        harness.settle_site(account, Target::Existing, &attempt).await.unwrap();
        assert_eq!((harness.erase(START).await, harness.objects().await.len()), (0, 1));
        assert_eq!(harness.sweep_hourly(START.plus(LATER)).await, (1, 0));
    }

    async fn a_publish_that_has_found_a_purged_content_checks_again(harness: &StoreHarness) {
        let (owner, publisher) = (harness.claimed().await, harness.claimed().await);
        let texts = ["one", "two"];
        harness.site(owner, &texts, START).await;
        let attempt = harness.prepare(harness.version(), &texts, START).await.unwrap();
        assert_eq!(attempt.bundle, None, "it relies on the contents of the other site");
        harness.purge_rows(owner, START).await;
        harness.erase(START).await;
        harness.settle_site(publisher, Target::NewOrExisting, &attempt).await.unwrap_err();
        let site = harness.site_until_settled(publisher, &texts, START).await;
        harness.assert_readable(&site).await;
    }

    async fn purges_and_publishes_at_the_same_time_lose_nothing_and_leave_nothing(harness: &StoreHarness) {
        let (owner, publisher) = (harness.claimed().await, harness.claimed().await);
        for round in 0_u32..8 {
            let (one, two) = (format!("one of round {round}"), format!("two of round {round}"));
            let texts = [one.as_str(), two.as_str()];
            harness.site(owner, &texts, START).await;
            let purged = async {
                harness.purge_rows(owner, START).await;
                tokio::time::sleep(Duration::from_micros(u64::from(round) * 300)).await;
                harness.erase(START).await
            };
            let published = harness.site_until_settled(publisher, &texts, START);
            let (_, site) = Box::pin(join(purged, published)).await;
            harness.assert_readable(&site).await;
            harness.purge_rows(publisher, START).await;
            harness.erase(START).await;
            // What a purge could not erase yet, because a publish had claimed it.
            harness.erase(START.plus(LATER)).await;
            assert_eq!(harness.damages(ScrubCare::Report, START).await, []);
            for text in texts {
                assert!(!harness.has_bytes(&site, text).await, "round {round}");
            }
        }
    }
}
