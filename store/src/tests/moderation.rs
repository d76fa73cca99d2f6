//! Reports, decisions and their audit log entries.

use domain::{ModerationDecision, Moderator, ReportCategory, ReportId, UserId};
use sea_orm::EntityTrait;

use super::team::user;
use super::*;
use crate::{Claimer, DecisionResult, ModeratorDecision, NewReport, ReportResult, SlugOwner};

fn report_on(harness: &StoreHarness, published: &Published) -> NewReport {
    NewReport {
        id: ReportId::new(START, &harness.chance),
        host: published.host.clone(),
        reason: Some("It asks for money.".parse().unwrap()),
        category: Some(ReportCategory::Phishing),
        now: START,
    }
}

fn word_on(published: &Published, ruling: ModerationDecision, moderator: UserId) -> ModeratorDecision {
    ModeratorDecision {
        account: published.account,
        artifact: published.artifact,
        ruling,
        moderator: Moderator::Person(moderator),
        note: None,
        looked_at: None,
        seen: None,
        contents: vec![],
        now: START.plus(HOUR),
    }
}

async fn open_reports(harness: &StoreHarness) -> usize {
    let kept = entity::report::Entity::find().all(&harness.store.database.reader).await.unwrap();
    kept.iter().filter(|report| report.handled_at.is_none()).count()
}

async fn sources_of_decisions(harness: &StoreHarness) -> Vec<String> {
    let mut kept =
        entity::moderation_decision::Entity::find().all(&harness.store.database.reader).await.unwrap();
    kept.sort_by_key(|decision| decision.created_at);
    kept.into_iter().map(|decision| decision.source).collect()
}

on_both_databases! {
    async fn reports_stay_open_until_a_moderator_decides(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let report = || report_on(harness, &published);
        let store = &harness.store;
        assert_eq!(store.reports().create(&report(), &harness.chance).await.unwrap(), ReportResult::SentToReview);
        let noted = ReportResult::Noted(ModerationStatus::Review);
        assert_eq!(store.reports().create(&report(), &harness.chance).await.unwrap(), noted);
        assert_eq!(store.routes().find(&published.host).await.unwrap().unwrap().moderation, ModerationStatus::Review);
        assert_eq!(open_reports(harness).await, 2);

        let moderator = UserId::new(START, &harness.chance);
        let ruled = store.moderation().decide(&word_on(&published, ModerationDecision::Pass, moderator), &harness.chance).await.unwrap();
        assert_eq!(ruled, DecisionResult::Done { has_more: false, unblocked: vec![] });
        assert_eq!(open_reports(harness).await, 0);
        assert_eq!(sources_of_decisions(harness).await, ["report", "moderator"]);
        let trail = entity::audit::Entity::find().all(&store.database.reader).await.unwrap();
        let actors: Vec<_> = trail.iter().map(|entry| entry.actor.clone()).collect();
        assert!(actors.contains(&moderator.to_string()), "{actors:?}");

        // A report on a passed page changes nothing, and is stored for the queue.
        let noted = ReportResult::Noted(ModerationStatus::Pass);
        assert_eq!(store.reports().create(&report(), &harness.chance).await.unwrap(), noted);
        assert_eq!(open_reports(harness).await, 1);
        assert_eq!(sources_of_decisions(harness).await.len(), 2);
    }

    async fn deleted_and_unserved_pages_cannot_be_moderated(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "staged", b"one", Activation::Staged).await;
        let moderator = UserId::new(START, &harness.chance);
        let word = |published| word_on(published, ModerationDecision::Block, moderator);
        let noted = ReportResult::Noted(ModerationStatus::Pending);
        assert_eq!(harness.store.reports().create(&report_on(harness, &staged), &harness.chance).await.unwrap(), noted);
        assert_eq!(harness.store.moderation().decide(&word(&staged), &harness.chance).await.unwrap(), DecisionResult::NothingIsLive);

        harness.store.artifacts().delete(&harness.change(account, START), &staged.slug).await.unwrap();
        let gone = harness.store.reports().create(&report_on(harness, &staged), &harness.chance).await.unwrap();
        assert_eq!(gone, ReportResult::NoSuchHost);
        assert_eq!(harness.store.moderation().decide(&word(&staged), &harness.chance).await.unwrap(), DecisionResult::Gone);
        assert_eq!(open_reports(harness).await, 0);
        assert!(harness.store.artifacts().find_at(&staged.host).await.unwrap().is_none());
    }

    async fn slug_is_searched_in_one_persons_accounts_or_in_all(harness: &StoreHarness) {
        let (mine, theirs) = (harness.account().await, harness.account().await);
        let ada = user(harness, "ada").await;
        let code = harness.store.accounts().find(mine).await.unwrap().unwrap().claim_code;
        let claimer = Claimer { user: ada, origin: ORIGIN, accounts_max: None, tokens: TokenFate::Keep };
        harness.store.accounts().claim(&code, &claimer, START, &harness.chance).await.unwrap();
        let slug: Slug = "page".parse().unwrap();
        let owners = async |whose, at_most| {
            let found = harness.store.artifacts().list_named(&slug, whose, at_most).await.unwrap();
            found.into_iter().map(|artifact| artifact.account).collect::<Vec<_>>()
        };
        harness.publish(theirs, "page", b"one").await;
        assert_eq!(owners(SlugOwner::Of(ada), 2).await, []);
        harness.publish(mine, "page", b"two").await;
        assert_eq!(owners(SlugOwner::Of(ada), 2).await, [mine]);
        assert_eq!(owners(SlugOwner::Anyone, 2).await.len(), 2);
        assert_eq!(owners(SlugOwner::Anyone, 1).await.len(), 1);
    }
}
