//! The filters of the review queue, the neighbours of a case, and the account's history.

use domain::{ModeratedBy, ModerationDecision};

use super::review::{DONE, slugs};
use super::*;
use crate::{DecisionResult, ModeratorDecision, ReviewFilter, WaitingFor};

on_both_databases! {
    async fn the_queue_is_filtered_by_rule_account_and_waiting_time(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let old = harness.publish(one, "old", b"one").await;
        let young = harness.publish(other, "young", b"two").await;
        harness.scanned(&old, ModerationStatus::Review, START).await;
        harness.scanned(&young, ModerationStatus::Review, START.plus(HOUR)).await;
        let review = ReviewFilter::from(WaitingFor::Review);
        let handle = harness.store.accounts().find(other).await.unwrap().unwrap().handle;
        let wanted = |rule: Option<&str>, account: Option<&str>, waiting_at_least| ReviewFilter {
            rule: rule.map(str::to_owned),
            account: account.map(str::to_owned),
            waiting_at_least,
            ..review.clone()
        };
        for (wanted, listed) in [
            (wanted(None, None, None), vec!["old", "young"]),
            (wanted(Some("seed_phrase"), None, None), vec!["old", "young"]),
            (wanted(Some("seed%phrase"), None, None), vec![]),
            (wanted(Some("private_key"), None, None), vec![]),
            (wanted(None, Some(&handle), None), vec!["young"]),
            (wanted(None, None, Some(HOUR)), vec!["old"]),
            (wanted(Some("seed_phrase"), Some(&handle), Some(HOUR)), vec![]),
        ] {
            let found = harness.store.review_queue().list(&wanted, None, 10, START.plus(HOUR)).await.unwrap();
            assert_eq!(slugs(&found), listed, "{wanted:?}");
        }
    }

    async fn next_and_previous_cases_are_found_by_queue_position(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let mut pages = Vec::new();
        for (slug, hours) in [("first", 0), ("second", 1), ("third", 2)] {
            let page = harness.publish(account, slug, slug.as_bytes()).await;
            harness.scanned(&page, ModerationStatus::Review, START.plus(HOUR * hours)).await;
            pages.push(page);
        }
        let (store, wanted) = (&harness.store, ReviewFilter::from(WaitingFor::Review));
        let place = store.review_queue().find_position(&wanted, &pages[1].host, START).await.unwrap().unwrap();
        let next = async |after| store.review_queue().find_next(&wanted, after, &pages[1].host, START).await.unwrap();
        let previous = async |before| store.review_queue().find_previous(&wanted, before, START).await.unwrap();
        assert_eq!(next(Some(&place)).await.as_ref(), Some(&pages[2].host));
        assert_eq!(next(None).await.as_ref(), Some(&pages[0].host));
        assert_eq!(previous(&place).await.as_ref(), Some(&pages[0].host));
        let first = store.review_queue().find_position(&wanted, &pages[0].host, START).await.unwrap().unwrap();
        // The page itself is left out.
        assert_eq!(next(Some(&first)).await.as_ref(), Some(&pages[2].host));
        assert_eq!(previous(&first).await, None);
        let blocked = ReviewFilter::from(WaitingFor::BlockedAlready);
        assert_eq!(store.review_queue().find_position(&blocked, &pages[1].host, START).await.unwrap(), None);
    }

    async fn bulk_decision_applies_only_to_the_listed_state(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let page = harness.publish(account, "page", b"one").await;
        harness.scanned(&page, ModerationStatus::Review, START).await;
        harness.reported(&page, START.plus(HOUR)).await;
        let seen = harness.waiting(WaitingFor::Review).await[0].seen;
        assert!(seen.decision.is_some() && seen.report.is_some(), "{seen:?}");
        harness.reported(&page, START.plus(2 * HOUR)).await;
        let word = ModeratorDecision { seen: Some(seen), ..harness.word(&page, ModerationDecision::Pass) };
        assert_eq!(harness.say(&word).await, DONE);
        let waiting = harness.waiting(WaitingFor::Review).await;
        assert_eq!((waiting.len(), waiting[0].open_reports), (1, 1));
        assert!(matches!(harness.say(&word).await, DecisionResult::DecidedMeanwhile { .. }));
    }

    async fn account_history_includes_events_of_its_other_pages(harness: &StoreHarness) {
        let (account, other) = (harness.claimed().await, harness.account().await);
        let shown = harness.publish(account, "shown", b"one").await;
        let before = harness.publish(account, "before", b"two").await;
        let foreign = harness.publish(other, "foreign", b"three").await;
        for page in [&shown, &before, &foreign] {
            harness.scanned(page, ModerationStatus::Review, START).await;
            harness.reported(page, START.plus(HOUR)).await;
            assert_eq!(harness.rule(page, ModerationDecision::Block, None).await, DONE);
        }
        let history = harness.store.accounts().history(account, shown.artifact).await.unwrap();
        let hosts: Vec<_> = history.decisions.iter().map(|one| (&one.host, one.source)).collect();
        assert_eq!(hosts, [(&before.host, ModeratedBy::Moderator)]);
        let reports: Vec<_> = history.reports.iter().map(|one| (&one.host, one.is_open)).collect();
        assert_eq!(reports, [(&before.host, false)]);
        assert_eq!(history.pages, 2);
    }
}
