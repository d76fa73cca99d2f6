//! Bundles: sweeps that run at the same time.

use futures::future::join4;

use super::*;

impl StoreHarness {
    async fn check_bundles(&self, now: Time) -> u64 {
        self.store.blob_index().sweep_bundles(&self.blobs, now, &self.chance, 1_000).await.unwrap()
    }
}

on_both_databases! {
    async fn a_bundle_whose_contents_are_being_deleted_stays_due(harness: &StoreHarness) {
        let leaver = harness.account().await;
        harness.site(leaver, &["one", "two"], START).await;
        harness.leave_at(leaver).await;
        let now = START.plus(DAY);
        harness.sql("UPDATE blobs SET state = 'deleting'").await;
        assert_eq!(harness.check_bundles(now).await, 0);
        harness.sql("DELETE FROM blobs").await;
        assert_eq!(harness.check_bundles(now).await, 1);
        assert_eq!((harness.objects().await, harness.bundle_rows().await), (vec![], 0));
    }

    async fn a_bundle_is_not_repacked_while_a_content_is_being_deleted(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.site(leaver, &["one", "two", "three", "four", "five"], START).await;
        let kept = harness.site(keeper, &["two"], START).await;
        harness.leave_at(leaver).await;
        let [one, two] = ["one", "two"].map(|text| BlobHash::of(&content(text)));
        harness.sql(&format!("DELETE FROM blobs WHERE hash NOT IN ('{one}', '{two}')")).await;
        harness.sql(&format!("UPDATE blobs SET state = 'deleting' WHERE hash = '{one}'")).await;
        let now = START.plus(DAY);
        assert_eq!(harness.check_bundles(now).await, 0);
        harness.sql("DELETE FROM blobs WHERE state = 'deleting'").await;
        assert_eq!(harness.check_bundles(now).await, 1);
        harness.assert_readable(&kept).await;
    }

    async fn sweeps_at_the_same_time_leave_no_unused_bundle(harness: &StoreHarness) {
        let keeper = harness.claimed().await;
        for round in 0_u32..12 {
            let text = |number: u32| format!("{number} of round {round}");
            let (one, two, three, four) = (text(1), text(2), text(3), text(4));
            let now = START.plus(DAY + LATER);
            let leaver = harness.account().await;
            harness.site(leaver, &[&one, &two, &three, &four], START).await;
            if round % 2 == 0 {
                harness.site(keeper, &[&one], START).await;
            }
            harness.leave_at(leaver).await;
            let later = async |wait: u32| {
                tokio::time::sleep(Duration::from_micros(u64::from(round * wait))).await;
                harness.sweep_hourly(now.plus(Duration::from_millis(wait.into()))).await
            };
            Box::pin(join4(later(0), harness.sweep_at_once(now), later(70), later(300))).await;
            harness.sweep_hourly(now.plus(LATER)).await;
            harness.sweep_hourly(now.plus(LATER * 2)).await;
            // Half of the rounds have a content that is still used.
            let used = u64::from(round / 2 + 1);
            assert_eq!((harness.objects().await.len() as u64, harness.bundle_rows().await), (used, used));
        }
    }
}
