//! How many accounts a person may own, and how these share the free storage.

use std::num::NonZeroU32;

use domain::{AccountSummary, StoredBytes, UserId};
use futures::future::join_all;

use super::team::user;
use super::*;
use crate::{Claimed, Claimer, MeterPage};

const ACCOUNTS_MAX: u32 = 5;

async fn claim_by(harness: &StoreHarness, user: UserId, account: AccountId, now: Time) -> Claimed {
    let code = harness.store.accounts().find(account).await.unwrap().unwrap().claim_code;
    let claimer = Claimer {
        user,
        origin: ORIGIN,
        accounts_max: NonZeroU32::new(ACCOUNTS_MAX),
        tokens: TokenFate::Keep,
    };
    harness.store.accounts().claim(&code, &claimer, now, &harness.chance).await.unwrap()
}

async fn summary(harness: &StoreHarness, account: AccountId) -> AccountSummary {
    harness.store.accounts().summary(account, START).await.unwrap().unwrap()
}

on_both_databases! {
    async fn twenty_claims_of_one_person_at_once_stay_within_the_limit(harness: &StoreHarness) {
        let (ada, other) = (user(harness, "ada").await, user(harness, "other").await);
        let accounts = join_all((0..20).map(|_| harness.account())).await;
        let claims = join_all(accounts.iter().map(|account| claim_by(harness, ada, *account, START))).await;
        let claimed = claims.iter().filter(|claimed| matches!(claimed, Claimed::Now { .. })).count();
        let refused = claims.iter().filter(|claimed| matches!(claimed, Claimed::TooMany { limit: ACCOUNTS_MAX }));
        assert_eq!((claimed, refused.count()), (5, 15), "{claims:?}");
        assert_eq!(harness.store.members().list_memberships(ada).await.unwrap().len(), 5);
        // Anybody else can claim the account whose claim was refused.
        let left = accounts.iter().zip(&claims).find(|(_, claimed)| matches!(claimed, Claimed::TooMany { .. }));
        assert!(matches!(claim_by(harness, other, *left.unwrap().0, START).await, Claimed::Now { .. }));
    }

    async fn accounts_of_one_owner_use_the_free_storage_in_the_order_of_their_claims(harness: &StoreHarness) {
        let (ada, other) = (user(harness, "ada").await, user(harness, "other").await);
        let accounts = [harness.account().await, harness.account().await, harness.account().await];
        let [last, first, foreign] = accounts;
        claim_by(harness, ada, first, START).await;
        claim_by(harness, ada, last, START.plus(HOUR / 2)).await;
        claim_by(harness, other, foreign, START).await;
        for (account, content) in [(first, &b"12345"[..]), (last, b"123"), (foreign, b"1234567")] {
            harness.publish(account, "page", content).await;
        }
        let page = MeterPage { views_of: START.month(), after: None, at_most: 100 };
        let metered = harness.store.metering().list_accounts(&page).await.unwrap();
        for (account, own, claimed_earlier) in [(first, 5, 0), (last, 3, 5), (foreign, 7, 0)] {
            let stored = StoredBytes { own, claimed_earlier };
            assert_eq!(summary(harness, account).await.stored, stored);
            assert_eq!(metered.iter().find(|one| one.account == account).unwrap().stored, stored);
        }
        let provisional = harness.account().await;
        assert_eq!(summary(harness, provisional).await.stored, StoredBytes::default());
    }
}
