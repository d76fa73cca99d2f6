//! Bundles that no settlement records.

use std::collections::HashSet;

use domain::Clock;

use super::*;
use crate::Refused;

/// The same hour as the test's files, which have times of the system's clock.
fn writing() -> Time {
    Clock::system().now()
}

fn a_day_after_writing() -> Time {
    writing().plus(ORPHAN_GRACE).plus(HOUR)
}

impl StoreHarness {
    fn new_version(&self) -> VersionId {
        VersionId::new(writing(), &self.chance)
    }

    /// A bundle that no row records.
    async fn put_unrecorded(&self, version: VersionId, texts: [&str; 2]) -> WrittenBundle {
        let new = texts.map(|text| {
            let bytes = content(text);
            let layout = Layout::of(&bytes, "text/html").unwrap();
            NewContent { hash: BlobHash::of(&bytes), bytes, layout }
        });
        self.blobs.put_bundle(version.into(), &new).await.unwrap().unwrap().written
    }

    async fn orphans(&self, now: Time) -> HashSet<BundleId> {
        let listed = self.store.blob_index().list_orphan_bundles(&self.blobs, now, 100).await.unwrap();
        listed.into_iter().collect()
    }

    async fn delete_orphans(&self, now: Time) -> u64 {
        let orphans: Vec<_> = self.orphans(now).await.into_iter().collect();
        self.store.blob_index().delete_orphan_bundles(&self.blobs, &orphans, now).await.unwrap()
    }

    /// The only attempt ends before its settlement, and the job is cancelled or dies.
    async fn never_settled(&self) -> VersionId {
        self.prepare(self.new_version(), &["never 1", "never 2"], writing()).await.unwrap().version
    }

    /// No later attempt is made, because the publish was refused by its deadline.
    async fn refused_without_a_settlement(&self, account: AccountId) -> VersionId {
        let attempt = self.prepare(self.new_version(), &["refused 1", "refused 2"], writing()).await.unwrap();
        let refusal = domain::Refusal::past_deadline();
        let refused = Refused { account, kind: "publish", refusal, now: writing() };
        self.store.outcomes().record_refusal(attempt.version.into(), refused).await.unwrap();
        attempt.version
    }

    /// An immediate sweep ran since the contents were checked, so the settlement does not record them.
    async fn refused_after_an_immediate_sweep(&self, account: AccountId) -> VersionId {
        let attempt = self.prepare(self.new_version(), &["swept 1", "swept 2"], writing()).await.unwrap();
        let leaver = self.account().await;
        self.site(leaver, &["left 1", "left 2"], START).await;
        self.leave_at(leaver).await;
        assert_eq!(self.sweep_at_once(START).await, 2);
        self.settle_site(account, Target::Existing, &attempt).await.unwrap();
        attempt.version
    }

    /// The store takes a PUT after the worker has given up, and the next attempt does not find it.
    async fn put_late(&self, account: AccountId) -> VersionId {
        let attempt = self.prepare(self.new_version(), &["late"], writing()).await.unwrap();
        self.settle_site(account, Target::Existing, &attempt).await.unwrap();
        self.put_unrecorded(attempt.version, ["late 1", "late 2"]).await;
        attempt.version
    }

    /// A worker was suspended. Meanwhile another attempt has published without a bundle.
    async fn overtaken(&self, account: AccountId) -> VersionId {
        let first = self.prepare(self.new_version(), &["overtaken"], writing()).await.unwrap();
        self.settle_site(account, Target::NewOrExisting, &first).await.unwrap();
        let bundle = Some(self.put_unrecorded(first.version, ["overtaken 1", "overtaken 2"]).await);
        let second = SiteAttempt { bundle, ..first };
        let outcome = self.settle_site(account, Target::NewOrExisting, &second).await.unwrap();
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
        second.version
    }
}

on_both_databases! {
    async fn a_bundle_is_deleted_a_day_later_however_its_publish_ended(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.claimed().await);
        let recorded = harness.prepare(harness.new_version(), &["one", "two"], writing()).await.unwrap();
        harness.settle_site(other, Target::NewOrExisting, &recorded).await.unwrap();
        let unrecorded = [
            harness.never_settled().await,
            harness.refused_without_a_settlement(account).await,
            harness.refused_after_an_immediate_sweep(account).await,
            harness.put_late(account).await,
            harness.overtaken(account).await,
        ];
        assert_eq!(harness.orphans(writing()).await, HashSet::new(), "a publish may still rely on them");
        let expected: HashSet<BundleId> = unrecorded.map(BundleId::from).into();
        assert_eq!(harness.orphans(a_day_after_writing()).await, expected);
        assert_eq!(harness.delete_orphans(a_day_after_writing()).await, 5);
        assert_eq!(harness.orphans(a_day_after_writing()).await, HashSet::new());
        let objects = harness.objects().await;
        let left = objects.iter().filter(|object| matches!(object, ObjectKind::Bundle(_)));
        assert_eq!(left.collect::<Vec<_>>(), [&ObjectKind::Bundle(recorded.version.into())]);
        assert_eq!(harness.bundle_rows().await, 1);
        harness.assert_readable(&recorded).await;
    }

    async fn a_bundle_that_got_a_row_or_a_content_meanwhile_is_no_orphan(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let attempt = harness.prepare(harness.new_version(), &["one", "two"], writing()).await.unwrap();
        let orphans: Vec<_> = harness.orphans(a_day_after_writing()).await.into_iter().collect();
        assert_eq!(orphans, [BundleId::from(attempt.version)]);
        harness.settle_site(account, Target::NewOrExisting, &attempt).await.unwrap();
        for forget in ["", "DELETE FROM bundles"] {
            harness.sql(forget).await;
            let index = harness.store.blob_index();
            let deleted = index.delete_orphan_bundles(&harness.blobs, &orphans, a_day_after_writing()).await;
            assert_eq!(deleted.unwrap(), 0);
            harness.assert_readable(&attempt).await;
        }
    }

    async fn only_the_bundles_of_the_last_days_are_listed(harness: &StoreHarness) {
        let days_ago = |days: u32| VersionId::new(writing().minus(DAY * days), &harness.chance);
        let [older, newer] = [days_ago(4), days_ago(2)];
        harness.put_unrecorded(older, ["older 1", "older 2"]).await;
        harness.put_unrecorded(newer, ["newer 1", "newer 2"]).await;
        assert_eq!(harness.orphans(a_day_after_writing()).await, HashSet::from([newer.into()]));
        assert_eq!(harness.damages(ScrubCare::Fix, long_after_writing()).await, []);
        assert_eq!(harness.objects().await, [], "a scrub finds both");
    }
}
