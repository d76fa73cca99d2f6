//! What lets moderators work through the queue: its filters, the cases beside one, and the account's history.

use domain::{ModeratedBy, Ruling};

use super::review::{DONE, slugs};
use super::*;
use crate::{ModeratorsWord, QueueWanted, Ruled, WaitingFor};

on_both_databases! {
    async fn the_queue_is_filtered_by_rule_account_and_waiting_time(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let old = bed.publish(one, "old", b"one").await;
        let young = bed.publish(other, "young", b"two").await;
        bed.scanned(&old, ModerationStatus::Review, START).await;
        bed.scanned(&young, ModerationStatus::Review, START.plus(HOUR)).await;
        let review = QueueWanted::from(WaitingFor::Review);
        let handle = bed.store.account(other).await.unwrap().unwrap().handle;
        let wanted = |rule: Option<&str>, account: Option<&str>, waiting_at_least| QueueWanted {
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
            let found = bed.store.waiting(&wanted, None, 10, START.plus(HOUR)).await.unwrap();
            assert_eq!(slugs(&found), listed, "{wanted:?}");
        }
    }

    async fn the_cases_beside_one_are_found_by_its_place(bed: &Bed) {
        let account = bed.claimed().await;
        let mut pages = Vec::new();
        for (slug, hours) in [("first", 0), ("second", 1), ("third", 2)] {
            let page = bed.publish(account, slug, slug.as_bytes()).await;
            bed.scanned(&page, ModerationStatus::Review, START.plus(HOUR * hours)).await;
            pages.push(page);
        }
        let (store, wanted) = (&bed.store, QueueWanted::from(WaitingFor::Review));
        let place = store.place_in_queue(&wanted, &pages[1].host, START).await.unwrap().unwrap();
        let next = async |after| store.next_in_queue(&wanted, after, &pages[1].host, START).await.unwrap();
        let previous = async |before| store.previous_in_queue(&wanted, before, START).await.unwrap();
        assert_eq!(next(Some(&place)).await.as_ref(), Some(&pages[2].host));
        assert_eq!(next(None).await.as_ref(), Some(&pages[0].host));
        assert_eq!(previous(&place).await.as_ref(), Some(&pages[0].host));
        let first = store.place_in_queue(&wanted, &pages[0].host, START).await.unwrap().unwrap();
        // The page itself is left out.
        assert_eq!(next(Some(&first)).await.as_ref(), Some(&pages[2].host));
        assert_eq!(previous(&first).await, None);
        let blocked = QueueWanted::from(WaitingFor::BlockedAlready);
        assert_eq!(store.place_in_queue(&blocked, &pages[1].host, START).await.unwrap(), None);
    }

    async fn a_decision_from_the_list_rests_on_what_the_list_showed(bed: &Bed) {
        let account = bed.claimed().await;
        let page = bed.publish(account, "page", b"one").await;
        bed.scanned(&page, ModerationStatus::Review, START).await;
        bed.reported(&page, START.plus(HOUR)).await;
        let seen = bed.waiting(WaitingFor::Review).await[0].seen;
        assert!(seen.decision.is_some() && seen.report.is_some(), "{seen:?}");
        bed.reported(&page, START.plus(2 * HOUR)).await;
        let word = ModeratorsWord { seen: Some(seen), ..bed.word(&page, Ruling::Pass) };
        assert_eq!(bed.say(&word).await, DONE);
        let waiting = bed.waiting(WaitingFor::Review).await;
        assert_eq!((waiting.len(), waiting[0].open_reports), (1, 1));
        assert!(matches!(bed.say(&word).await, Ruled::DecidedMeanwhile { .. }));
    }

    async fn an_account_s_history_has_what_happened_to_its_other_pages(bed: &Bed) {
        let (account, other) = (bed.claimed().await, bed.account().await);
        let shown = bed.publish(account, "shown", b"one").await;
        let before = bed.publish(account, "before", b"two").await;
        let foreign = bed.publish(other, "foreign", b"three").await;
        for page in [&shown, &before, &foreign] {
            bed.scanned(page, ModerationStatus::Review, START).await;
            bed.reported(page, START.plus(HOUR)).await;
            assert_eq!(bed.rule(page, Ruling::Block, None).await, DONE);
        }
        let history = bed.store.account_history(account, shown.artifact).await.unwrap();
        let hosts: Vec<_> = history.decisions.iter().map(|one| (&one.host, one.source)).collect();
        assert_eq!(hosts, [(&before.host, ModeratedBy::Moderator)]);
        let reports: Vec<_> = history.reports.iter().map(|one| (&one.host, one.is_open)).collect();
        assert_eq!(reports, [(&before.host, false)]);
        assert_eq!(history.pages, 2);
    }
}
