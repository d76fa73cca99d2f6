//! Which versions a rule of retention deletes, and which versions were live until recently.

use domain::{ModerationDecision, Retention, RetentionChange};

use super::review::DONE;
use super::*;
use crate::{AccountSettings, AgentJoin};

const DAY: Duration = Duration::from_secs(24 * 3600);

fn newest(kept: u32) -> RetentionChange {
    RetentionChange { versions_kept: Some(Some(kept)), versions_days: None }
}

fn days(days: u32) -> RetentionChange {
    RetentionChange { versions_kept: None, versions_days: Some(Some(days)) }
}

impl StoreHarness {
    async fn keep(&self, account: AccountId, slug: &str, retention: RetentionChange) -> Retention {
        let (change, slug) = (self.change_by_token(account).await, slug.parse().unwrap());
        let artifact = self.store.artifacts().set_retention(&change, &slug, retention).await.unwrap();
        artifact.unwrap().retention
    }

    async fn keep_all(&self, account: AccountId, retention: RetentionChange) {
        let settings =
            AccountSettings { agent_join: Some(AgentJoin::Disabled), retention, ..Default::default() };
        self.store.accounts().set(&self.change_by_token(account).await, settings).await.unwrap();
    }

    /// A change by the account's first token.
    pub(super) async fn change_by_token(&self, account: AccountId) -> Change<'_> {
        let tokens = self.store.tokens().list(account, crate::Reach::All, START, &Page::whole()).await;
        let by = Maker { user: None, token: tokens.unwrap().rows.first().map(|token| token.id) };
        Change { by, ..self.change(account, START) }
    }

    pub(super) async fn seqs(&self, published: &Published) -> Vec<u32> {
        let (account, artifact) = (published.account, published.artifact);
        let versions = self.store.artifacts().list_versions(account, artifact, &Page::whole()).await.unwrap();
        versions.rows.iter().map(|version| version.seq).collect()
    }

    async fn clean(&self, account: AccountId, now: Time) -> u64 {
        self.store.upkeep().delete_outdated_versions(account, now, &self.chance).await.unwrap().versions
    }

    /// The numbers of files of former versions, the last first.
    async fn former(&self, published: &Published, live_after: Time) -> Vec<BlobHash> {
        let page = self.store.routes().find(&published.host).await.unwrap().unwrap();
        let former = self.store.routes().list_former_versions(&page, live_after, 10).await.unwrap();
        former.iter().map(|version| version.manifest.files()[0].hash).collect()
    }
}

on_both_databases! {
    async fn rule_deletes_old_versions_with_their_references_and_storage(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let mut last = harness.publish(account, "page", b"1").await;
        for content in [&b"12"[..], b"123", b"1234"] {
            last = harness.publish(account, "page", content).await;
        }
        // Another page has the content of the second version, too.
        let other = harness.publish(account, "other", b"12").await;
        assert_eq!(harness.storage(account).await, 10);
        assert_eq!(harness.clean(account, START).await, 0);
        assert_eq!(harness.keep(account, "page", newest(2)).await.versions_kept, Some(2));
        let listed = async |after| {
            harness.store.upkeep().list_accounts_with_retention(after, 10).await.unwrap()
        };
        assert_eq!((listed(None).await, listed(Some(account)).await), (vec![account], vec![]));
        assert_eq!(harness.clean(account, START).await, 2);
        assert_eq!((harness.seqs(&last).await, harness.seqs(&other).await), (vec![4, 3], vec![1]));
        assert_eq!(harness.storage(account).await, 9, "only the first content is gone");
        assert_eq!(harness.clean(account, START).await, 0);
        assert_eq!(harness.publish(account, "page", b"1").await.seq, 5);
        assert_eq!(harness.storage(account).await, 10);
    }

    async fn live_and_held_versions_stay_and_the_newest_while_none_is_live(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let bad = harness.publish(account, "page", b"1").await;
        assert_eq!(harness.rule(&bad, ModerationDecision::Block, None).await, DONE);
        let live = harness.publish(account, "page", b"12").await;
        assert_eq!(harness.rule(&live, ModerationDecision::Pass, None).await, DONE);
        for content in [&b"123"[..], b"1234"] {
            harness.publish_as(account, "page", content, Activation::Staged).await;
        }
        harness.publish_as(account, "draft", b"1", Activation::Staged).await;
        let draft = harness.publish_as(account, "draft", b"12", Activation::Staged).await;
        harness.keep_all(account, days(1)).await;
        assert_eq!(harness.clean(account, START.plus(DAY)).await, 0);
        // The first version of the draft has the content that the moderator has blocked.
        assert_eq!(harness.clean(account, START.plus(2 * DAY)).await, 2);
        assert_eq!((harness.seqs(&live).await, harness.seqs(&draft).await), (vec![2, 1], vec![2, 1]));
    }

    async fn version_that_the_scanner_blocked_stays_as_after_a_purge(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let blocked = harness.publish(account, "page", b"1").await;
        harness.scanned(&blocked, ModerationStatus::Blocked, START).await;
        for content in [&b"12"[..], b"123"] {
            harness.publish(account, "page", content).await;
        }
        harness.keep(account, "page", newest(1)).await;
        assert_eq!(harness.clean(account, START).await, 1);
        assert_eq!(harness.seqs(&blocked).await, [3, 1]);
    }

    async fn version_with_a_content_that_is_blocked_elsewhere_stays(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        for content in [&b"12"[..], b"123"] {
            harness.publish(one, "page", content).await;
        }
        let copy = harness.publish(other, "copy", b"bad").await;
        harness.block_objecting_to(&copy, b"bad").await;
        harness.keep(one, "page", newest(1)).await;
        assert_eq!(harness.clean(one, START).await, 1);
        assert_eq!(harness.seqs(&page).await, [3, 1]);
    }

    async fn rule_of_the_artifact_replaces_that_of_the_account(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let mut pages = Vec::new();
        for slug in ["own", "shared"] {
            harness.publish(account, slug, b"1").await;
            pages.push(harness.publish(account, slug, b"2").await);
        }
        harness.keep_all(account, newest(1)).await;
        harness.keep(account, "own", days(10)).await;
        assert_eq!(harness.clean(account, START.plus(DAY)).await, 1);
        assert_eq!((harness.seqs(&pages[0]).await, harness.seqs(&pages[1]).await), (vec![2, 1], vec![2]));
        let off = RetentionChange { versions_days: Some(None), ..Default::default() };
        assert!(harness.keep(account, "own", off).await.is_off());
        assert_eq!(harness.clean(account, START.plus(DAY)).await, 1);
    }

    async fn versions_that_were_live_are_recorded_until_they_are_forgotten(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let first = harness.publish(account, "page", b"1").await;
        assert!(harness.former(&first, START).await.is_empty());
        harness.publish_as(account, "page", b"never live", Activation::Staged).await;
        harness.publish(account, "page", b"2").await;
        harness.publish(account, "page", b"3").await;
        assert_eq!(harness.former(&first, START).await, [BlobHash::of(b"2"), BlobHash::of(b"1")]);
        let slug = "page".parse().unwrap();
        harness.store.artifacts().activate(&harness.change(account, START), &slug, 1).await.unwrap();
        harness.publish(account, "page", b"4").await;
        // The first was live last, and the date of its end is the new one.
        let all = [BlobHash::of(b"1"), BlobHash::of(b"3"), BlobHash::of(b"2")];
        assert_eq!(harness.former(&first, START).await, all);
        assert!(harness.former(&first, START.plus(HOUR)).await.is_empty());
        harness.scanned(&first, ModerationStatus::Blocked, START).await;
        assert_eq!(harness.former(&first, START).await, all[1..]);
        harness.keep(account, "page", newest(2)).await;
        harness.clean(account, START).await;
        assert_eq!(harness.former(&first, START).await, [BlobHash::of(b"3")]);
        assert_eq!(harness.store.upkeep().sweep_former_versions(START, 10).await.unwrap(), 0);
        assert_eq!(harness.store.upkeep().sweep_former_versions(START.plus(HOUR), 10).await.unwrap(), 3);
        assert!(harness.former(&first, START).await.is_empty());
    }
}
