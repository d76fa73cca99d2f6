//! Guarantees of a ledger's commit: repeated operations, and many operations in one batch.

use domain::{
    ArtifactId, CardReversal, ChargeOperation, Micro, Month, Payment, Reason, Refusal, ReversalExtent,
    TopUpOperation, ToppedUp, Visibility, VisibilityOperation, VisibilitySet,
};
use sea_orm::{EntityTrait, QueryOrder};

use super::*;

const PRICE: i64 = 500_000;

impl StoreHarness {
    async fn settle_at(&self, now: Time, account: AccountId, operations: &[LedgerOperation]) -> Vec<Outcome> {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now };
        self.store.settle(account, operations, &terms).await.unwrap()
    }

    async fn settle(&self, account: AccountId, operation: LedgerOperation) -> Outcome {
        self.settle_at(START, account, &[operation]).await.pop().unwrap()
    }

    fn visibility(&self, account: AccountId, to: Visibility) -> VisibilityOperation {
        let slug = "page".parse().unwrap();
        VisibilityOperation {
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

    fn paid_visibility(&self, account: AccountId, to: Visibility) -> VisibilityOperation {
        VisibilityOperation { payment: Some(Payment::Dev(Micro::new(PRICE))), ..self.visibility(account, to) }
    }

    /// The monthly charge of an artifact.
    fn metered(&self, account: AccountId, artifact: ArtifactId, month: Month) -> LedgerOperation {
        let reason = Reason::Visibility(artifact, month).to_string();
        LedgerOperation::Charge(ChargeOperation { account, amount: Micro::new(PRICE), reason })
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
    async fn repeated_visibility_change_gets_the_same_response_and_is_charged_once(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let operation = harness.paid_visibility(account, Visibility::Private);
        let first = harness.settle(account, LedgerOperation::Visibility(operation.clone())).await;
        assert!(set(&first).receipt.is_some());
        assert_eq!(set(&first).artifact.live.unwrap().id, published.version);
        assert_eq!(harness.store.routes().find(&published.host).await.unwrap().unwrap().visibility, Visibility::Private);
        // Another change has made it public before the repeat: the repeat does not hide it a second time.
        harness.settle(account, LedgerOperation::Visibility(harness.visibility(account, Visibility::Public))).await;
        let next_month = START.plus(40 * 24 * HOUR);
        let again = harness.settle_at(next_month, account, &[LedgerOperation::Visibility(operation)]).await;
        assert_eq!(again, [first]);
        assert_eq!(harness.store.routes().find(&published.host).await.unwrap().unwrap().visibility, Visibility::Public);
        assert_eq!(harness.ledger().await.len(), 2);
    }

    async fn visibility_of_a_month_is_charged_once_within_one_batch(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let operations = [Visibility::Private, Visibility::Public, Visibility::Unlisted]
            .map(|to| LedgerOperation::Visibility(harness.paid_visibility(account, to)));
        let metered = harness.metered(account, published.artifact, START.month());
        let outcomes = harness.settle_at(START, account, &[&operations[..], &[metered]].concat()).await;
        let receipts: Vec<_> = outcomes[..3].iter().map(|outcome| set(outcome).receipt.is_some()).collect();
        assert_eq!(receipts, [true, false, false]);
        assert!(matches!(&outcomes[3], Outcome::Moved(moved) if !moved.is_new && moved.balance.is_zero()));
        let month = Reason::Visibility(published.artifact, START.month()).to_string();
        assert_eq!(harness.ledger().await[1], (month, -PRICE));
        assert_eq!(harness.ledger().await.len(), 2);
    }

    async fn visibility_change_in_a_metered_month_is_free_even_in_arrears(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        harness.settle(account, harness.metered(account, published.artifact, START.month())).await;
        for to in [Visibility::Private, Visibility::Unlisted, Visibility::Public] {
            // A payment on a free change is ignored.
            let outcome = harness.settle(account, LedgerOperation::Visibility(harness.paid_visibility(account, to))).await;
            assert_eq!((set(&outcome).artifact.visibility, &set(&outcome).receipt), (to, &None));
        }
    }

    async fn audit_log_has_the_credit_of_an_inline_payment_and_no_unchanged_visibility(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
        for to in [Visibility::Public, Visibility::Private, Visibility::Private] {
            set(&harness.settle(account, LedgerOperation::Visibility(harness.paid_visibility(account, to))).await);
        }
        let trail = harness.store.audit().list(account, &Page::whole()).await.unwrap().rows;
        let mut seen: Vec<_> = trail.iter().map(|entry| (entry.action.as_str(), entry.detail.as_str())).collect();
        seen.sort_unstable();
        let expected = [
            ("artifact.published", "version 1"),
            ("artifact.visibility_set", "private"),
            ("credit.added", "USD 0.5"),
        ];
        assert_eq!(seen, expected);
        let credited = trail.iter().find(|entry| entry.action == "credit.added").unwrap();
        assert_eq!(credited.subject, harness.ledger().await[0].0);
    }

    async fn audit_log_has_the_credit_of_a_publish_paid_inline(harness: &StoreHarness) {
        let account = harness.account().await;
        let tariff = Tariff { provisional_free_publishes: 0, ..Tariff::default() };
        let payment = Some(Payment::Dev(tariff.publish_price));
        let operation = PublishOperation {
            order: PublishOrder {
                account,
                version: VersionId::new(START, &harness.chance),
                slug: "page".parse().unwrap(),
                target: Target::NewOrExisting,
                activation: Activation::Live,
                pinned_to: None,
                payment,
                created_via: CreatedVia::Api,
                message: None,
                created_by: None,
                deadline: None,
                is_provisional: None,
                called_by: None,
            },
            manifest: Manifest::new(vec![]),
            title: None,
            bundle: None,
            blobs_as_of: SweepNumber::default(),
            verdict: None,
        };
        let terms = Terms { tariff, chance: harness.chance.clone(), now: START };
        let outcomes = harness.store.settle(account, &[LedgerOperation::Publish(Box::new(operation))], &terms).await.unwrap();
        assert!(matches!(outcomes[..], [Outcome::Published(_)]), "{outcomes:?}");
        let trail = harness.store.audit().list(account, &Page::whole()).await.unwrap().rows;
        assert!(trail.iter().any(|entry| entry.action == "credit.added"), "{trail:?}");
    }

    async fn hiding_a_page_in_arrears_also_charges_the_arrears(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
        let debt = LedgerOperation::Charge(ChargeOperation { account, amount: Micro::new(7), reason: "storage:2026-01".into() });
        harness.settle(account, debt).await;
        let hide = harness.visibility(account, Visibility::Private);
        assert_eq!(due(&harness.settle(account, LedgerOperation::Visibility(hide)).await), Micro::new(PRICE + 7));
        let mut hide = harness.visibility(account, Visibility::Private);
        hide.payment = Some(Payment::Dev(Micro::new(PRICE + 7)));
        let paid = harness.settle(account, LedgerOperation::Visibility(hide)).await;
        assert_eq!(set(&paid).receipt.as_ref().unwrap().amount, Micro::new(PRICE + 7));
        assert_eq!(harness.store.accounts().find(account).await.unwrap().unwrap().balance, Micro::ZERO);
    }

    async fn a_pinned_token_changes_its_own_artifact_only(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let another = ArtifactId::new(START, &harness.chance);
        let pinned = |pin| LedgerOperation::Visibility(VisibilityOperation {
            pinned_to: Some(pin),
            ..harness.paid_visibility(account, Visibility::Private)
        });
        let refused = harness.settle(account, pinned(another)).await;
        assert!(matches!(&refused, Outcome::Refused(refusal) if refusal.code() == "insufficient_scope"));
        assert_eq!(harness.ledger().await, []);
        set(&harness.settle(account, pinned(published.artifact)).await);
    }

    async fn visibility_of_an_artifact_with_only_staged_versions_applies_on_activation(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let hidden = harness.settle(account, LedgerOperation::Visibility(harness.paid_visibility(account, Visibility::Private))).await;
        assert_eq!(set(&hidden).artifact.live, None);
        assert!(harness.store.routes().find(&staged.host).await.unwrap().is_none());
        harness.store.artifacts().activate(&harness.change(account, START), &"page".parse().unwrap(), 1).await.unwrap();
        assert_eq!(harness.store.routes().find(&staged.host).await.unwrap().unwrap().visibility, Visibility::Private);
    }

    async fn a_top_up_is_credited_once_even_when_its_outcome_was_swept(harness: &StoreHarness) {
        let account = harness.account().await;
        let operation = LedgerOperation::TopUp(TopUpOperation { account, job: harness.job(), amount: Micro::new(5_000_000), deadline: None, called_by: None });
        let twice = harness.settle_at(START, account, &[operation.clone(), operation.clone()]).await;
        assert_eq!(twice[0], twice[1]);
        assert_eq!(harness.settle(account, operation.clone()).await, twice[0]);
        harness.store.upkeep().sweep_records(START, START.plus(HOUR), 100).await.unwrap();
        let late = topped_up(harness.settle(account, operation).await);
        assert_eq!(late.balance, Micro::new(5_000_000));
        assert_eq!(harness.ledger().await.len(), 1);
    }

    async fn account_that_expires_before_settlement_is_not_charged(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
        let operations = [
            LedgerOperation::TopUp(TopUpOperation { account, job: harness.job(), amount: Micro::new(5_000_000), deadline: None, called_by: None }),
            LedgerOperation::Visibility(harness.paid_visibility(account, Visibility::Private)),
        ];
        let late = START.plus(2 * HOUR);
        for outcome in harness.settle_at(late, account, &operations).await {
            assert_eq!(outcome, Outcome::Refused(Box::new(Refusal::AccountExpired)));
        }
        assert_eq!(harness.ledger().await, []);
    }

    async fn early_reversal_is_stored_once_and_swept_after_90_days(harness: &StoreHarness) {
        let reversal = |id: &str, extent| CardReversal { id: id.into(), payment_intent: "pi_1".into(), extent };
        let refund = reversal("re_1", ReversalExtent::RefundedInAll(Micro::new(5_000_000)));
        let dispute = reversal("dp_1", ReversalExtent::Disputed(Micro::new(7_000_000)));
        for (early, at) in [(&refund, START), (&dispute, START.plus(HOUR)), (&refund, START.plus(2 * HOUR))] {
            harness.store.ledger().keep_early_reversal(early, at).await.unwrap();
        }
        assert_eq!(harness.store.ledger().list_early_reversals("pi_1").await.unwrap(), [refund, dispute.clone()]);
        assert_eq!(harness.store.ledger().list_early_reversals("pi_2").await.unwrap(), []);
        harness.store.upkeep().sweep_records(START.plus(90 * 24 * HOUR + HOUR / 2), START, 100).await.unwrap();
        assert_eq!(harness.store.ledger().list_early_reversals("pi_1").await.unwrap(), [dispute]);
    }

    async fn idempotency_key_lookup_does_not_claim_the_key(harness: &StoreHarness) {
        let account = harness.account().await;
        let job = harness.job();
        let claim = |job, request_hash| KeyClaim {
            account,
            key: "k",
            request_hash,
            job,
            now: START,
            expires_at: START.plus(HOUR),
        };
        let find = async |request_hash| harness.store.outcomes().find_key_holder(&claim(harness.job(), request_hash)).await.unwrap();
        assert_eq!(find("a").await, None);
        assert_eq!(harness.store.outcomes().claim_key(&claim(job, "a")).await.unwrap(), KeyHolder::Claimant);
        assert_eq!(find("a").await, Some(KeyHolder::Earlier(job)));
        assert_eq!(find("b").await, Some(KeyHolder::Conflict));
        let late = KeyClaim { now: START.plus(HOUR), ..claim(harness.job(), "a") };
        assert_eq!(harness.store.outcomes().find_key_holder(&late).await.unwrap(), None);
    }
}
