//! Which link opens a private page, for edges and for the account.

use domain::{LinkGeneration, Refusal, Slug};

use super::*;
use crate::{ChangeError, ChangeResult};

impl StoreHarness {
    async fn make_private(&self, published: &Published) {
        for table in ["artifacts", "routes"] {
            let host = &published.host;
            self.sql(&format!("UPDATE {table} SET visibility = 'private' WHERE host = '{host}'")).await;
        }
    }

    async fn rotate(&self, account: AccountId, slug: &Slug) -> ChangeResult<Option<domain::Artifact>> {
        let change = self.change_by_token(account).await;
        self.store.artifacts().rotate_private_link(&change, slug).await
    }

    /// The generation that edges accept.
    async fn served(&self, published: &Published) -> u32 {
        let routes = self.store.routes();
        let route = match routes.find(&published.host).await.unwrap() {
            Some(route) => route,
            None => routes.find_staged_only(&published.host).await.unwrap().unwrap(),
        };
        let version = routes.find_version(&route, Some(route.version), published.seq).await.unwrap().unwrap();
        assert_eq!(version.link_generation, route.link_generation);
        route.link_generation.number()
    }
}

on_both_databases! {
    async fn new_link_is_that_of_the_route_its_versions_and_later_publishes(harness: &StoreHarness) {
        let account = harness.account().await;
        let page = harness.publish(account, "page", b"one").await;
        let other = harness.publish(account, "other", b"one").await;
        harness.make_private(&page).await;
        assert_eq!(harness.served(&page).await, 0);
        let before = harness.store.routes().find(&page.host).await.unwrap().unwrap().updated_at;
        let rotated = harness.rotate(account, &page.slug).await.unwrap().unwrap();
        assert_eq!(rotated.link_generation, LinkGeneration::new(1));
        let after = harness.store.routes().find(&page.host).await.unwrap().unwrap().updated_at;
        assert!(after > before, "a cached copy of the page has the old link");
        assert_eq!(harness.served(&page).await, 1);
        let next = harness.publish(account, "page", b"two").await;
        assert_eq!(next.link_generation, LinkGeneration::new(1));
        assert_eq!(harness.served(&next).await, 1);
        harness.rotate(account, &page.slug).await.unwrap();
        assert_eq!((harness.served(&page).await, harness.served(&other).await), (2, 0));

        let change = harness.change_by_token(account).await;
        harness.store.artifacts().delete(&change, &page.slug).await.unwrap();
        harness.store.artifacts().restore(&change, page.artifact, 10).await.unwrap().unwrap();
        assert_eq!(harness.served(&next).await, 2, "a restore brings no old link back");
    }

    async fn page_without_a_live_version_gets_a_new_link_and_a_public_one_does_not(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let refused = harness.rotate(account, &staged.slug).await.unwrap_err();
        assert!(matches!(refused, ChangeError::Refused(Refusal::NotPrivate)), "{refused:?}");
        assert_eq!(harness.served(&staged).await, 0);
        harness.make_private(&staged).await;
        harness.rotate(account, &staged.slug).await.unwrap().unwrap();
        assert_eq!(harness.served(&staged).await, 1);
        let change = harness.change_by_token(account).await;
        harness.store.artifacts().activate(&change, &staged.slug, 1).await.unwrap();
        assert_eq!(harness.served(&staged).await, 1);
        assert!(harness.rotate(account, &"nothing".parse().unwrap()).await.unwrap().is_none());
    }
}
