//! The figures for the monthly metering, and finding accounts by name.

use domain::{ArtifactId, Micro, Month, Payment, StoredBytes, Visibility, VisibilityOperation};

use super::*;
use crate::{MeterPage, MeteredAccount};

impl StoreHarness {
    async fn restrict(&self, account: AccountId, slug: &str, to: Visibility) {
        let operation = VisibilityOperation {
            account,
            job: self.job(),
            slug: slug.parse().unwrap(),
            to,
            pinned_to: None,
            payment: Some(Payment::Dev(Micro::new(500_000))),
            deadline: None,
            called_by: None,
        };
        let terms = Terms { tariff: Tariff::default(), chance: self.chance.clone(), now: START };
        let outcome = self
            .store
            .settle(account, &[LedgerOperation::Visibility(operation)], &terms)
            .await
            .unwrap()
            .pop();
        assert!(matches!(outcome, Some(Outcome::VisibilitySet(_))), "{outcome:?}");
    }

    async fn view(&self, account: AccountId, count: u64, counted_at: Time) {
        let host = "page-aaaa".parse().unwrap();
        let views = ViewsJob { counted_at, views: vec![ViewCount { account, host, count }] };
        self.store.views().add(self.job(), &views).await.unwrap();
    }

    async fn all_metered(&self, views_of: Month, at_most: u64) -> Vec<MeteredAccount> {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = MeterPage { views_of, after, at_most };
            let found = self.store.metering().list_accounts(&page).await.unwrap();
            assert!(found.len() as u64 <= at_most);
            let Some(last) = found.last() else { return all };
            after = Some(last.account);
            all.extend(found);
        }
    }
}

on_both_databases! {
    async fn every_claimed_account_is_metered_once_with_any_page_size(harness: &StoreHarness) {
        harness.account().await;
        let mut claimed = Vec::new();
        for _ in 0..5 {
            claimed.push(harness.claimed().await);
        }
        claimed.sort();
        for at_most in [1, 2, 5, 100] {
            let metered = harness.all_metered(START.month(), at_most).await;
            assert_eq!(metered.iter().map(|one| one.account).collect::<Vec<_>>(), claimed);
        }
    }

    async fn metering_reads_storage_monthly_views_and_non_public_pages(harness: &StoreHarness) {
        let (account, idle) = (harness.claimed().await, harness.claimed().await);
        let mut restricted: Vec<ArtifactId> = Vec::new();
        for (slug, to) in [("private", Visibility::Private), ("unlisted", Visibility::Unlisted)] {
            restricted.push(harness.publish(account, slug, b"12345").await.artifact);
            harness.restrict(account, slug, to).await;
        }
        restricted.sort();
        harness.publish(account, "public", b"123456").await;
        harness.publish(account, "deleted", b"12345").await;
        harness.restrict(account, "deleted", Visibility::Private).await;
        harness.store.artifacts().delete(&harness.change(account, START), &"deleted".parse().unwrap()).await.unwrap().unwrap();
        harness.view(account, 7, START).await;
        harness.view(account, 100, START.plus(40 * 24 * HOUR)).await;
        let seen = MeteredAccount {
            account,
            created_at: START,
            stored: StoredBytes { own: 11, claimed_earlier: 0 },
            views: 7,
            restricted_artifacts: restricted,
        };
        let nothing =
            MeteredAccount { account: idle, stored: StoredBytes::default(), views: 0, restricted_artifacts: vec![], ..seen };
        let metered = harness.all_metered(START.month(), 100).await;
        assert_eq!(metered.len(), 2);
        assert!(metered.contains(&seen) && metered.contains(&nothing), "{metered:?}");
    }

    async fn an_account_is_found_by_its_id_or_its_handle(harness: &StoreHarness) {
        let id = harness.account().await;
        let handle = harness.store.accounts().find(id).await.unwrap().unwrap().handle;
        for name in [id.to_string(), id.to_string().to_lowercase(), handle.clone()] {
            assert_eq!(harness.store.accounts().find_named(&name).await.unwrap(), Some(id), "{name}");
        }
        let stranger = AccountId::new(START, &harness.chance).to_string();
        for name in ["", "acct_", "%", &handle.to_uppercase(), &stranger] {
            assert_eq!(harness.store.accounts().find_named(name).await.unwrap(), None, "{name}");
        }
    }
}
