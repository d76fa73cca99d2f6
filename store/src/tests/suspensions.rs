//! What a suspended account refuses in the very transaction, and what is settled for it all the same.

use domain::{CalledBy, GrantDeed, OperatorName, SuspensionReason, Visibility, VisibilityDeed};

use super::*;
use crate::{SuspensionChange, SuspensionSet, Undone};

impl Bed {
    async fn set_suspension(&self, account: AccountId, reason: Option<&str>) -> SuspensionSet {
        let by = OperatorName::cleaned("Grace").unwrap();
        let reason = reason.map(|text| text.parse::<SuspensionReason>().unwrap());
        let change = SuspensionChange { account, reason, by: &by, origin: ORIGIN, now: START };
        self.store.set_suspension(&change, &self.chance).await.unwrap().unwrap()
    }

    async fn settled(&self, account: AccountId, deed: Deed) -> Outcome {
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        self.store.settle(account, &[deed], &terms).await.unwrap().remove(0)
    }
}

fn top_up(bed: &Bed, account: AccountId) -> Deed {
    Deed::TopUp(TopUpDeed { account, job: bed.job(), amount: Micro::new(7), deadline: None, called_by: None })
}

fn visibility(bed: &Bed, account: AccountId) -> Deed {
    Deed::Visibility(VisibilityDeed {
        account,
        job: bed.job(),
        slug: "page".parse().unwrap(),
        to: Visibility::Unlisted,
        pinned_to: None,
        payment: None,
        deadline: None,
        called_by: None,
    })
}

fn grant(bed: &Bed, account: AccountId) -> Deed {
    let called_by = CalledBy { actor: "Grace".into(), origin: ORIGIN };
    Deed::Grant(GrantDeed {
        account,
        job: bed.job(),
        id: bed.job(),
        amount: Micro::new(5_000_000),
        note: "Goodwill".into(),
        deadline: None,
        called_by,
    })
}

on_both_databases! {
    async fn a_suspended_account_refuses_writes_in_their_transaction_and_money_still_moves(bed: &Bed) {
        let (account, other) = (bed.claimed().await, bed.claimed().await);
        let published = bed.publish(account, "page", b"one").await;
        let others = bed.publish(other, "page", b"two").await;
        let is_suspended = async |host| bed.store.route(host).await.unwrap().unwrap().is_suspended;

        let set = bed.set_suspension(account, Some("Phishing")).await;
        assert_eq!(set.hosts, std::slice::from_ref(&published.host));
        assert!(is_suspended(&published.host).await && !is_suspended(&others.host).await);
        let states = bed.store.route_states(std::slice::from_ref(&published.host)).await.unwrap();
        assert!(states[&published.host].is_suspended);

        let refused = Outcome::Refused(Box::new(Refusal::AccountSuspended));
        assert_eq!(bed.settled(account, top_up(bed, account)).await, refused);
        assert_eq!(bed.settled(account, visibility(bed, account)).await, refused);
        assert!(matches!(bed.settled(account, grant(bed, account)).await, Outcome::Moved(moved) if moved.is_new));
        let (change, slug) = (bed.change(account, START), "page".parse().unwrap());
        for undone in [
            bed.store.activate(&change, &slug, 1).await.map(drop),
            bed.store.delete_artifact(&change, &slug).await.map(drop),
        ] {
            assert!(matches!(undone, Err(Undone::Refused(Refusal::AccountSuspended))), "{undone:?}");
        }

        assert_eq!(bed.set_suspension(account, None).await.suspension, None);
        assert!(!is_suspended(&published.host).await);
        assert!(matches!(bed.settled(account, top_up(bed, account)).await, Outcome::ToppedUp(_)));
        assert!(matches!(bed.settled(account, visibility(bed, account)).await, Outcome::VisibilitySet(_)));
    }

    async fn a_version_that_an_older_release_made_live_is_suspended_with_the_next_decision(bed: &Bed) {
        let account = bed.claimed().await;
        let first = bed.publish(account, "first", b"one").await;
        let second = bed.publish(account, "second", b"two").await;
        bed.set_suspension(account, Some("Phishing")).await;
        bed.sql(&format!("UPDATE routes SET suspended_at = NULL WHERE host = '{}'", second.host)).await;
        let before = bed.store.route(&first.host).await.unwrap().unwrap().updated_at;
        bed.set_suspension(account, Some("Phishing, again")).await;
        for host in [&first.host, &second.host] {
            assert!(bed.store.route(host).await.unwrap().unwrap().is_suspended);
        }
        // Each decision bears a date of its own, by which visitors' copies are told apart.
        assert!(bed.store.route(&first.host).await.unwrap().unwrap().updated_at > before);
    }
}
