//! What becomes of reports, of decisions and of the trail, which no route shows yet.

use domain::{Moderator, ReportCategory, ReportId, Ruling, UserId};
use sea_orm::EntityTrait;

use super::team::user;
use super::*;
use crate::{Claimer, ModeratorsWord, NewReport, Reported, Ruled, Whose};

fn report_on(bed: &Bed, published: &Published) -> NewReport {
    NewReport {
        id: ReportId::new(START, &bed.chance),
        host: published.host.clone(),
        reason: Some("It asks for money.".parse().unwrap()),
        category: Some(ReportCategory::Phishing),
        now: START,
    }
}

fn word_on(published: &Published, ruling: Ruling, moderator: UserId) -> ModeratorsWord {
    ModeratorsWord {
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

async fn open_reports(bed: &Bed) -> usize {
    let kept = entity::report::Entity::find().all(&bed.store.database.reader).await.unwrap();
    kept.iter().filter(|report| report.handled_at.is_none()).count()
}

async fn sources_of_decisions(bed: &Bed) -> Vec<String> {
    let mut kept = entity::moderation_decision::Entity::find().all(&bed.store.database.reader).await.unwrap();
    kept.sort_by_key(|decision| decision.created_at);
    kept.into_iter().map(|decision| decision.source).collect()
}

on_both_databases! {
    async fn reports_stay_open_until_a_moderator_answers_them(bed: &Bed) {
        let account = bed.account().await;
        let published = bed.publish(account, "page", b"one").await;
        let report = || report_on(bed, &published);
        let store = &bed.store;
        assert_eq!(store.report(&report(), &bed.chance).await.unwrap(), Reported::SentToReview);
        let noted = Reported::Noted(ModerationStatus::Review);
        assert_eq!(store.report(&report(), &bed.chance).await.unwrap(), noted);
        assert_eq!(store.route(&published.host).await.unwrap().unwrap().moderation, ModerationStatus::Review);
        assert_eq!(open_reports(bed).await, 2);

        let moderator = UserId::new(START, &bed.chance);
        let ruled = store.rule(&word_on(&published, Ruling::Pass, moderator), &bed.chance).await.unwrap();
        assert_eq!(ruled, Ruled::Done { has_more: false, unblocked: vec![] });
        assert_eq!(open_reports(bed).await, 0);
        assert_eq!(sources_of_decisions(bed).await, ["report", "moderator"]);
        let trail = entity::audit::Entity::find().all(&store.database.reader).await.unwrap();
        let actors: Vec<_> = trail.iter().map(|entry| entry.actor.clone()).collect();
        assert!(actors.contains(&moderator.to_string()), "{actors:?}");

        // On a page that passed it changes nothing, and is kept for the queue.
        let noted = Reported::Noted(ModerationStatus::Pass);
        assert_eq!(store.report(&report(), &bed.chance).await.unwrap(), noted);
        assert_eq!(open_reports(bed).await, 1);
        assert_eq!(sources_of_decisions(bed).await.len(), 2);
    }

    async fn what_is_deleted_or_not_shown_is_not_judged_by_people(bed: &Bed) {
        let account = bed.account().await;
        let staged = bed.publish_as(account, "staged", b"one", Activation::Staged).await;
        let moderator = UserId::new(START, &bed.chance);
        let word = |published| word_on(published, Ruling::Block, moderator);
        let noted = Reported::Noted(ModerationStatus::Pending);
        assert_eq!(bed.store.report(&report_on(bed, &staged), &bed.chance).await.unwrap(), noted);
        assert_eq!(bed.store.rule(&word(&staged), &bed.chance).await.unwrap(), Ruled::NothingIsLive);

        bed.store.delete_artifact(&bed.change(account, START), &staged.slug).await.unwrap();
        let gone = bed.store.report(&report_on(bed, &staged), &bed.chance).await.unwrap();
        assert_eq!(gone, Reported::NoSuchHost);
        assert_eq!(bed.store.rule(&word(&staged), &bed.chance).await.unwrap(), Ruled::Gone);
        assert_eq!(open_reports(bed).await, 0);
        assert!(bed.store.artifact_at(&staged.host).await.unwrap().is_none());
    }

    async fn a_slug_is_looked_for_among_one_person_s_accounts_or_among_all(bed: &Bed) {
        let (mine, theirs) = (bed.account().await, bed.account().await);
        let ada = user(bed, "ada").await;
        let code = bed.store.account(mine).await.unwrap().unwrap().claim_code;
        let claimer = Claimer { user: ada, origin: ORIGIN, accounts_max: None, tokens: TokenFate::Keep };
        bed.store.claim(&code, &claimer, START, &bed.chance).await.unwrap();
        let slug: Slug = "page".parse().unwrap();
        let owners = async |whose, at_most| {
            let found = bed.store.artifacts_named(&slug, whose, at_most).await.unwrap();
            found.into_iter().map(|artifact| artifact.account).collect::<Vec<_>>()
        };
        bed.publish(theirs, "page", b"one").await;
        assert_eq!(owners(Whose::Of(ada), 2).await, []);
        bed.publish(mine, "page", b"two").await;
        assert_eq!(owners(Whose::Of(ada), 2).await, [mine]);
        assert_eq!(owners(Whose::Anyones, 2).await.len(), 2);
        assert_eq!(owners(Whose::Anyones, 1).await.len(), 1);
    }
}
