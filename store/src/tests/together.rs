//! Operations of several accounts, or verdicts on several versions, in one commit.

use domain::{ChargeOperation, Moved, PublishCondition, Refusal, Visibility, VisibilityOperation};

use super::*;
use crate::{Batch, ScanReader, ScanVerdict, VerdictResult};

impl StoreHarness {
    fn page(&self, account: AccountId, slug: &str, content: &'static [u8]) -> PublishOperation {
        let file = ManifestFile {
            path: "index.html".parse().unwrap(),
            hash: BlobHash::of(content),
            size_bytes: content.len() as u64,
            content_type: "text/html".into(),
            variants: vec![],
            bundled: None,
        };
        PublishOperation {
            order: self.order(account, slug),
            manifest: Manifest::new(vec![file]),
            title: None,
            bundle: None,
            blobs_as_of: SweepNumber::default(),
            verdict: None,
        }
    }

    fn operation(&self, account: AccountId, slug: &str, content: &'static [u8]) -> LedgerOperation {
        LedgerOperation::Publish(Box::new(self.page(account, slug, content)))
    }

    /// `None` for an account whose row another transaction has locked.
    async fn settle_ready(&self, batches: &[(AccountId, Vec<LedgerOperation>)]) -> Vec<Option<Vec<Outcome>>> {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        let batches: Vec<Batch<'_>> =
            batches.iter().map(|(account, operations)| Batch { account: *account, operations }).collect();
        self.store.settle_together(&batches, &terms).await.unwrap()
    }

    async fn settle_all(&self, batches: &[(AccountId, Vec<LedgerOperation>)]) -> Vec<Vec<Outcome>> {
        self.settle_ready(batches).await.into_iter().map(Option::unwrap).collect()
    }

    fn verdict(&self, published: &Published, rules: u32, status: ModerationStatus) -> ScanVerdict {
        ScanVerdict {
            account: published.account,
            version: published.version,
            decision_id: self.chance.ulid(START).to_string(),
            status,
            evidence: "[]".into(),
            rules,
            content: None,
            now: START,
        }
    }
}

fn published(outcome: &Outcome) -> &Published {
    match outcome {
        Outcome::Published(published) => published,
        other => panic!("{other:?}"),
    }
}

on_both_databases! {
    async fn accounts_in_one_commit_have_separate_pages_numbers_and_storage(harness: &StoreHarness) {
        let (one, other) = (harness.account().await, harness.account().await);
        let before = harness.publish(one, "page", b"12345").await;
        let settled = harness.settle_all(&[
            (one, vec![harness.operation(one, "page", b"1234567"), harness.operation(one, "page", b"12345"), harness.operation(one, "new", b"1")]),
            (other, vec![harness.operation(other, "page", b"12345"), harness.operation(other, "page", b"12345")]),
        ]).await;
        let published_lists: Vec<Vec<_>> = settled.iter().map(|outcomes| outcomes.iter().map(published).collect()).collect();
        let seqs: Vec<Vec<u32>> = published_lists.iter().map(|all| all.iter().map(|page| page.seq).collect()).collect();
        assert_eq!(seqs, [vec![2, 3, 1], vec![1, 2]]);
        assert_eq!(published_lists[0][1].host, before.host);
        assert_ne!(published_lists[1][0].host, before.host);
        // Five bytes known, seven new, one new; five that are new to the other account.
        assert_eq!((harness.storage(one).await, harness.storage(other).await), (13, 5));
        for page in [published_lists[0][1], published_lists[0][2], published_lists[1][1]] {
            assert_eq!(harness.store.routes().find(&page.host).await.unwrap().unwrap().version, page.version);
            let reader = ScanReader::start(harness.store.clone());
            assert!(reader.find_subject(page.version).await.unwrap().is_some());
            assert_eq!(
                harness.store.outcomes().find(page.version.into()).await.unwrap(),
                Some(Outcome::Published(Box::new(page.clone())))
            );
        }
        let account = harness.store.accounts().find(one).await.unwrap().unwrap();
        assert_eq!(account.provisional_publishes, 4);
    }

    async fn visibility_change_sees_the_earlier_publish_of_its_batch_and_later_ones_keep_it(harness: &StoreHarness) {
        let account = harness.account().await;
        let hide = LedgerOperation::Visibility(VisibilityOperation {
            account,
            job: harness.job(),
            slug: "page".parse().unwrap(),
            to: Visibility::Private,
            pinned_to: None,
            payment: Some(domain::Payment::Dev(Micro::new(500_000))),
            deadline: None,
            called_by: None,
        });
        let operations = vec![harness.operation(account, "page", b"one"), hide, harness.operation(account, "page", b"two")];
        let settled = harness.settle_all(&[(account, operations)]).await;
        let (first, last) = (published(&settled[0][0]), published(&settled[0][2]));
        let Outcome::VisibilitySet(set) = &settled[0][1] else { panic!("{:?}", settled[0][1]) };
        assert_eq!(set.artifact.live.as_ref().map(|live| live.id), Some(first.version));
        assert_eq!((last.seq, last.visibility), (2, Visibility::Private));
        let route = harness.store.routes().find(&last.host).await.unwrap().unwrap();
        assert_eq!((route.version, route.visibility), (last.version, Visibility::Private));
    }

    async fn conditions_see_the_earlier_publishes_of_their_commit(harness: &StoreHarness) {
        let account = harness.account().await;
        let before = harness.publish(account, "page", b"one").await;
        let under = |slug: &str, condition| {
            let mut operation = harness.page(account, slug, b"two");
            operation.order.target = Target::If(condition);
            LedgerOperation::Publish(Box::new(operation))
        };
        let staged = {
            let mut operation = harness.page(account, "page", b"three");
            operation.order.activation = Activation::Staged;
            LedgerOperation::Publish(Box::new(operation))
        };
        use PublishCondition::{LiveVersion, SlugExists, SlugIsNew};
        let operations = vec![
            under("page", LiveVersion(1)),
            under("page", LiveVersion(1)),
            staged,
            under("page", LiveVersion(2)),
            under("page", SlugIsNew),
            under("new", SlugExists),
            under("new", SlugIsNew),
        ];
        let settled = harness.settle_all(&[(account, operations)]).await.remove(0);
        let seqs_or_live: Vec<Result<u32, Option<u32>>> = settled.iter().map(|outcome| match outcome {
            Outcome::Published(published) => Ok(published.seq),
            Outcome::Refused(refusal) => match &**refusal {
                Refusal::VersionConflict { live } => Err(live.map(|live| live.seq)),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }).collect();
        let expected = [Ok(2), Err(Some(2)), Ok(3), Ok(4), Err(Some(4)), Err(None), Ok(1)];
        assert_eq!(seqs_or_live, expected);
        let route = harness.store.routes().find(&before.host).await.unwrap().unwrap();
        assert_eq!(route.version, published(&settled[3]).version);
        // Of five publishes that were made, one was before.
        let account = harness.store.accounts().find(account).await.unwrap().unwrap();
        assert_eq!(account.provisional_publishes, 5);
    }

    async fn missing_and_refused_accounts_do_not_block_a_batch(harness: &StoreHarness) {
        let (account, poor) = (harness.account().await, harness.account().await);
        let gone = AccountId::new(START, &harness.chance);
        let mut other_place = harness.page(poor, "page", b"refused");
        other_place.order.target = Target::Existing;
        let nobodys = harness.operation(gone, "page", b"nobody's");
        let settled = harness.settle_ready(&[
            (gone, vec![nobodys.clone()]),
            (poor, vec![LedgerOperation::Publish(Box::new(other_place))]),
            (account, vec![harness.operation(account, "page", b"well")]),
        ]).await;
        assert_eq!(settled[0], None);
        let refused = &settled[1].as_ref().unwrap()[0];
        assert!(matches!(refused, Outcome::Refused(refusal) if matches!(**refusal, Refusal::NotFound(_))));
        assert_eq!(published(&settled[2].as_ref().unwrap()[0]).seq, 1);
        let terms = Terms { tariff: Tariff::default(), chance: harness.chance.clone(), now: START };
        let alone = harness.store.settle(gone, &[nobodys], &terms).await.unwrap();
        assert!(matches!(&alone[0], Outcome::Refused(refusal) if matches!(**refusal, Refusal::Unauthorized)));
        // The contents of the refused publishes are recorded, so that a sweep finds them.
        let hashes = [b"nobody's".as_slice(), b"refused"].map(BlobHash::of);
        assert_eq!(harness.store.blob_index().find_stored(&hashes, START).await.unwrap().found.len(), 2);
    }

    async fn duplicate_operations_and_reasons_in_one_commit_count_once(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let (publish, charge) = (harness.operation(account, "page", b"one"), ChargeOperation {
            account,
            amount: Micro::new(7),
            reason: "metering:x".into(),
        });
        let operations = vec![publish.clone(), LedgerOperation::Charge(charge.clone()), publish, LedgerOperation::Charge(charge)];
        let settled = harness.settle_all(&[(account, operations)]).await;
        assert_eq!(settled[0][0], settled[0][2]);
        assert!(matches!(settled[0][1], Outcome::Moved(Moved { is_new: true, .. })));
        assert!(matches!(settled[0][3], Outcome::Moved(Moved { is_new: false, .. })));
        let account = harness.store.accounts().find(account).await.unwrap().unwrap();
        assert_eq!(account.balance, Micro::new(-7));
    }

    async fn verdicts_on_several_versions_are_written_in_one_transaction(harness: &StoreHarness) {
        use ModerationStatus::{Blocked, Pass, Review};
        let account = harness.account().await;
        let good = harness.publish(account, "good", b"good").await;
        let bad = harness.publish(account, "bad", b"bad").await;
        let old = harness.publish(account, "old", b"old").await;
        harness.store.scans().record_verdict(harness.verdict(&old, 9, Review)).await.unwrap();
        let mut gone = harness.verdict(&good, 3, Pass);
        gone.version = VersionId::new(START, &harness.chance);
        let judged = harness.store.scans().record_verdicts(&[
            harness.verdict(&good, 3, Pass),
            harness.verdict(&bad, 3, Blocked),
            harness.verdict(&old, 3, Pass),
            gone,
            harness.verdict(&bad, 3, Blocked),
        ]).await.unwrap();
        let heard = |page: &Published| VerdictResult::Noted { host: Some(page.host.clone()) };
        let expected = [heard(&good), heard(&bad), VerdictResult::Outdated, VerdictResult::Gone, heard(&bad)];
        assert_eq!(judged, expected.map(Some));
        for (page, status) in [(&good, Pass), (&bad, Blocked), (&old, Review)] {
            let route = harness.store.routes().find(&page.host).await.unwrap().unwrap();
            assert_eq!(route.moderation, status, "{}", page.slug);
        }
    }
}

#[tokio::test]
async fn locked_account_is_skipped_without_waiting() {
    let Some(harness) = postgres().await else { return };
    let (held, free) = (harness.account().await, harness.account().await);
    let holding = harness.store.database.begin().await.unwrap();
    crate::rows::account::lock_account(&holding, held).await.unwrap().unwrap();
    let settled = harness
        .settle_ready(&[
            (held, vec![harness.operation(held, "page", b"one")]),
            (free, vec![harness.operation(free, "page", b"one")]),
        ])
        .await;
    assert_eq!(settled[0], None);
    assert_eq!(published(&settled[1].as_ref().unwrap()[0]).seq, 1);
    assert_eq!(harness.settle_ready(&[(held, vec![harness.operation(held, "page", b"one")])]).await, [None]);
    holding.rollback().await.unwrap();
}
