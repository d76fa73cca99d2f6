//! Reports, decisions and their audit log entries.

use domain::{ModerationDecision, Moderator, ReportCategory, ReportId, UserId};
use sea_orm::EntityTrait;

use super::review::{DONE, slugs};
use super::team::user;
use super::*;
use crate::{Claimer, DecisionResult, ModeratorDecision, NewReport, ReportResult, SlugOwner, WaitingFor};

fn report_on(harness: &StoreHarness, published: &Published) -> NewReport {
    NewReport {
        id: ReportId::new(START, &harness.chance),
        host: published.host.clone(),
        seq: None,
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
        with_reported: true,
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
        assert_eq!(ruled, DecisionResult::Done { has_more: false, unblocked: vec![], affected: vec![] });
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

    async fn deleted_pages_cannot_be_moderated(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "staged", b"one", Activation::Staged).await;
        let moderator = UserId::new(START, &harness.chance);
        let word = |published| word_on(published, ModerationDecision::Block, moderator);
        harness.store.artifacts().delete(&harness.change(account, START), &staged.slug).await.unwrap();
        let gone = harness.store.reports().create(&report_on(harness, &staged), &harness.chance).await.unwrap();
        assert_eq!(gone, ReportResult::NoSuchHost);
        assert_eq!(harness.store.moderation().decide(&word(&staged), &harness.chance).await.unwrap(), DecisionResult::Gone);
        assert_eq!(open_reports(harness).await, 0);
        assert!(harness.store.artifacts().find_at(&staged.host).await.unwrap().is_none());
    }

    async fn reported_page_with_only_staged_versions_waits_and_can_be_blocked(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let newest = harness.publish_as(account, "page", b"two", Activation::Staged).await;
        assert_eq!(slugs(&harness.waiting(WaitingFor::Review).await), [""; 0]);
        harness.reported(&newest, START).await;
        let waiting = harness.waiting(WaitingFor::Review).await;
        assert_eq!(slugs(&waiting), ["page"]);
        assert_eq!((waiting[0].seq, waiting[0].open_reports), (2, 1));
        assert_eq!(waiting[0].status, ModerationStatus::Review);
        let backlog = harness.store.review_queue().backlog(START).await.unwrap();
        assert_eq!((backlog.pages, backlog.oldest_since, backlog.reports), (1, Some(START), 1));
        let case = harness.store.moderation().find_case(&newest.host).await.unwrap().unwrap();
        let version = case.version.unwrap();
        assert_eq!((version.seq, version.is_live, case.reports[0].seq), (2, false, Some(2)));
        assert_eq!(harness.rule(&newest, ModerationDecision::Block, Some(newest.version)).await, DONE);
        assert_eq!(slugs(&harness.waiting(WaitingFor::Review).await), [""; 0]);
        assert_eq!(slugs(&harness.waiting(WaitingFor::BlockedAlready).await), ["page"]);
        assert_eq!(harness.store.review_queue().backlog(START).await.unwrap().reports, 0);
        // The next version is held, and waits for a moderator.
        harness.publish_as(account, "page", b"three", Activation::Staged).await;
        let waiting = harness.waiting(WaitingFor::Review).await;
        assert_eq!((slugs(&waiting), waiting[0].seq), (vec!["page"], 3));
        // A version that becomes live is the one to decide on.
        harness.store.artifacts().activate(&harness.change(account, START), &newest.slug, 1).await.unwrap();
        let case = harness.store.moderation().find_case(&newest.host).await.unwrap().unwrap();
        assert_eq!(case.version.map(|version| (version.seq, version.is_live)), Some((1, true)));
        let refused = harness.rule(&newest, ModerationDecision::Block, Some(newest.version)).await;
        assert_eq!(refused, DecisionResult::OtherVersion { seq: 1 });
    }

    async fn a_report_on_the_address_of_a_version_names_that_version(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let live = harness.publish(account, "page", b"two").await;
        harness.scanned(&live, ModerationStatus::Pass, START).await;
        let reported = async |seq, now| {
            let (id, host) = (ReportId::new(now, &harness.chance), live.host.clone());
            let report = NewReport { id, host, seq, reason: None, category: None, now };
            harness.store.reports().create(&report, &harness.chance).await.unwrap()
        };
        assert_eq!(reported(Some(1), START).await, ReportResult::Noted(ModerationStatus::Pass));
        assert_eq!(reported(None, START.plus(HOUR)).await, ReportResult::Noted(ModerationStatus::Pass));
        let case = harness.store.moderation().find_case(&live.host).await.unwrap().unwrap();
        let seqs: Vec<_> = case.reports.iter().map(|report| report.seq).collect();
        assert_eq!(seqs, [Some(2), Some(1)]);
        // The block includes the reported version, which shares no content with the live one.
        assert_eq!(harness.rule(&live, ModerationDecision::Block, None).await, DONE);
        let blocked = entity::version::Entity::find_by_id(staged.version.to_string());
        let blocked = blocked.one(&harness.store.database.reader).await.unwrap().unwrap();
        assert_eq!((&*blocked.moderation_status, &*blocked.moderated_by), ("blocked", "moderator"));
    }

    async fn a_block_includes_reported_versions_first_if_their_reports_were_seen(harness: &StoreHarness) {
        for (slug, with_reported, status) in [("seen", true, "blocked"), ("unseen", false, "review")] {
            let account = harness.claimed().await;
            let reported = harness.publish_as(account, slug, b"reported", Activation::Staged).await;
            for _ in 0..51 {
                harness.publish_as(account, slug, b"bad", Activation::Staged).await;
            }
            let live = harness.publish(account, slug, b"bad").await;
            let report = NewReport { seq: Some(reported.seq), ..report_on(harness, &live) };
            harness.store.reports().create(&report, &harness.chance).await.unwrap();
            let word = harness.word(&live, ModerationDecision::Block);
            let contents = vec![domain::BlobHash::of(b"bad")];
            let ruled = harness.say(&ModeratorDecision { contents, with_reported, ..word }).await;
            assert!(matches!(ruled, DecisionResult::Done { has_more: true, .. }), "{ruled:?}");
            let version = entity::version::Entity::find_by_id(reported.version.to_string());
            let version = version.one(&harness.store.database.reader).await.unwrap().unwrap();
            assert_eq!(version.moderation_status, status, "{slug}");
        }
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
