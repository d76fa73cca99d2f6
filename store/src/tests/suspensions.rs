//! Operations that a suspended account refuses within the transaction, and those that are still settled.

use domain::{CalledBy, GrantOperation, OperatorName, SuspensionReason, Visibility, VisibilityOperation};

use super::*;
use crate::{ChangeError, SuspensionChange, SuspensionSet};

impl StoreHarness {
    async fn set_suspension(&self, account: AccountId, reason: Option<&str>) -> SuspensionSet {
        let by = OperatorName::cleaned("Grace").unwrap();
        let reason = reason.map(|text| text.parse::<SuspensionReason>().unwrap());
        let change = SuspensionChange { account, reason, by: &by, origin: ORIGIN, now: START };
        self.store.accounts().set_suspension(&change, &self.chance).await.unwrap().unwrap()
    }

    async fn settled(&self, account: AccountId, operation: LedgerOperation) -> Outcome {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        self.store.settle(account, &[operation], &terms).await.unwrap().remove(0)
    }
}

fn top_up(harness: &StoreHarness, account: AccountId) -> LedgerOperation {
    LedgerOperation::TopUp(TopUpOperation {
        account,
        job: harness.job(),
        amount: Micro::new(7),
        deadline: None,
        called_by: None,
    })
}

fn visibility(harness: &StoreHarness, account: AccountId) -> LedgerOperation {
    LedgerOperation::Visibility(VisibilityOperation {
        account,
        job: harness.job(),
        slug: "page".parse().unwrap(),
        to: Visibility::Unlisted,
        pinned_to: None,
        payment: None,
        deadline: None,
        called_by: None,
    })
}

fn grant(harness: &StoreHarness, account: AccountId) -> LedgerOperation {
    let called_by = CalledBy { actor: "Grace".into(), origin: ORIGIN };
    LedgerOperation::Grant(GrantOperation {
        account,
        job: harness.job(),
        id: harness.job(),
        amount: Micro::new(5_000_000),
        note: "Goodwill".into(),
        deadline: None,
        called_by,
    })
}

on_both_databases! {
    async fn suspended_account_refuses_writes_but_money_still_moves(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.claimed().await);
        let published = harness.publish(account, "page", b"one").await;
        let others = harness.publish(other, "page", b"two").await;
        let is_suspended = async |host| harness.store.routes().find(host).await.unwrap().unwrap().is_suspended;

        let set = harness.set_suspension(account, Some("Phishing")).await;
        assert_eq!(set.hosts, std::slice::from_ref(&published.host));
        assert!(is_suspended(&published.host).await && !is_suspended(&others.host).await);

        let refused = Outcome::Refused(Box::new(Refusal::AccountSuspended));
        assert_eq!(harness.settled(account, top_up(harness, account)).await, refused);
        assert_eq!(harness.settled(account, visibility(harness, account)).await, refused);
        assert!(matches!(harness.settled(account, grant(harness, account)).await, Outcome::Moved(moved) if moved.is_new));
        let (change, slug) = (harness.change(account, START), "page".parse().unwrap());
        for undone in [
            harness.store.artifacts().activate(&change, &slug, 1).await.map(drop),
            harness.store.artifacts().delete(&change, &slug).await.map(drop),
        ] {
            assert!(matches!(undone, Err(ChangeError::Refused(Refusal::AccountSuspended))), "{undone:?}");
        }

        assert_eq!(harness.set_suspension(account, None).await.suspension, None);
        assert!(!is_suspended(&published.host).await);
        assert!(matches!(harness.settled(account, top_up(harness, account)).await, Outcome::ToppedUp(_)));
        assert!(matches!(harness.settled(account, visibility(harness, account)).await, Outcome::VisibilitySet(_)));
    }

    async fn route_activated_by_an_older_release_is_suspended_by_the_next_decision(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let first = harness.publish(account, "first", b"one").await;
        let second = harness.publish(account, "second", b"two").await;
        harness.set_suspension(account, Some("Phishing")).await;
        harness.sql(&format!("UPDATE routes SET suspended_at = NULL WHERE host = '{}'", second.host)).await;
        let before = harness.store.routes().find(&first.host).await.unwrap().unwrap().updated_at;
        harness.set_suspension(account, Some("Phishing, again")).await;
        for host in [&first.host, &second.host] {
            assert!(harness.store.routes().find(host).await.unwrap().unwrap().is_suspended);
        }
        // Each decision has its own date, by which visitors' cached copies are compared.
        assert!(harness.store.routes().find(&first.host).await.unwrap().unwrap().updated_at > before);
    }
}
