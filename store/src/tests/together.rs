//! What holds when the deeds of several accounts, or the verdicts on several versions, are written in one commit.

use domain::{ChargeDeed, Moved, Refusal, Visibility, VisibilityDeed};

use super::*;
use crate::{Batch, Judged, Judgement};

impl Bed {
    fn page(&self, account: AccountId, slug: &str, content: &'static [u8]) -> PublishDeed {
        let file = ManifestFile {
            path: "index.html".parse().unwrap(),
            hash: BlobHash::of(content),
            size_bytes: content.len() as u64,
            content_type: "text/html".into(),
            variants: vec![],
        };
        PublishDeed {
            order: PublishOrder {
                account,
                version: VersionId::new(START, &self.chance),
                slug: slug.parse().unwrap(),
                target: Target::NewOrExisting,
                activation: Activation::Live,
                pinned_to: None,
                payment: None,
                created_via: CreatedVia::Api,
                message: None,
                created_by: None,
                deadline: None,
                called_by: None,
            },
            manifest: Manifest::new(vec![file]),
            blobs_as_of: SweepNumber::default(),
        }
    }

    fn deed(&self, account: AccountId, slug: &str, content: &'static [u8]) -> Deed {
        Deed::Publish(Box::new(self.page(account, slug, content)))
    }

    /// None where the account was to be had by nobody.
    async fn settle_ready(&self, batches: &[(AccountId, Vec<Deed>)]) -> Vec<Option<Vec<Outcome>>> {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        let batches: Vec<Batch<'_>> =
            batches.iter().map(|(account, deeds)| Batch { account: *account, deeds }).collect();
        self.store.settle_together(&batches, &terms).await.unwrap()
    }

    async fn settle_all(&self, batches: &[(AccountId, Vec<Deed>)]) -> Vec<Vec<Outcome>> {
        self.settle_ready(batches).await.into_iter().map(Option::unwrap).collect()
    }

    fn verdict(&self, published: &Published, rules: u32, status: ModerationStatus) -> Judgement {
        Judgement {
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
    async fn each_account_of_a_commit_has_its_own_pages_numbers_and_storage(bed: &Bed) {
        let (one, other) = (bed.account().await, bed.account().await);
        let before = bed.publish(one, "page", b"12345").await;
        let settled = bed.settle_all(&[
            (one, vec![bed.deed(one, "page", b"1234567"), bed.deed(one, "page", b"12345"), bed.deed(one, "new", b"1")]),
            (other, vec![bed.deed(other, "page", b"12345"), bed.deed(other, "page", b"12345")]),
        ]).await;
        let told: Vec<Vec<_>> = settled.iter().map(|outcomes| outcomes.iter().map(published).collect()).collect();
        let seqs: Vec<Vec<u32>> = told.iter().map(|all| all.iter().map(|page| page.seq).collect()).collect();
        assert_eq!(seqs, [vec![2, 3, 1], vec![1, 2]]);
        assert_eq!(told[0][1].host, before.host);
        assert_ne!(told[1][0].host, before.host);
        // Five bytes known, seven new, one new; five that are new to the other account.
        assert_eq!((bed.storage(one).await, bed.storage(other).await), (13, 5));
        for page in [told[0][1], told[0][2], told[1][1]] {
            assert_eq!(bed.store.route(&page.host).await.unwrap().unwrap().version, page.version);
            assert!(bed.store.scan_subject(page.version).await.unwrap().is_some());
            assert_eq!(
                bed.store.outcome(page.version.into()).await.unwrap(),
                Some(Outcome::Published(Box::new(page.clone())))
            );
        }
        let account = bed.store.account(one).await.unwrap().unwrap();
        assert_eq!(account.provisional_publishes, 4);
    }

    async fn a_change_of_visibility_sees_the_publish_before_it_and_is_kept_by_the_one_behind(bed: &Bed) {
        let account = bed.account().await;
        let hide = Deed::Visibility(VisibilityDeed {
            account,
            job: bed.job(),
            slug: "page".parse().unwrap(),
            to: Visibility::Private,
            pinned_to: None,
            payment: Some(domain::Payment::Dev(Micro::new(500_000))),
            deadline: None,
            called_by: None,
        });
        let deeds = vec![bed.deed(account, "page", b"one"), hide, bed.deed(account, "page", b"two")];
        let settled = bed.settle_all(&[(account, deeds)]).await;
        let (first, last) = (published(&settled[0][0]), published(&settled[0][2]));
        let Outcome::VisibilitySet(set) = &settled[0][1] else { panic!("{:?}", settled[0][1]) };
        assert_eq!(set.artifact.live.as_ref().map(|live| live.id), Some(first.version));
        assert_eq!((last.seq, last.visibility), (2, Visibility::Private));
        let route = bed.store.route(&last.host).await.unwrap().unwrap();
        assert_eq!((route.version, route.visibility), (last.version, Visibility::Private));
    }

    async fn whoever_is_gone_or_refused_holds_up_nobody(bed: &Bed) {
        let (account, poor) = (bed.account().await, bed.account().await);
        let gone = AccountId::new(START, &bed.chance);
        let mut other_place = bed.page(poor, "page", b"refused");
        other_place.order.target = Target::Existing;
        let nobodys = bed.deed(gone, "page", b"nobody's");
        let settled = bed.settle_ready(&[
            (gone, vec![nobodys.clone()]),
            (poor, vec![Deed::Publish(Box::new(other_place))]),
            (account, vec![bed.deed(account, "page", b"well")]),
        ]).await;
        assert_eq!(settled[0], None);
        let refused = &settled[1].as_ref().unwrap()[0];
        assert!(matches!(refused, Outcome::Refused(refusal) if matches!(**refusal, Refusal::NotFound(_))));
        assert_eq!(published(&settled[2].as_ref().unwrap()[0]).seq, 1);
        let terms = Terms { tariff: Tariff::default(), chance: bed.chance.clone(), now: START };
        let alone = bed.store.settle(gone, &[nobodys], &terms).await.unwrap();
        assert!(matches!(&alone[0], Outcome::Refused(refusal) if matches!(**refusal, Refusal::Unauthorized)));
        // What was put for those that were refused is known, so that a sweep finds it.
        let hashes = [b"nobody's".as_slice(), b"refused"].map(BlobHash::of);
        assert_eq!(bed.store.stored_blobs(&hashes, START).await.unwrap().variants.len(), 2);
    }

    async fn the_same_deed_and_the_same_reason_count_once_in_a_commit_too(bed: &Bed) {
        let account = bed.claimed().await;
        let (publish, charge) = (bed.deed(account, "page", b"one"), ChargeDeed {
            account,
            amount: Micro::new(7),
            reason: "metering:x".into(),
        });
        let deeds = vec![publish.clone(), Deed::Charge(charge.clone()), publish, Deed::Charge(charge)];
        let settled = bed.settle_all(&[(account, deeds)]).await;
        assert_eq!(settled[0][0], settled[0][2]);
        assert!(matches!(settled[0][1], Outcome::Moved(Moved { is_new: true, .. })));
        assert!(matches!(settled[0][3], Outcome::Moved(Moved { is_new: false, .. })));
        let account = bed.store.account(account).await.unwrap().unwrap();
        assert_eq!(account.balance, Micro::new(-7));
    }

    async fn verdicts_on_several_versions_are_written_together_each_to_its_own(bed: &Bed) {
        use ModerationStatus::{Blocked, Pass, Review};
        let account = bed.account().await;
        let good = bed.publish(account, "good", b"good").await;
        let bad = bed.publish(account, "bad", b"bad").await;
        let old = bed.publish(account, "old", b"old").await;
        bed.store.judge(bed.verdict(&old, 9, Review)).await.unwrap();
        let mut gone = bed.verdict(&good, 3, Pass);
        gone.version = VersionId::new(START, &bed.chance);
        let judged = bed.store.judge_together(&[
            bed.verdict(&good, 3, Pass),
            bed.verdict(&bad, 3, Blocked),
            bed.verdict(&old, 3, Pass),
            gone,
            bed.verdict(&bad, 3, Blocked),
        ]).await.unwrap();
        let heard = |page: &Published| Judged::Noted { host: Some(page.host.clone()) };
        let expected = [heard(&good), heard(&bad), Judged::Outdated, Judged::Gone, heard(&bad)];
        assert_eq!(judged, expected.map(Some));
        for (page, status) in [(&good, Pass), (&bad, Blocked), (&old, Review)] {
            let route = bed.store.route(&page.host).await.unwrap().unwrap();
            assert_eq!(route.moderation, status, "{}", page.slug);
        }
    }
}

#[tokio::test]
async fn an_account_in_other_hands_is_left_out_and_nobody_waits_for_it() {
    let Some(bed) = postgres().await else { return };
    let (held, free) = (bed.account().await, bed.account().await);
    let holding = bed.store.database.begin().await.unwrap();
    crate::rows::account::lock_account(&holding, held).await.unwrap().unwrap();
    let settled = bed
        .settle_ready(&[
            (held, vec![bed.deed(held, "page", b"one")]),
            (free, vec![bed.deed(free, "page", b"one")]),
        ])
        .await;
    assert_eq!(settled[0], None);
    assert_eq!(published(&settled[1].as_ref().unwrap()[0]).seq, 1);
    assert_eq!(bed.settle_ready(&[(held, vec![bed.deed(held, "page", b"one")])]).await, [None]);
    holding.rollback().await.unwrap();
}
