//! Immediate sweeps: no publish ever refers to a deleted blob.

use domain::Variant;
use futures::future::join;

use super::*;
use crate::{StoredBlobs, SweptBlobs};

/// A content during a publish: the result of the check, and of the put.
pub(super) struct SweepCheck {
    content: Bytes,
    variants: Vec<Variant>,
    as_of: SweepNumber,
}

impl SweepCheck {
    fn manifest(&self) -> Manifest {
        Manifest::new(vec![ManifestFile {
            path: "index.html".parse().unwrap(),
            hash: BlobHash::of(&self.content),
            size_bytes: self.content.len() as u64,
            content_type: "text/html".into(),
            variants: self.variants.clone(),
            bundled: None,
        }])
    }
}

impl StoreHarness {
    /// The steps of a publish before its ledger operation: check, and store the content if it is missing.
    pub(super) async fn check(&self, content: &Bytes) -> anyhow::Result<SweepCheck> {
        let hash = BlobHash::of(content);
        let StoredBlobs { as_of, found, .. } = self.store.blob_index().find_stored(&[hash], START).await?;
        let variants = match found.get(&hash) {
            Some(blob) => blob.variants.clone(),
            None => self.blobs.put(hash, content.clone(), Layout::of(content, "text/html")?).await?,
        };
        Ok(SweepCheck { content: content.clone(), variants, as_of })
    }

    pub(super) async fn settle_refused(
        &self,
        account: AccountId,
        slug: &str,
        check: &SweepCheck,
    ) -> anyhow::Result<()> {
        let outcome = self.outcome_of(account, slug, Target::NewOrExisting, check).await?;
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
        Ok(())
    }

    /// Settles a publish that is refused.
    async fn settle_refusal(&self, account: AccountId, check: &SweepCheck) {
        let outcome = self.outcome_of(account, "nowhere", Target::Existing, check).await.unwrap();
        assert!(matches!(outcome, Outcome::Refused(_)), "{outcome:?}");
    }

    async fn outcome_of(
        &self,
        account: AccountId,
        slug: &str,
        target: Target,
        check: &SweepCheck,
    ) -> anyhow::Result<Outcome> {
        let operation = LedgerOperation::Publish(Box::new(PublishOperation {
            order: PublishOrder { target, ..self.order(account, slug) },
            manifest: check.manifest(),
            title: None,
            bundle: None,
            blobs_as_of: check.as_of,
            verdict: None,
        }));
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        Ok(self.store.settle(account, &[operation], &terms).await?.pop().unwrap())
    }

    /// Retries like the queue until the publish succeeds, and returns the number of attempts.
    async fn publish_until_settled(&self, account: AccountId, slug: &str, content: &Bytes) -> u32 {
        for attempt in 1..200 {
            let stands = async {
                let check = self.check(content).await?;
                self.settle_refused(account, slug, &check).await
            };
            if stands.await.is_ok() {
                return attempt;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        panic!("a publish never stood");
    }

    async fn leave(&self, account: AccountId) {
        self.store.upkeep().purge_account(account, START.plus(2 * HOUR)).await.unwrap().unwrap();
    }

    async fn sweep(&self) -> SweptBlobs {
        self.store.blob_index().sweep_at_once(&self.blobs, START).await.unwrap()
    }

    async fn is_stored(&self, content: &Bytes) -> bool {
        let bytes = 0..content.len() as u64;
        self.blobs.read(BlobHash::of(content), bytes).await.is_ok_and(|read| read == content)
    }
}

const CONTENT: Bytes = Bytes::from_static(b"wanted by two");

on_both_databases! {
    async fn immediate_sweep_removes_unreferenced_blobs_of_any_age(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.publish(leaver, "page", b"mine alone").await;
        harness.publish(leaver, "shared", b"shared").await;
        harness.publish(keeper, "shared", b"shared").await;
        assert_eq!(harness.sweep().await, SweptBlobs::default());
        harness.leave(leaver).await;
        assert_eq!(harness.sweep().await, SweptBlobs { blobs: 1, bytes: 10 });
        assert_eq!(harness.sweep().await, SweptBlobs::default());
        assert!(!harness.is_stored(&Bytes::from_static(b"mine alone")).await);
        assert!(harness.is_stored(&Bytes::from_static(b"shared")).await);
    }

    async fn publish_that_checked_before_a_sweep_checks_again(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.publish_until_settled(leaver, "page", &CONTENT).await;
        let check = harness.check(&CONTENT).await.unwrap();
        harness.leave(leaver).await;
        assert_eq!(harness.sweep().await.blobs, 1);
        let error = harness.settle_refused(keeper, "page", &check).await.unwrap_err();
        assert!(error.to_string().contains("swept"), "{error:#}");
        assert!(harness.store.artifacts().list(keeper, None, &Page::whole()).await.unwrap().rows.is_empty());
        assert_eq!(harness.publish_until_settled(keeper, "page", &CONTENT).await, 1);
        assert!(harness.is_stored(&CONTENT).await);
    }

    async fn publish_whose_blob_was_recorded_and_swept_meanwhile_checks_again(harness: &StoreHarness) {
        let keeper = harness.claimed().await;
        let (mine, theirs) = (harness.check(&CONTENT).await.unwrap(), harness.check(&CONTENT).await.unwrap());
        // Another publish of the same content was refused.
        harness.settle_refusal(keeper, &theirs).await;
        assert_eq!(harness.sweep().await.blobs, 1);
        assert!(!harness.is_stored(&CONTENT).await);
        harness.settle_refused(keeper, "page", &mine).await.unwrap_err();
        harness.publish_until_settled(keeper, "page", &CONTENT).await;
        assert!(harness.is_stored(&CONTENT).await);
    }

    async fn possibly_swept_blobs_are_not_recorded_as_stored(harness: &StoreHarness) {
        let (leaver, keeper) = (harness.account().await, harness.claimed().await);
        harness.publish_until_settled(leaver, "page", &CONTENT).await;
        let refused = harness.check(&CONTENT).await.unwrap();
        harness.leave(leaver).await;
        harness.sweep().await;
        harness.settle_refusal(keeper, &refused).await;
        harness.publish_until_settled(keeper, "page", &CONTENT).await;
        assert!(harness.is_stored(&CONTENT).await);
    }

    async fn blobs_put_for_a_deleted_account_are_swept(harness: &StoreHarness) {
        let leaver = harness.account().await;
        let check = harness.check(&CONTENT).await.unwrap();
        harness.leave(leaver).await;
        harness.settle_refusal(leaver, &check).await;
        assert_eq!(harness.sweep().await.blobs, 1);
        assert!(!harness.is_stored(&CONTENT).await);
    }

    async fn empty_sweep_forces_no_new_checks(harness: &StoreHarness) {
        let keeper = harness.claimed().await;
        let check = harness.check(&CONTENT).await.unwrap();
        harness.sweep().await;
        harness.settle_refused(keeper, "page", &check).await.unwrap();
    }

    async fn published_content_survives_concurrent_sweeps_and_publishes(harness: &StoreHarness) {
        let keeper = harness.claimed().await;
        for round in 0_u32..40 {
            let content = Bytes::from(format!("content of round {round}"));
            let leaver = harness.account().await;
            harness.publish_until_settled(leaver, "page", &content).await;
            let sweeping = async {
                tokio::time::sleep(Duration::from_micros(u64::from(round) * 100)).await;
                harness.leave(leaver).await;
                join(harness.sweep(), harness.sweep()).await
            };
            let slug = format!("page-{round}");
            join(harness.publish_until_settled(keeper, &slug, &content), sweeping).await;
            assert!(harness.is_stored(&content).await, "round {round}");
            assert_eq!(harness.sweep().await.blobs, 0, "round {round}");
        }
    }
}
