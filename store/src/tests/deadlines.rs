//! What holds of deeds with a deadline: past it they are refused for good, and the first outcome that is written decides.

use domain::{CalledBy, GrantDeed, Micro, Moved, Payment, Refusal, TopUpDeed, Visibility, VisibilityDeed};

use super::*;
use crate::rows::account::lock_account;
use crate::{Batch, Refused, is_collision};

const LONG_AGO: Time = Time::from_millis(1);

impl Bed {
    fn terms(&self) -> Terms {
        Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START }
    }

    async fn settle_by(&self, account: AccountId, deed: Deed) -> Outcome {
        self.store.settle(account, &[deed], &self.terms()).await.unwrap().pop().unwrap()
    }

    async fn soon(&self) -> Time {
        self.store.now().await.unwrap().plus(HOUR)
    }

    fn publish_by(&self, account: AccountId, deadline: Time) -> PublishDeed {
        PublishDeed {
            order: PublishOrder {
                account,
                version: VersionId::new(START, &self.chance),
                slug: "page".parse().unwrap(),
                target: Target::NewOrExisting,
                activation: Activation::Live,
                pinned_to: None,
                payment: None,
                created_via: CreatedVia::Api,
                message: None,
                created_by: None,
                deadline: Some(deadline),
                called_by: None,
            },
            manifest: Manifest::new(vec![]),
            blobs_as_of: SweepNumber::default(),
        }
    }

    /// An attempt at a grant, which can have others with the same id.
    fn grant_by(&self, account: AccountId, id: JobId, deadline: Time) -> Deed {
        Deed::Grant(GrantDeed {
            account,
            job: self.job(),
            id,
            amount: Micro::new(1_000_000),
            note: "Goodwill".into(),
            deadline: Some(deadline),
            called_by: CalledBy { actor: "Ada".into(), origin: ORIGIN },
        })
    }

    async fn give_up(&self, account: AccountId, deed: &Deed) -> Outcome {
        let refused = Refused { account, kind: deed.kind(), refusal: Refusal::past_deadline(), now: START };
        self.store.refuse(deed.job().unwrap(), refused).await.unwrap()
    }
}

fn expired() -> Outcome {
    Outcome::Refused(Box::new(Refusal::past_deadline()))
}

on_both_databases! {
    async fn past_its_deadline_a_deed_is_refused_for_good(bed: &Bed) {
        let account = bed.account().await;
        bed.publish(account, "shown", b"one").await;
        let hide = VisibilityDeed {
            account,
            job: bed.job(),
            slug: "shown".parse().unwrap(),
            to: Visibility::Private,
            pinned_to: None,
            payment: Some(Payment::Dev(Micro::new(500_000))),
            deadline: Some(LONG_AGO),
            called_by: None,
        };
        let (job, amount) = (bed.job(), Micro::new(1_000_000));
        let deeds = [
            Deed::Publish(Box::new(bed.publish_by(account, LONG_AGO))),
            Deed::Visibility(hide),
            Deed::TopUp(TopUpDeed { account, job, amount, deadline: Some(LONG_AGO), called_by: None }),
            bed.grant_by(account, bed.job(), LONG_AGO),
        ];
        for deed in deeds {
            assert_eq!(bed.settle_by(account, deed.clone()).await, expired(), "{deed:?}");
            let in_time = match deed {
                Deed::Publish(mut deed) => {
                    deed.order.deadline = Some(bed.soon().await);
                    Deed::Publish(deed)
                }
                Deed::TopUp(deed) => Deed::TopUp(TopUpDeed { deadline: Some(bed.soon().await), ..deed }),
                Deed::Grant(deed) => Deed::Grant(GrantDeed { deadline: Some(bed.soon().await), ..deed }),
                deed => deed,
            };
            assert_eq!(bed.settle_by(account, in_time).await, expired(), "an outcome stands");
        }
        assert_eq!(bed.store.account(account).await.unwrap().unwrap().balance, Micro::ZERO);
        let found = bed.store.artifact(account, &"page".parse().unwrap()).await.unwrap();
        assert!(found.is_none(), "{found:?}");
    }

    async fn before_its_deadline_a_deed_is_settled(bed: &Bed) {
        let account = bed.account().await;
        let deed = Deed::Publish(Box::new(bed.publish_by(account, bed.soon().await)));
        let outcome = bed.settle_by(account, deed).await;
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
    }

    async fn what_its_caller_has_given_up_is_never_settled_and_what_is_settled_is_never_given_up(bed: &Bed) {
        let account = bed.account().await;
        let give_up = async |deed: &PublishDeed| {
            let refusal = Refusal::past_deadline();
            let refused = Refused { account, kind: "publish", refusal, now: START };
            bed.store.refuse(deed.order.job(), refused).await.unwrap()
        };
        let given_up = bed.publish_by(account, bed.soon().await);
        assert_eq!(give_up(&given_up).await, expired());
        let deeds = [Deed::Publish(Box::new(given_up))];
        let together = bed.store.settle_together(&[Batch { account, deeds: &deeds }], &bed.terms()).await;
        assert!(is_collision(&together.unwrap_err()), "it is settled by itself, then");
        let [deed] = deeds;
        assert_eq!(bed.settle_by(account, deed).await, expired());
        let settled = bed.publish_by(account, bed.soon().await);
        let outcome = bed.settle_by(account, Deed::Publish(Box::new(settled.clone()))).await;
        assert!(matches!(outcome, Outcome::Published(_)), "{outcome:?}");
        assert_eq!(give_up(&settled).await, outcome);
    }

    async fn a_grant_that_was_given_up_is_never_made_and_another_attempt_with_its_id_is_made_once(bed: &Bed) {
        let (account, id) = (bed.account().await, bed.job());
        let attempt = async || bed.grant_by(account, id, bed.soon().await);
        let moved = |is_new| Outcome::Moved(Moved { balance: Micro::new(1_000_000), is_new });
        let given_up = attempt().await;
        assert_eq!(bed.give_up(account, &given_up).await, expired());
        assert_eq!(bed.settle_by(account, given_up).await, expired());
        let made = attempt().await;
        assert_eq!(bed.settle_by(account, made.clone()).await, moved(true));
        assert_eq!(bed.give_up(account, &made).await, moved(true), "its caller learns that it was made");
        assert_eq!(bed.settle_by(account, attempt().await).await, moved(false));
    }

    async fn callers_that_give_up_together_leave_connections_to_others(bed: &Bed) {
        const PATIENCE: Duration = Duration::from_secs(2);
        let account = bed.account().await;
        let held = bed.store.database.begin().await.unwrap();
        lock_account(&held, account).await.unwrap();
        let giving_up: Vec<_> = (0..60)
            .map(|_| {
                let (store, job) = (bed.store.clone(), bed.job());
                let refused = Refused { account, kind: "publish", refusal: Refusal::past_deadline(), now: START };
                tokio::spawn(async move { store.refuse(job, refused).await })
            })
            .collect();
        while bed.store.refusals.available_permits() > 0 {
            tokio::task::yield_now().await;
        }
        tokio::time::timeout(PATIENCE, bed.store.now()).await.expect("a connection is free").unwrap();
        drop(held);
        for refused in giving_up {
            assert_eq!(refused.await.unwrap().unwrap(), expired());
        }
    }

    async fn a_key_whose_job_was_given_up_is_free(bed: &Bed) {
        let account = bed.account().await;
        let claim = |job| KeyClaim {
            account,
            key: "k",
            request_hash: "a",
            job,
            now: START,
            expires_at: START.plus(HOUR),
        };
        let (first, second) = (bed.job(), bed.job());
        assert_eq!(bed.store.claim_key(&claim(first)).await.unwrap(), KeyHolder::Claimant);
        let refused = Refused { account, kind: "publish", refusal: Refusal::past_deadline(), now: START };
        bed.store.refuse(first, refused).await.unwrap();
        assert_eq!(bed.store.claim_key(&claim(second)).await.unwrap(), KeyHolder::Claimant);
        assert_eq!(bed.store.claim_key(&claim(bed.job())).await.unwrap(), KeyHolder::Earlier(second));
    }
}
