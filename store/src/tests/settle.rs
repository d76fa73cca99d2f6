//! What a ledger's commit promises beyond what an answer shows: the same deed again, and many deeds in one batch.

use domain::{
    ArtifactId, CardReversal, ChargeDeed, Micro, Month, Payment, Reason, Refusal, ReversalExtent, TopUpDeed,
    ToppedUp, Visibility, VisibilityDeed, VisibilitySet,
};
use sea_orm::{EntityTrait, QueryOrder};

use super::*;

const PRICE: i64 = 500_000;

impl Bed {
    async fn settle_at(&self, now: Time, account: AccountId, deeds: &[Deed]) -> Vec<Outcome> {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now };
        self.store.settle(account, deeds, &terms).await.unwrap()
    }

    async fn settle(&self, account: AccountId, deed: Deed) -> Outcome {
        self.settle_at(START, account, &[deed]).await.pop().unwrap()
    }

    fn visibility(&self, account: AccountId, to: Visibility) -> VisibilityDeed {
        let slug = "page".parse().unwrap();
        VisibilityDeed {
            account,
            job: self.job(),
            slug,
            to,
            pinned_to: None,
            payment: None,
            deadline: None,
            called_by: None,
        }
    }

    fn paid_visibility(&self, account: AccountId, to: Visibility) -> VisibilityDeed {
        VisibilityDeed { payment: Some(Payment::Dev(Micro::new(PRICE))), ..self.visibility(account, to) }
    }

    /// What metering takes for a month of the artifact.
    fn metered(&self, account: AccountId, artifact: ArtifactId, month: Month) -> Deed {
        let reason = Reason::Visibility(artifact, month).to_string();
        Deed::Charge(ChargeDeed { account, amount: Micro::new(PRICE), reason })
    }

    async fn ledger(&self) -> Vec<(String, i64)> {
        let entries = entity::ledger_entry::Entity::find()
            .order_by_asc(entity::ledger_entry::Column::Seq)
            .all(&self.store.database.reader)
            .await
            .unwrap();
        entries.into_iter().map(|entry| (entry.reason, entry.delta_micro)).collect()
    }
}

fn set(outcome: &Outcome) -> &VisibilitySet {
    match outcome {
        Outcome::VisibilitySet(set) => set,
        other => panic!("{other:?}"),
    }
}

fn topped_up(outcome: Outcome) -> ToppedUp {
    match outcome {
        Outcome::ToppedUp(topped_up) => topped_up,
        other => panic!("{other:?}"),
    }
}

fn due(outcome: &Outcome) -> Micro {
    match outcome {
        Outcome::Refused(refusal) => match &**refusal {
            Refusal::PaymentRequired(challenge) => challenge.amount,
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

on_both_databases! {
    async fn a_change_of_visibility_that_is_handed_in_again_is_answered_again_and_charged_once(bed: &Bed) {
        let account = bed.account().await;
        let published = bed.publish(account, "page", b"one").await;
        let deed = bed.paid_visibility(account, Visibility::Private);
        let first = bed.settle(account, Deed::Visibility(deed.clone())).await;
        assert!(set(&first).receipt.is_some());
        assert_eq!(set(&first).artifact.live.unwrap().id, published.version);
        assert_eq!(bed.store.route(&published.host).await.unwrap().unwrap().visibility, Visibility::Private);
        // Somebody has shown it again before the answer was lost: the deed does not hide it a second time.
        bed.settle(account, Deed::Visibility(bed.visibility(account, Visibility::Public))).await;
        let next_month = START.plus(40 * 24 * HOUR);
        let again = bed.settle_at(next_month, account, &[Deed::Visibility(deed)]).await;
        assert_eq!(again, [first]);
        assert_eq!(bed.store.route(&published.host).await.unwrap().unwrap().visibility, Visibility::Public);
        assert_eq!(bed.ledger().await.len(), 2);
    }

    async fn in_one_batch_a_month_is_charged_once(bed: &Bed) {
        let account = bed.account().await;
        let published = bed.publish(account, "page", b"one").await;
        let deeds = [Visibility::Private, Visibility::Public, Visibility::Unlisted]
            .map(|to| Deed::Visibility(bed.paid_visibility(account, to)));
        let metered = bed.metered(account, published.artifact, START.month());
        let outcomes = bed.settle_at(START, account, &[&deeds[..], &[metered]].concat()).await;
        let receipts: Vec<_> = outcomes[..3].iter().map(|outcome| set(outcome).receipt.is_some()).collect();
        assert_eq!(receipts, [true, false, false]);
        assert!(matches!(&outcomes[3], Outcome::Moved(moved) if !moved.is_new && moved.balance.is_zero()));
        let month = Reason::Visibility(published.artifact, START.month()).to_string();
        assert_eq!(bed.ledger().await[1], (month, -PRICE));
        assert_eq!(bed.ledger().await.len(), 2);
    }

    async fn a_month_that_metering_has_taken_is_free_even_in_arrears(bed: &Bed) {
        let account = bed.account().await;
        let published = bed.publish(account, "page", b"one").await;
        bed.settle(account, bed.metered(account, published.artifact, START.month())).await;
        for to in [Visibility::Private, Visibility::Unlisted, Visibility::Public] {
            // A payment on a free change is ignored.
            let outcome = bed.settle(account, Deed::Visibility(bed.paid_visibility(account, to))).await;
            assert_eq!((set(&outcome).artifact.visibility, &set(&outcome).receipt), (to, &None));
        }
    }

    async fn the_trail_has_the_credit_of_an_inline_payment_and_no_change_that_changed_nothing(bed: &Bed) {
        let account = bed.account().await;
        bed.publish(account, "page", b"one").await;
        for to in [Visibility::Public, Visibility::Private, Visibility::Private] {
            set(&bed.settle(account, Deed::Visibility(bed.paid_visibility(account, to))).await);
        }
        let trail = bed.store.audit(account, &Page::whole()).await.unwrap().rows;
        let mut seen: Vec<_> = trail.iter().map(|entry| (entry.action.as_str(), entry.detail.as_str())).collect();
        seen.sort_unstable();
        let expected = [
            ("artifact.published", "version 1"),
            ("artifact.visibility_set", "private"),
            ("credit.added", "USD 0.5"),
        ];
        assert_eq!(seen, expected);
        let credited = trail.iter().find(|entry| entry.action == "credit.added").unwrap();
        assert_eq!(credited.subject, bed.ledger().await[0].0);
    }

    async fn a_publish_that_is_paid_inline_has_its_credit_in_the_trail(bed: &Bed) {
        let account = bed.account().await;
        let tariff = Tariff { provisional_free_publishes: 0, ..Tariff::default() };
        let payment = Some(Payment::Dev(tariff.publish_price));
        let deed = PublishDeed {
            order: PublishOrder {
                account,
                version: VersionId::new(START, &bed.chance),
                slug: "page".parse().unwrap(),
                target: Target::NewOrExisting,
                activation: Activation::Live,
                pinned_to: None,
                payment,
                created_via: CreatedVia::Api,
                message: None,
                created_by: None,
                deadline: None,
                called_by: None,
            },
            manifest: Manifest::new(vec![]),
            blobs_as_of: SweepNumber::default(),
        };
        let terms = Terms { tariff, chance: bed.chance.clone(), now: START };
        let outcomes = bed.store.settle(account, &[Deed::Publish(Box::new(deed))], &terms).await.unwrap();
        assert!(matches!(outcomes[..], [Outcome::Published(_)]), "{outcomes:?}");
        let trail = bed.store.audit(account, &Page::whole()).await.unwrap().rows;
        assert!(trail.iter().any(|entry| entry.action == "credit.added"), "{trail:?}");
    }

    async fn leaving_the_public_in_arrears_costs_them_too(bed: &Bed) {
        let account = bed.account().await;
        bed.publish(account, "page", b"one").await;
        let debt = Deed::Charge(ChargeDeed { account, amount: Micro::new(7), reason: "storage:2026-01".into() });
        bed.settle(account, debt).await;
        let hide = bed.visibility(account, Visibility::Private);
        assert_eq!(due(&bed.settle(account, Deed::Visibility(hide)).await), Micro::new(PRICE + 7));
        let mut hide = bed.visibility(account, Visibility::Private);
        hide.payment = Some(Payment::Dev(Micro::new(PRICE + 7)));
        let paid = bed.settle(account, Deed::Visibility(hide)).await;
        assert_eq!(set(&paid).receipt.as_ref().unwrap().amount, Micro::new(PRICE + 7));
        assert_eq!(bed.store.account(account).await.unwrap().unwrap().balance, Micro::ZERO);
    }

    async fn a_pinned_token_changes_its_own_artifact_only(bed: &Bed) {
        let account = bed.account().await;
        let published = bed.publish(account, "page", b"one").await;
        let another = ArtifactId::new(START, &bed.chance);
        let pinned = |pin| Deed::Visibility(VisibilityDeed {
            pinned_to: Some(pin),
            ..bed.paid_visibility(account, Visibility::Private)
        });
        let refused = bed.settle(account, pinned(another)).await;
        assert!(matches!(&refused, Outcome::Refused(refusal) if refusal.code() == "insufficient_scope"));
        assert_eq!(bed.ledger().await, []);
        set(&bed.settle(account, pinned(published.artifact)).await);
    }

    async fn an_artifact_whose_versions_are_staged_keeps_its_visibility_for_the_one_that_goes_live(bed: &Bed) {
        let account = bed.account().await;
        let staged = bed.publish_as(account, "page", b"one", Activation::Staged).await;
        let hidden = bed.settle(account, Deed::Visibility(bed.paid_visibility(account, Visibility::Private))).await;
        assert_eq!(set(&hidden).artifact.live, None);
        assert!(bed.store.route(&staged.host).await.unwrap().is_none());
        bed.store.activate(&bed.change(account, START), &"page".parse().unwrap(), 1).await.unwrap();
        assert_eq!(bed.store.route(&staged.host).await.unwrap().unwrap().visibility, Visibility::Private);
    }

    async fn a_top_up_is_credited_once_even_when_its_outcome_was_swept(bed: &Bed) {
        let account = bed.account().await;
        let deed = Deed::TopUp(TopUpDeed { account, job: bed.job(), amount: Micro::new(5_000_000), deadline: None, called_by: None });
        let twice = bed.settle_at(START, account, &[deed.clone(), deed.clone()]).await;
        assert_eq!(twice[0], twice[1]);
        assert_eq!(bed.settle(account, deed.clone()).await, twice[0]);
        bed.store.sweep_records(START, START.plus(HOUR), 100).await.unwrap();
        let late = topped_up(bed.settle(account, deed).await);
        assert_eq!(late.balance, Micro::new(5_000_000));
        assert_eq!(bed.ledger().await.len(), 1);
    }

    async fn nothing_is_sold_to_an_account_that_expired_on_the_way(bed: &Bed) {
        let account = bed.account().await;
        bed.publish(account, "page", b"one").await;
        let deeds = [
            Deed::TopUp(TopUpDeed { account, job: bed.job(), amount: Micro::new(5_000_000), deadline: None, called_by: None }),
            Deed::Visibility(bed.paid_visibility(account, Visibility::Private)),
        ];
        let late = START.plus(2 * HOUR);
        for outcome in bed.settle_at(late, account, &deeds).await {
            assert_eq!(outcome, Outcome::Refused(Box::new(Refusal::AccountExpired)));
        }
        assert_eq!(bed.ledger().await, []);
    }

    async fn a_reversal_that_came_early_is_kept_once_and_not_for_ever(bed: &Bed) {
        let reversal = |id: &str, extent| CardReversal { id: id.into(), payment_intent: "pi_1".into(), extent };
        let refund = reversal("re_1", ReversalExtent::RefundedInAll(Micro::new(5_000_000)));
        let dispute = reversal("dp_1", ReversalExtent::Disputed(Micro::new(7_000_000)));
        for (early, at) in [(&refund, START), (&dispute, START.plus(HOUR)), (&refund, START.plus(2 * HOUR))] {
            bed.store.keep_early_reversal(early, at).await.unwrap();
        }
        assert_eq!(bed.store.early_reversals("pi_1").await.unwrap(), [refund, dispute.clone()]);
        assert_eq!(bed.store.early_reversals("pi_2").await.unwrap(), []);
        bed.store.sweep_records(START.plus(90 * 24 * HOUR + HOUR / 2), START, 100).await.unwrap();
        assert_eq!(bed.store.early_reversals("pi_1").await.unwrap(), [dispute]);
    }

    async fn a_key_is_looked_at_without_being_taken(bed: &Bed) {
        let account = bed.account().await;
        let job = bed.job();
        let claim = |job, request_hash| KeyClaim {
            account,
            key: "k",
            request_hash,
            job,
            now: START,
            expires_at: START.plus(HOUR),
        };
        let look = async |request_hash| bed.store.key_holder(&claim(bed.job(), request_hash)).await.unwrap();
        assert_eq!(look("a").await, None);
        assert_eq!(bed.store.claim_key(&claim(job, "a")).await.unwrap(), KeyHolder::Claimant);
        assert_eq!(look("a").await, Some(KeyHolder::Earlier(job)));
        assert_eq!(look("b").await, Some(KeyHolder::Conflict));
        let late = KeyClaim { now: START.plus(HOUR), ..claim(bed.job(), "a") };
        assert_eq!(bed.store.key_holder(&late).await.unwrap(), None);
    }
}
