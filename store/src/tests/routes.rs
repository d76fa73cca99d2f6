//! The dates of routes, by which visitors' cached copies are compared.

use domain::{ModerationDecision, Moderator, Payment, UserId, Visibility, VisibilityOperation};

use super::team::user;
use super::*;
use crate::{Claimed, Claimer, DecisionResult, ModeratorDecision};

/// The time of a change that waited for the lock, or whose host's clock is behind.
const BEHIND: Time = Time::from_millis(START.millis() - 2500);

/// A page and its dates.
struct Dated<'a> {
    harness: &'a StoreHarness,
    page: Published,
    last: Time,
}

impl<'a> Dated<'a> {
    async fn of(harness: &'a StoreHarness, page: Published) -> Self {
        let last = updated_at(harness, &page).await;
        Self { harness, page, last }
    }

    async fn assert_moved_on_by_a_second(&mut self, change: &str) {
        let date = updated_at(self.harness, &self.page).await;
        assert_eq!(date.millis() - self.last.millis(), 1000, "{change}");
        self.last = date;
    }

    async fn show_to(&self, to: Visibility) {
        let operation = LedgerOperation::Visibility(VisibilityOperation {
            account: self.page.account,
            job: self.harness.job(),
            slug: "page".parse().unwrap(),
            to,
            pinned_to: None,
            payment: (to != Visibility::Public).then_some(Payment::Dev(Micro::new(500_000))),
            deadline: None,
            called_by: None,
        });
        let terms = Terms { tariff: Tariff::default(), chance: self.harness.chance.clone(), now: BEHIND };
        let outcomes = self.harness.store.settle(self.page.account, &[operation], &terms).await.unwrap();
        assert!(matches!(outcomes[..], [Outcome::VisibilitySet(_)]), "{outcomes:?}");
    }
}

async fn updated_at(harness: &StoreHarness, page: &Published) -> Time {
    harness.store.routes().find(&page.host).await.unwrap().unwrap().updated_at
}

on_both_databases! {
    async fn every_route_change_moves_updated_at_by_at_least_a_second(harness: &StoreHarness) {
        let account = Account::provisional(START, HOUR, &harness.chance);
        let token = NewToken::first_of(&account, harness.chance.base36(64), &harness.chance);
        harness.store.accounts().create(&account, &token).await.unwrap();
        let page = harness.publish(account.id, "page", b"one").await;
        let mut dated = Dated::of(harness, page.clone()).await;
        assert_eq!(dated.last, START);

        harness.publish(account.id, "page", b"two").await;
        dated.assert_moved_on_by_a_second("publish").await;

        let slug = "page".parse().unwrap();
        harness.store.artifacts().activate(&harness.change(account.id, BEHIND), &slug, 1).await.unwrap();
        dated.assert_moved_on_by_a_second("activate").await;

        for to in [Visibility::Unlisted, Visibility::Public] {
            dated.show_to(to).await;
            dated.assert_moved_on_by_a_second("visibility").await;
        }

        let word = ModeratorDecision {
            account: account.id,
            artifact: page.artifact,
            ruling: ModerationDecision::Block,
            moderator: Moderator::Person(UserId::new(START, &harness.chance)),
            note: None,
            looked_at: None,
            seen: None,
            contents: vec![],
            with_reported: true,
            now: BEHIND,
        };
        assert_eq!(harness.store.moderation().decide(&word, &harness.chance).await.unwrap(), DecisionResult::Done { has_more: false, unblocked: vec![], affected: vec![] });
        dated.assert_moved_on_by_a_second("moderation").await;

        let claimer = user(harness, "olga").await;
        let claimer = Claimer { user: claimer, origin: ORIGIN, accounts_max: None, tokens: TokenFate::Keep };
        let claimed = harness.store.accounts().claim(&account.claim_code, &claimer, BEHIND, &harness.chance).await.unwrap();
        assert!(matches!(claimed, Claimed::Now { .. }));
        dated.assert_moved_on_by_a_second("claim").await;

        let much_later = START.plus(HOUR);
        harness.store.artifacts().activate(&harness.change(account.id, much_later), &slug, 2).await.unwrap();
        assert_eq!(updated_at(harness, &page).await, much_later, "the clock has caught up");
    }
}
