//! Verdicts that are stored by content, and versions without a verdict.

use domain::{ScanJob, ScannedContent};

use super::*;
use crate::{GivenUpScan, ScanReader, StoredVerdict, VerdictResult};

const MINUTE: Duration = Duration::from_secs(60);
const REVIEW: ModerationStatus = ModerationStatus::Review;

impl StoreHarness {
    /// Records a verdict that is stored by content.
    async fn record_with_content(
        &self,
        published: &Published,
        rules: u32,
        evidence: &str,
        now: Time,
    ) -> ScannedContent {
        let content = self.content_of(published).await;
        let judgement = ScanVerdict {
            account: published.account,
            version: published.version,
            decision_id: self.chance.ulid(now).to_string(),
            status: REVIEW,
            evidence: evidence.to_owned(),
            rules,
            content: Some(content),
            now,
        };
        assert!(matches!(
            self.store.scans().record_verdict(judgement).await.unwrap(),
            VerdictResult::Noted { .. }
        ));
        content
    }

    async fn content_of(&self, published: &Published) -> ScannedContent {
        let subject =
            ScanReader::start(self.store.clone()).find_subject(published.version).await.unwrap().unwrap();
        assert!(subject.is_provisional);
        ScannedContent::of(&subject.manifest, subject.is_provisional)
    }

    async fn stored(&self, content: ScannedContent, rules: u32) -> Option<String> {
        let stored =
            ScanReader::start(self.store.clone()).find_content_verdict(content, rules).await.unwrap();
        stored.map(|StoredVerdict { status, evidence }| {
            assert_eq!(status, REVIEW);
            evidence
        })
    }

    async fn give_up_scan_of(&self, published: &Published) -> Option<Host> {
        let given_up = GivenUpScan {
            job: ScanJob { account: published.account, version: published.version },
            decision_id: self.chance.ulid(START).to_string(),
            evidence: "[{}]".to_owned(),
            now: START,
        };
        self.store.scans().give_up(&given_up).await.unwrap()
    }

    async fn held_from_of(&self, published: &Published) -> Option<Time> {
        self.store.routes().find(&published.host).await.unwrap().unwrap().held_from
    }
}

on_both_databases! {
    async fn verdict_is_stored_by_content_and_rules_for_all_accounts(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        let page = harness.publish(account, "page", b"one").await;
        let copy = harness.publish(other, "copy", b"one").await;
        let another = harness.publish(account, "another", b"two").await;
        let content = harness.record_with_content(&page, 3, "[1]", START).await;
        assert_eq!(harness.content_of(&copy).await, content);
        assert_ne!(harness.content_of(&another).await, content);
        assert_eq!(harness.stored(content, 3).await.as_deref(), Some("[1]"));
        assert_eq!((harness.stored(content, 2).await, harness.stored(content, 4).await), (None, None));
        // Another process computed the same verdict at the same time.
        harness.record_with_content(&copy, 3, "[2]", START).await;
        assert_eq!(harness.stored(content, 3).await.as_deref(), Some("[1]"));
        harness.record_with_content(&copy, 4, "[3]", START).await;
        assert_eq!(harness.stored(content, 4).await.as_deref(), Some("[3]"));
    }

    async fn stored_verdicts_are_deleted_with_their_rules_and_by_age(harness: &StoreHarness) {
        let account = harness.account().await;
        let (early, late) = (harness.publish(account, "page", b"one").await, harness.publish(account, "page", b"two").await);
        let old_rules = harness.record_with_content(&late, 2, "[1]", START.plus(HOUR)).await;
        let early = harness.record_with_content(&early, 3, "[2]", START).await;
        let late = harness.record_with_content(&late, 3, "[3]", START.plus(HOUR)).await;
        for swept in [1, 1, 0] {
            assert_eq!(harness.store.upkeep().sweep_content_verdicts(3, START.plus(MINUTE), 1).await.unwrap(), swept);
        }
        assert_eq!((harness.stored(old_rules, 2).await, harness.stored(early, 3).await), (None, None));
        assert_eq!(harness.stored(late, 3).await.as_deref(), Some("[3]"));
    }

    async fn a_pending_page_is_held_back_when_the_oldest_pending_version_has_waited_too_long(harness: &StoreHarness) {
        let account = harness.account().await;
        let page = harness.publish(account, "page", b"one").await;
        assert_eq!(harness.held_from_of(&page).await, Some(START.plus(Duration::from_secs(30))));
        harness.judge(&page, 1, ModerationStatus::Pass).await;
        assert_eq!(harness.held_from_of(&page).await, None);
    }

    async fn a_page_whose_scan_failed_is_held_back_at_once_and_until_it_has_a_verdict(harness: &StoreHarness) {
        let account = harness.account().await;
        let page = harness.publish(account, "page", b"one").await;
        let failed_at = START.plus(Duration::from_secs(5));
        assert_eq!(harness.store.scans().hold_back(page.version, failed_at).await.unwrap(), Some(page.host.clone()));
        assert_eq!(harness.store.scans().hold_back(page.version, failed_at).await.unwrap(), None);
        assert_eq!(harness.held_from_of(&page).await, Some(failed_at));
        // The failed attempts do not count for the next version.
        let next = harness.publish(account, "page", b"two").await;
        assert_ne!(harness.held_from_of(&next).await, Some(failed_at));
        harness.judge(&next, 1, ModerationStatus::Pass).await;
        assert_eq!(harness.store.scans().hold_back(next.version, failed_at).await.unwrap(), None);
        assert_eq!(harness.held_from_of(&next).await, None);
    }

    async fn version_with_an_abandoned_scan_is_in_review_until_a_scan_succeeds(harness: &StoreHarness) {
        let account = harness.account().await;
        let page = harness.publish(account, "page", b"one").await;
        assert_eq!(harness.give_up_scan_of(&page).await, Some(page.host.clone()));
        assert_eq!(harness.shown(&page).await, REVIEW);
        assert_eq!(harness.held_from_of(&page).await, Some(START.plus(Duration::from_secs(30))));
        let case = harness.store.moderation().find_case(&page.host).await.unwrap().unwrap().version.unwrap();
        assert_eq!(case.scan.unwrap().evidence, "[{}]");
        assert_eq!(harness.give_up_scan_of(&page).await, None);
        // It still waits for a verdict, and gets it.
        let now = START.plus(10 * MINUTE);
        assert_eq!(harness.late(now).await, [(page.version, 0)]);
        harness.judge(&page, 1, ModerationStatus::Pass).await;
        assert_eq!(harness.shown(&page).await, ModerationStatus::Pass);
        assert_eq!(harness.held_from_of(&page).await, None);
        assert_eq!(harness.give_up_scan_of(&page).await, None);
    }
}

#[tokio::test]
async fn sqlite_uses_the_index_for_the_oldest_pending_version() {
    let harness = sqlite().await;
    let oldest = "SELECT created_at FROM versions WHERE moderation_status = 'pending' AND created_at >= 5
        ORDER BY created_at LIMIT 1";
    let steps = harness.plan(oldest).await;
    assert!(steps.len() == 1 && steps[0].contains("versions_pending"), "{steps:?}");
}
