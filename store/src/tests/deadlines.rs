//! Operations with a deadline: after it they are refused for good, and the first stored outcome decides.

use domain::{
    CalledBy, GrantOperation, Micro, Moved, Payment, Refusal, TopUpOperation, Visibility, VisibilityOperation,
};

use super::*;
use crate::rows::account::lock_account;
use crate::{Batch, Refused, is_collision};

const LONG_AGO: Time = Time::from_millis(1);

impl StoreHarness {
    fn terms(&self) -> Terms {
        Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START }
    }

    async fn settle_by(&self, account: AccountId, operation: LedgerOperation) -> Outcome {
        self.store.settle(account, &[operation], &self.terms()).await.unwrap().pop().unwrap()
    }

    async fn soon(&self) -> Time {
        self.store.now().await.unwrap().plus(HOUR)
    }

    fn publish_by(&self, account: AccountId, deadline: Time) -> PublishOperation {
        PublishOperation {
            order: PublishOrder { deadline: Some(deadline), ..self.order(account, "page") },
            manifest: Manifest::new(vec![]),
            title: None,
            bundle: None,
            blobs_as_of: SweepNumber::default(),
            verdict: None,
        }
    }

    /// An attempt at a grant. Several attempts can have the same id.
    fn grant_by(&self, account: AccountId, id: JobId, deadline: Time) -> LedgerOperation {
        LedgerOperation::Grant(GrantOperation {
            account,
            job: self.job(),
            id,
            amount: Micro::new(1_000_000),
            note: "Goodwill".into(),
            deadline: Some(deadline),
            called_by: CalledBy { actor: "Ada".into(), origin: ORIGIN },
        })
    }

    async fn give_up(&self, account: AccountId, operation: &LedgerOperation) -> Outcome {
        let refused =
            Refused { account, kind: operation.kind(), refusal: Refusal::past_deadline(), now: START };
        self.store.outcomes().record_refusal(operation.job().unwrap(), refused).await.unwrap()
    }
}

fn expired() -> Outcome {
    Outcome::Refused(Box::new(Refusal::past_deadline()))
}

on_both_databases! {
    async fn operation_past_its_deadline_is_refused_permanently(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "shown", b"one").await;
        let hide = VisibilityOperation {
            account,
            job: harness.job(),
            slug: "shown".parse().unwrap(),
            to: Visibility::Private,
            pinned_to: None,
            payment: Some(Payment::Dev(Micro::new(500_000))),
            deadline: Some(LONG_AGO),
            called_by: None,
        };
        let (job, amount) = (harness.job(), Micro::new(1_000_000));
        let operations = [
            LedgerOperation::Publish(Box::new(harness.publish_by(account, LONG_AGO))),
            LedgerOperation::Visibility(hide),
            LedgerOperation::TopUp(TopUpOperation { account, job, amount, deadline: Some(LONG_AGO), called_by: None }),
            harness.grant_by(account, harness.job(), LONG_AGO),
        ];
        for operation in operations {
            assert_eq!(harness.settle_by(account, operation.clone()).await, expired(), "{operation:?}");
            let in_time = match operation {
                LedgerOperation::Publish(mut operation) => {
                    operation.order.deadline = Some(harness.soon().await);
                    LedgerOperation::Publish(operation)
                }
                LedgerOperation::TopUp(operation) => LedgerOperation::TopUp(TopUpOperation { deadline: Some(harness.soon().await), ..operation }),
                LedgerOperation::Grant(operation) => LedgerOperation::Grant(GrantOperation { deadline: Some(harness.soon().await), ..operation }),
                operation => operation,
            };
            assert_eq!(harness.settle_by(account, in_time).await, expired(), "an outcome stands");
        }
        assert_eq!(harness.store.accounts().find(account).await.unwrap().unwrap().balance, Micro::ZERO);
        let found = harness.store.artifacts().find(account, &"page".parse().unwrap()).await.unwrap();
        assert!(found.is_none(), "{found:?}");
    }

    async fn operation_before_its_deadline_is_settled(harness: &StoreHarness) {
        let account = harness.account().await;
        let operation = LedgerOperation::Publish(Box::new(harness.publish_by(account, harness.soon().await)));
        let outcome = harness.settle_by(account, operation).await;
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
    }

    async fn abandoned_operation_is_never_settled_and_settled_operation_is_never_abandoned(harness: &StoreHarness) {
        let account = harness.account().await;
        let give_up = async |operation: &PublishOperation| {
            let refusal = Refusal::past_deadline();
            let refused = Refused { account, kind: "publish", refusal, now: START };
            harness.store.outcomes().record_refusal(operation.order.job(), refused).await.unwrap()
        };
        let given_up = harness.publish_by(account, harness.soon().await);
        assert_eq!(give_up(&given_up).await, expired());
        let operations = [LedgerOperation::Publish(Box::new(given_up))];
        let together = harness.store.settle_together(&[Batch { account, operations: &operations }], &harness.terms()).await;
        assert!(is_collision(&together.unwrap_err()), "it is settled by itself, then");
        let [operation] = operations;
        assert_eq!(harness.settle_by(account, operation).await, expired());
        let settled = harness.publish_by(account, harness.soon().await);
        let outcome = harness.settle_by(account, LedgerOperation::Publish(Box::new(settled.clone()))).await;
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
        assert_eq!(give_up(&settled).await, outcome);
    }

    async fn abandoned_credit_grant_is_never_made_and_a_retry_with_its_id_is_made_once(harness: &StoreHarness) {
        let (account, id) = (harness.account().await, harness.job());
        let attempt = async || harness.grant_by(account, id, harness.soon().await);
        let moved = |is_new| Outcome::Moved(Moved { balance: Micro::new(1_000_000), is_new });
        let given_up = attempt().await;
        assert_eq!(harness.give_up(account, &given_up).await, expired());
        assert_eq!(harness.settle_by(account, given_up).await, expired());
        let made = attempt().await;
        assert_eq!(harness.settle_by(account, made.clone()).await, moved(true));
        assert_eq!(harness.give_up(account, &made).await, moved(true), "its caller learns that it was made");
        assert_eq!(harness.settle_by(account, attempt().await).await, moved(false));
    }

    async fn many_abandoned_operations_leave_connections_for_others(harness: &StoreHarness) {
        const PATIENCE: Duration = Duration::from_secs(2);
        let account = harness.account().await;
        let held = harness.store.database.begin().await.unwrap();
        lock_account(&held, account).await.unwrap();
        let giving_up: Vec<_> = (0..60)
            .map(|_| {
                let (store, job) = (harness.store.clone(), harness.job());
                let refused = Refused { account, kind: "publish", refusal: Refusal::past_deadline(), now: START };
                tokio::spawn(async move { store.outcomes().record_refusal(job, refused).await })
            })
            .collect();
        while harness.store.refusals.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::timeout(PATIENCE, harness.store.now()).await.expect("a connection is free").unwrap();
        drop(held);
        for refused in giving_up {
            assert_eq!(refused.await.unwrap().unwrap(), expired());
        }
    }

    async fn idempotency_key_of_an_abandoned_job_is_free(harness: &StoreHarness) {
        let account = harness.account().await;
        let claim = |job| KeyClaim {
            account,
            key: "k",
            request_hash: "a",
            job,
            now: START,
            expires_at: START.plus(HOUR),
        };
        let (first, second) = (harness.job(), harness.job());
        assert_eq!(harness.store.outcomes().claim_key(&claim(first)).await.unwrap(), KeyHolder::Claimant);
        let refused = Refused { account, kind: "publish", refusal: Refusal::past_deadline(), now: START };
        harness.store.outcomes().record_refusal(first, refused).await.unwrap();
        assert_eq!(harness.store.outcomes().claim_key(&claim(second)).await.unwrap(), KeyHolder::Claimant);
        assert_eq!(harness.store.outcomes().claim_key(&claim(harness.job())).await.unwrap(), KeyHolder::Earlier(second));
    }
}
