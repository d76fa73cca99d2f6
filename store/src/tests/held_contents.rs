//! Which contents an account holds, so that it can publish them without sending them.

use super::*;
use crate::Holder;

impl StoreHarness {
    async fn held(&self, holder: Holder, contents: &[&[u8]]) -> Vec<u64> {
        let hashes: Vec<BlobHash> = contents.iter().map(|content| BlobHash::of(content)).collect();
        let held = self.store.blob_index().find_held(holder, &hashes).await.unwrap();
        assert!(held.iter().all(|(hash, content)| content.address.hash == *hash));
        let mut sizes: Vec<u64> = held.values().map(|content| content.size_bytes).collect();
        sizes.sort_unstable();
        sizes
    }
}

on_both_databases! {
    async fn an_account_holds_the_contents_of_its_versions_alone(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        let first = harness.publish(account, "page", b"1").await;
        harness.publish(account, "page", b"22").await;
        harness.publish(account, "second", b"333").await;
        harness.publish(other, "page", b"1").await;
        harness.publish(other, "page", b"4444").await;
        let all: [&[u8]; 5] = [b"1", b"22", b"333", b"4444", b"never"];
        let of_account = Holder { account, artifact: None };
        assert_eq!(harness.held(of_account, &all).await, [1, 2, 3]);
        assert_eq!(harness.held(Holder { account: other, artifact: None }, &all).await, [1, 4]);
        assert!(harness.held(of_account, &[]).await.is_empty());
        let of_artifact = Holder { account, artifact: Some(first.artifact) };
        assert_eq!(harness.held(of_artifact, &all).await, [1, 2]);
        let foreign = Holder { account: other, artifact: Some(first.artifact) };
        assert!(harness.held(foreign, &all).await.is_empty());

        let change = Change {
            account,
            by: Maker { user: None, token: None },
            origin: ORIGIN,
            now: START,
            chance: &harness.chance,
        };
        harness.store.artifacts().delete(&change, &first.slug).await.unwrap();
        assert_eq!(harness.held(of_account, &all).await, [1, 2, 3], "a deleted page is still stored");
        harness.sql(&format!("UPDATE blobs SET lost_at = 1 WHERE hash = '{}'", BlobHash::of(b"22"))).await;
        assert_eq!(harness.held(of_account, &all).await, [1, 3], "a lost content must be sent again");
    }
}
