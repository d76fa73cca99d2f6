//! Versions that were scanned before they are settled.

use domain::{ModeratedBy, ModerationDecision};
use sea_orm::EntityTrait;

use super::*;

const RULES: u32 = 7;
const FINDING: &str = r#"[{"rule":"seed_phrase","file":"index.html","field":"","words":[]}]"#;

impl StoreHarness {
    async fn publish_scanned(
        &self,
        account: AccountId,
        slug: &str,
        content: &'static [u8],
        status: ModerationStatus,
    ) -> Published {
        let evidence = if status == ModerationStatus::Pass { "[]" } else { FINDING }.to_owned();
        let verdict = EarlyVerdict { status, evidence, rules: RULES, is_provisional: false };
        self.publish_with(self.order(account, slug), content, Some(verdict)).await
    }

    async fn version_of(&self, published: &Published) -> entity::version::Model {
        let found = entity::version::Entity::find_by_id(published.version.to_string());
        found.one(&self.store.database.reader).await.unwrap().unwrap()
    }

    /// The status, the rules and the evidence of each stored scan of a version.
    async fn stored_scans(&self, published: &Published) -> Vec<(String, Option<String>, String)> {
        let stored = entity::moderation_decision::Entity::find().all(&self.store.database.reader);
        let mut stored = stored.await.unwrap();
        stored.retain(|one| one.version_id == published.version.to_string());
        assert!(stored.iter().all(|one| one.source == ModeratedBy::Scan.as_str()), "{stored:?}");
        stored.into_iter().map(|one| (one.status, one.scanner_version, one.evidence)).collect()
    }
}

on_both_databases! {
    async fn version_begins_with_its_early_verdict(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let cases = [
            ("good", ModerationStatus::Pass, "[]"),
            ("doubtful", ModerationStatus::Review, FINDING),
            ("bad", ModerationStatus::Blocked, FINDING),
        ];
        for (slug, status, evidence) in cases {
            let published = harness.publish_scanned(account, slug, slug.as_bytes(), status).await;
            assert_eq!((harness.shown(&published).await, published.has_verdict), (status, true));
            let version = harness.version_of(&published).await;
            assert_eq!((&*version.moderation_status, &*version.moderated_by), (status.as_str(), "scan"));
            assert_eq!((version.scanned_by, version.scanned_at), (Some(7), Some(START.millis())));
            let stored = harness.stored_scans(&published).await;
            assert_eq!(stored, [(status.as_str().to_owned(), Some("7".to_owned()), evidence.to_owned())]);
        }
        let later = START.plus(HOUR);
        assert_eq!(harness.late(later).await, [], "nothing is left to scan");
        assert_eq!(harness.due(RULES, later).await, []);
        assert_eq!(harness.due(RULES + 1, later).await.len(), cases.len(), "newer rules scan them again");
    }

    async fn verdict_by_the_rules_of_another_account_status_is_ignored(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish_scanned(account, "page", b"one", ModerationStatus::Pass).await;
        assert_eq!(harness.shown(&published).await, ModerationStatus::Pending);
        assert_eq!(harness.version_of(&published).await.scanned_by, None);
        assert_eq!(harness.stored_scans(&published).await, []);
        assert_eq!(harness.late(START.plus(HOUR)).await, [(published.version, 0)]);
    }

    async fn early_verdict_clears_neither_a_blocked_content_nor_a_held_page(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        harness.block_objecting_to(&page, b"bad").await;

        let again = harness.publish_scanned(other, "again", b"bad", ModerationStatus::Pass).await;
        assert_eq!(harness.shown(&again).await, ModerationStatus::Blocked);
        let stored = harness.stored_scans(&again).await;
        assert!(stored[0].2.contains(crate::BLOCKED_CONTENT), "{stored:?}");
        assert!(!again.has_verdict, "its scan is still due");
        assert_eq!(harness.version_of(&again).await.scanned_by, None);

        let held = harness.publish_scanned(one, "page", b"better", ModerationStatus::Pass).await;
        assert_eq!(harness.shown(&held).await, ModerationStatus::Blocked, "a moderator must pass it first");
        let version = harness.version_of(&held).await;
        assert_eq!((&*version.moderation_status, &*version.moderated_by), ("review", "moderator"));
        assert_eq!(version.scanned_by, Some(7));
        harness.decide(&held, ModerationDecision::Pass).await;
        assert_eq!(harness.shown(&held).await, ModerationStatus::Pass);
    }

    async fn a_second_scan_with_the_same_result_stores_no_second_decision(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let published = harness.publish_scanned(account, "page", b"one", ModerationStatus::Pass).await;
        harness.judge(&published, RULES, ModerationStatus::Pass).await;
        assert_eq!(harness.stored_scans(&published).await.len(), 1);
    }
}
