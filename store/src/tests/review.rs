//! The order of the review queue, and the permanence of moderators' decisions.

use domain::{ModeratedBy, ModerationDecision, Moderator, OperatorName, ReportId, RulingNote};
use sea_orm::EntityTrait;

use super::*;
use crate::{
    Backlog, DecisionFilter, DecisionResult, ModeratorDecision, NewReport, SameContentQuery, SamePage,
    ScanVerdict, Seen, WaitingArtifact, WaitingFor,
};

pub(super) const DONE: DecisionResult =
    DecisionResult::Done { has_more: false, unblocked: Vec::new(), affected: Vec::new() };
const EVIDENCE: &str =
    r#"[{"rule":"seed_phrase","file":"index.html","field":"textarea","words":["seed phrase"]}]"#;

impl StoreHarness {
    pub(super) async fn scanned(&self, published: &Published, status: ModerationStatus, now: Time) {
        self.judged_by(published, status, now, 1).await;
    }

    async fn judged_by(&self, published: &Published, status: ModerationStatus, now: Time, rules: u32) {
        let judgement = ScanVerdict {
            account: published.account,
            version: published.version,
            decision_id: self.chance.ulid(now).to_string(),
            status,
            evidence: EVIDENCE.to_owned(),
            rules,
            content: None,
            now,
        };
        self.store.scans().record_verdict(judgement).await.unwrap();
    }

    pub(super) async fn reported(&self, published: &Published, now: Time) {
        let host = published.host.clone();
        let report = NewReport {
            id: ReportId::new(now, &self.chance),
            host,
            seq: None,
            reason: None,
            category: None,
            now,
        };
        self.store.reports().create(&report, &self.chance).await.unwrap();
    }

    pub(super) async fn waiting(&self, waiting_for: WaitingFor) -> Vec<WaitingArtifact> {
        self.store.review_queue().list(&waiting_for.into(), None, 10, START).await.unwrap()
    }

    pub(super) async fn rule(
        &self,
        published: &Published,
        ruling: ModerationDecision,
        looked_at: Option<VersionId>,
    ) -> DecisionResult {
        self.say(&ModeratorDecision { looked_at, ..self.word(published, ruling) }).await
    }

    pub(super) async fn say(&self, word: &ModeratorDecision) -> DecisionResult {
        self.store.moderation().decide(word, &self.chance).await.unwrap()
    }

    async fn with_same_content(&self, contents: &[BlobHash], but: &Published, at_most: u64) -> Vec<SamePage> {
        let wanted = SameContentQuery { contents, but: but.artifact, among: None, at_most };
        self.store.moderation().list_same_content(wanted).await.unwrap()
    }

    pub(super) fn word(&self, published: &Published, ruling: ModerationDecision) -> ModeratorDecision {
        ModeratorDecision {
            account: published.account,
            artifact: published.artifact,
            ruling,
            moderator: Moderator::Operator(OperatorName::cleaned("Ada").unwrap()),
            note: RulingNote::written("A drill.").unwrap(),
            looked_at: None,
            seen: None,
            contents: vec![],
            with_reported: true,
            now: START.plus(10 * HOUR),
        }
    }
}

pub(super) fn slugs(waiting: &[WaitingArtifact]) -> Vec<&str> {
    waiting.iter().map(|one| one.slug.as_str()).collect()
}

on_both_databases! {
    async fn review_queue_is_ordered_by_age_with_reports_counted_as_hours(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let mut pages = Vec::new();
        for slug in ["first", "second", "third", "passed", "unscanned", "blocked"] {
            pages.push(harness.publish(account, slug, b"one").await);
        }
        for (page, hours) in pages.iter().zip(0..3) {
            harness.scanned(page, ModerationStatus::Review, START.plus(hours * HOUR)).await;
        }
        harness.scanned(&pages[3], ModerationStatus::Pass, START).await;
        harness.scanned(&pages[5], ModerationStatus::Blocked, START).await;
        assert_eq!(slugs(&harness.waiting(WaitingFor::Review).await), ["first", "second", "third"]);
        assert_eq!(slugs(&harness.waiting(WaitingFor::Scan).await), ["unscanned"]);
        assert_eq!(slugs(&harness.waiting(WaitingFor::BlockedAlready).await), ["blocked"]);

        harness.reported(&pages[2], START.plus(3 * HOUR)).await;
        harness.reported(&pages[3], START.plus(8 * HOUR)).await;
        let waiting = harness.waiting(WaitingFor::Review).await;
        assert_eq!(slugs(&waiting), ["third", "first", "second", "passed"]);
        let third = &waiting[0];
        assert_eq!((third.open_reports, third.since), (1, START.plus(2 * HOUR)));
        assert_eq!((third.evidence.as_deref(), third.moderated_by), (Some(EVIDENCE), ModeratedBy::Scan));
        assert_eq!(waiting[3].since, START.plus(8 * HOUR));

        // The weight of reports is limited, whatever their number.
        for _ in 0..60 {
            harness.reported(&pages[3], START.plus(9 * HOUR)).await;
        }
        let rank = |waiting: &[WaitingArtifact]| waiting[0].place.to_string();
        let before = harness.waiting(WaitingFor::Review).await;
        harness.reported(&pages[3], START.plus(9 * HOUR)).await;
        assert_eq!(before[0].slug.as_str(), "passed");
        assert_eq!(rank(&harness.waiting(WaitingFor::Review).await), rank(&before));
    }

    async fn backlog_counts_match_the_review_queue_and_its_reports(harness: &StoreHarness) {
        let backlog = async || harness.store.review_queue().backlog(START).await.unwrap();
        assert_eq!(backlog().await, Backlog { pages: 0, oldest_since: None, reports: 0 });
        let account = harness.claimed().await;
        let mut pages = Vec::new();
        for slug in ["first", "second", "passed", "unscanned", "blocked"] {
            pages.push(harness.publish(account, slug, b"one").await);
        }
        harness.scanned(&pages[0], ModerationStatus::Review, START.plus(2 * HOUR)).await;
        harness.scanned(&pages[1], ModerationStatus::Review, START.plus(HOUR)).await;
        harness.scanned(&pages[2], ModerationStatus::Pass, START).await;
        harness.scanned(&pages[4], ModerationStatus::Blocked, START).await;
        for hours in [3, 4] {
            harness.reported(&pages[2], START.plus(hours * HOUR)).await;
        }
        assert_eq!(backlog().await, Backlog { pages: 3, oldest_since: Some(START.plus(HOUR)), reports: 2 });
        for page in &pages[..2] {
            harness.rule(page, ModerationDecision::Pass, None).await;
        }
        assert_eq!(backlog().await, Backlog { pages: 1, oldest_since: Some(START.plus(3 * HOUR)), reports: 2 });
        harness.rule(&pages[2], ModerationDecision::Pass, None).await;
        assert_eq!(backlog().await, Backlog { pages: 0, oldest_since: None, reports: 0 });
    }

    async fn review_queue_is_read_in_pages(harness: &StoreHarness) {
        let account = harness.claimed().await;
        for number in 0..5 {
            let page = harness.publish(account, &format!("page-{number}"), b"one").await;
            // Two of them wait since the same moment.
            harness.scanned(&page, ModerationStatus::Review, START.plus(HOUR * (number / 2))).await;
        }
        let (mut read, mut after) = (Vec::new(), None);
        loop {
            let list = harness.store.review_queue().list(&WaitingFor::Review.into(), after.as_ref(), 2, START).await.unwrap();
            let Some(last) = list.last() else { break };
            // In the form in which a caller sends it back.
            after = Some(last.place.to_string().parse().unwrap());
            read.extend(list.iter().map(|one| one.slug.to_string()));
        }
        assert_eq!(read.len(), 5, "{read:?}");
        read.dedup();
        assert_eq!(read.len(), 5, "{read:?}");
        assert!("12".parse::<crate::WaitingCursor>().is_err() && "x.my-page-a1b2".parse::<crate::WaitingCursor>().is_err());
    }

    async fn decision_on_a_version_that_is_no_longer_live_changes_nothing(harness: &StoreHarness) {
        let account = harness.account().await;
        let first = harness.publish(account, "page", b"one").await;
        let second = harness.publish(account, "page", b"two").await;
        let refused = harness.rule(&first, ModerationDecision::Block, Some(first.version)).await;
        assert_eq!(refused, DecisionResult::OtherVersion { seq: 2 });
        let route = harness.store.routes().find(&first.host).await.unwrap().unwrap();
        assert_eq!(route.moderation, ModerationStatus::Pending);
        assert!(harness.store.moderation().list_decisions(&DecisionFilter::default(), 10).await.unwrap().is_empty());
        assert_eq!(harness.rule(&first, ModerationDecision::Block, Some(second.version)).await, DONE);
    }

    async fn decisions_are_listed_with_their_maker_even_after_the_page_is_deleted(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let other = harness.publish(account, "other", b"two").await;
        harness.scanned(&published, ModerationStatus::Review, START).await;
        harness.reported(&other, START.plus(HOUR)).await;
        assert_eq!(harness.rule(&published, ModerationDecision::Block, None).await, DONE);
        harness.store.artifacts().delete(&harness.change(account, START.plus(HOUR)), &published.slug).await.unwrap();

        let all = harness.store.moderation().list_decisions(&DecisionFilter::default(), 10).await.unwrap();
        let sources: Vec<_> = all.iter().map(|one| one.source).collect();
        assert_eq!(sources, [ModeratedBy::Moderator, ModeratedBy::Report, ModeratedBy::Scan]);
        let word = &all[0];
        assert_eq!((word.decided_by.as_deref(), word.note.as_deref()), (Some("Ada"), Some("A drill.")));
        assert_eq!((&word.host, word.seq, word.status), (&published.host, 1, ModerationStatus::Blocked));
        assert_eq!(all[2].evidence, EVIDENCE);

        let of = async |wanted: DecisionFilter| {
            let found = harness.store.moderation().list_decisions(&wanted, 10).await.unwrap();
            found.into_iter().map(|one| one.source).collect::<Vec<_>>()
        };
        let host = Some(published.host.clone());
        let all_before = DecisionFilter { before: Some(all[0].id), ..Default::default() };
        assert_eq!(of(all_before).await, [ModeratedBy::Report, ModeratedBy::Scan]);
        let by_moderators = DecisionFilter { by_moderators: true, ..Default::default() };
        assert_eq!(of(by_moderators).await, [ModeratedBy::Moderator]);
        let of_host = DecisionFilter { host, ..Default::default() };
        assert_eq!(of(of_host.clone()).await, [ModeratedBy::Moderator, ModeratedBy::Scan]);

        // A moderator's decision outlives the account as well.
        harness.store.upkeep().purge_account(account, START.plus(2 * HOUR)).await.unwrap().unwrap();
        let word = &harness.store.moderation().list_decisions(&of_host, 10).await.unwrap()[..];
        assert_eq!(word.iter().map(|one| one.id).collect::<Vec<_>>(), [all[0].id]);
        assert_eq!((word[0].decided_by.as_deref(), word[0].note.as_deref()), (Some("Ada"), Some("A drill.")));
        assert_eq!((&word[0].host, word[0].seq, word[0].status), (&published.host, 1, ModerationStatus::Blocked));
        assert_eq!(of(DecisionFilter::default()).await, [ModeratedBy::Moderator]);
        let before = DecisionFilter { before: Some(all[0].id), ..Default::default() };
        assert!(of(before).await.is_empty());
    }

    async fn the_same_content_is_found_wherever_it_is_live_and_not_blocked(harness: &StoreHarness) {
        let (one, another) = (harness.account().await, harness.account().await);
        let bad = harness.publish(one, "bad", b"bad content").await;
        let same = harness.publish(another, "same", b"bad content").await;
        let replaced = harness.publish(another, "replaced", b"bad content").await;
        harness.publish(another, "replaced", b"good content").await;
        harness.publish_as(another, "staged", b"bad content", Activation::Staged).await;
        let blocked = harness.publish(another, "blocked", b"bad content").await;
        let ruled = harness.rule(&blocked, ModerationDecision::Block, None).await;
        assert!(matches!(ruled, DecisionResult::Done { affected, .. } if affected.len() == 4));

        let contents = [BlobHash::of(b"bad content")];
        let found = harness.with_same_content(&contents, &bad, 10).await;
        let hosts: Vec<_> = found.iter().map(|page| page.host.clone()).collect();
        assert_eq!(hosts, std::slice::from_ref(&same.host), "not {}", replaced.host);
        let found = &found[0];
        assert_eq!((found.version, found.file.as_str()), (same.version, "index.html"));
        assert!(!found.is_passed_by_moderator);
        assert!(harness.with_same_content(&[], &bad, 10).await.is_empty());
        assert!(harness.with_same_content(&contents, &bad, 0).await.is_empty());

        let ruled = harness.rule(&same, ModerationDecision::Pass, None).await;
        assert!(matches!(ruled, DecisionResult::Done { unblocked: found, .. } if found == contents));
        assert!(harness.with_same_content(&contents, &bad, 10).await[0].is_passed_by_moderator);
        let among = async |host: &Host| {
            let among = Some(std::slice::from_ref(host));
            let wanted = SameContentQuery { contents: &contents, but: bad.artifact, among, at_most: 10 };
            harness.store.moderation().list_same_content(wanted).await.unwrap().len()
        };
        assert_eq!((among(&same.host).await, among(&replaced.host).await), (1, 0));
    }

    async fn a_block_is_on_every_version_of_the_page_with_the_same_content(harness: &StoreHarness) {
        let account = harness.account().await;
        let slug = "page".parse().unwrap();
        let first = harness.publish(account, "page", b"bad").await;
        harness.publish(account, "page", b"good").await;
        let staged = harness.publish_as(account, "page", b"bad", Activation::Staged).await;
        harness.scanned(&first, ModerationStatus::Pass, START).await;
        harness.scanned(&staged, ModerationStatus::Blocked, START).await;
        let live = harness.publish(account, "page", b"bad").await;
        let contents = vec![BlobHash::of(b"bad")];
        let word = ModeratorDecision { contents, ..harness.word(&live, ModerationDecision::Block) };
        assert_eq!(harness.say(&word).await, DONE);

        for (seq, status) in [
            (1, ModerationStatus::Blocked),
            (2, ModerationStatus::Pending),
            (3, ModerationStatus::Blocked),
            (4, ModerationStatus::Blocked),
        ] {
            harness.store.artifacts().activate(&harness.change(account, START.plus(HOUR)), &slug, seq).await.unwrap();
            assert_eq!(harness.store.routes().find(&live.host).await.unwrap().unwrap().moderation, status, "{seq}");
        }
        let by_moderators = DecisionFilter { by_moderators: true, ..Default::default() };
        let mut decided: Vec<_> =
            harness.store.moderation().list_decisions(&by_moderators, 10).await.unwrap().iter().map(|one| one.seq).collect();
        decided.sort_unstable();
        assert_eq!(decided, [1, 3, 4]);
        // A later scan clears none of them, and a pass applies only to the live version.
        harness.scanned(&first, ModerationStatus::Pass, START.plus(HOUR)).await;
        let contents = vec![BlobHash::of(b"bad")];
        let pass = ModeratorDecision { contents: contents.clone(), ..harness.word(&live, ModerationDecision::Pass) };
        let unblocked = contents;
        assert_eq!(harness.say(&pass).await, DecisionResult::Done { has_more: false, unblocked, affected: vec![] });
        harness.store.artifacts().activate(&harness.change(account, START.plus(HOUR)), &slug, 1).await.unwrap();
        assert_eq!(harness.store.routes().find(&live.host).await.unwrap().unwrap().moderation, ModerationStatus::Blocked);
    }

    async fn block_reports_when_more_versions_remain_than_its_limit(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let mut live = harness.publish(account, "page", b"bad").await;
        for _ in 0..51 {
            live = harness.publish(account, "page", b"bad").await;
        }
        let word = ModeratorDecision { contents: vec![BlobHash::of(b"bad")], ..harness.word(&live, ModerationDecision::Block) };
        assert_eq!(harness.say(&word).await, DecisionResult::Done { has_more: true, unblocked: vec![], affected: vec![] });
        assert_eq!(harness.say(&word).await, DONE);
    }

    async fn decision_is_refused_if_the_case_has_changed_since_it_was_seen(harness: &StoreHarness) {
        let account = harness.account().await;
        let page = harness.publish(account, "page", b"one").await;
        harness.scanned(&page, ModerationStatus::Review, START).await;
        harness.reported(&page, START).await;
        let look = async || {
            let case = harness.store.moderation().find_case(&page.host).await.unwrap().unwrap();
            Seen {
                decision: case.version.unwrap().newest_decision,
                report: Some(case.reports[0].id),
                appeal: None,
            }
        };
        let seen = look().await;
        harness.judged_by(&page, ModerationStatus::Blocked, START.plus(HOUR), 2).await;
        let word = |seen| ModeratorDecision { seen: Some(seen), ..harness.word(&page, ModerationDecision::Pass) };
        let refused = DecisionResult::DecidedMeanwhile { status: ModerationStatus::Blocked };
        assert_eq!(harness.say(&word(seen)).await, refused);
        assert_eq!(harness.say(&word(Seen::default())).await, refused);
        let open = async || {
            let case = harness.store.moderation().find_case(&page.host).await.unwrap().unwrap();
            case.reports.iter().filter(|report| report.answered_at.is_none()).count()
        };
        assert_eq!(open().await, 1);

        // Reports since then stay open.
        let seen = look().await;
        harness.reported(&page, START.plus(2 * HOUR)).await;
        assert_eq!(harness.say(&word(seen)).await, DONE);
        assert_eq!(open().await, 1);
        let seen = Seen { report: None, ..look().await };
        assert_eq!(harness.say(&word(seen)).await, DONE);
        assert_eq!(open().await, 1);
        assert_eq!(harness.rule(&page, ModerationDecision::Pass, None).await, DONE);
        assert_eq!(open().await, 0);
    }

    async fn expired_pages_leave_the_review_queue_and_deleted_pages_have_no_open_reports(harness: &StoreHarness) {
        let page = harness.publish(harness.account().await, "page", b"one").await;
        let kept = harness.publish(harness.claimed().await, "kept", b"one").await;
        for page in [&page, &kept] {
            harness.scanned(page, ModerationStatus::Review, START).await;
            harness.reported(page, START).await;
        }
        assert_eq!(harness.waiting(WaitingFor::Review).await.len(), 2);
        let later = harness.store.review_queue().list(&WaitingFor::Review.into(), None, 10, START.plus(2 * HOUR)).await.unwrap();
        assert_eq!(slugs(&later), ["kept"]);

        harness.store.artifacts().delete(&harness.change(kept.account, START), &kept.slug).await.unwrap();
        let reports = entity::report::Entity::find().all(&harness.store.database.reader).await.unwrap();
        let open: Vec<_> = reports.iter().filter(|one| one.handled_at.is_none()).collect();
        assert_eq!((open.len(), open[0].host.as_str()), (1, page.host.as_str()));
    }

    async fn a_restore_opens_the_reports_that_the_deletion_closed(harness: &StoreHarness) {
        let page = harness.publish(harness.claimed().await, "page", b"one").await;
        harness.scanned(&page, ModerationStatus::Pass, START).await;
        harness.reported(&page, START).await;
        assert_eq!(slugs(&harness.waiting(WaitingFor::Review).await), ["page"]);
        let change = harness.change_by_token(page.account).await;
        harness.store.artifacts().delete(&change, &page.slug).await.unwrap();
        assert!(harness.waiting(WaitingFor::Review).await.is_empty());
        harness.store.artifacts().restore(&change, page.artifact, 10).await.unwrap().unwrap();
        assert_eq!(slugs(&harness.waiting(WaitingFor::Review).await), ["page"]);
    }

    async fn case_shows_everything_known_about_the_page(harness: &StoreHarness) {
        let account = harness.account().await;
        let first = harness.publish(account, "page", b"one").await;
        harness.publish(account, "page", b"two").await;
        harness.scanned(&first, ModerationStatus::Pass, START).await;
        harness.reported(&first, START).await;
        let case = harness.store.moderation().find_case(&first.host).await.unwrap().unwrap();
        let live = case.version.unwrap();
        assert_eq!((live.seq, live.status, live.moderated_by), (2, ModerationStatus::Review, ModeratedBy::Report));
        assert!(live.scan.is_none(), "the scan was of another version");
        assert_eq!((case.reports.len(), case.reports[0].answered_at), (1, None));
        assert_eq!(case.account.id, account);
        for (seq, content) in [(1, &b"one"[..]), (2, b"two")] {
            let manifest = harness.store.artifacts().find_manifest_at(&first.host, seq).await.unwrap().unwrap();
            assert_eq!(manifest.files()[0].hash, BlobHash::of(content));
        }
        assert!(harness.store.artifacts().find_manifest_at(&first.host, 3).await.unwrap().is_none());

        let staged = harness.publish_as(account, "staged", b"one", Activation::Staged).await;
        let case = harness.store.moderation().find_case(&staged.host).await.unwrap().unwrap();
        assert!(case.version.is_some_and(|version| !version.is_live));
        assert!(harness.store.moderation().find_case(&"no-such-page-0000".parse().unwrap()).await.unwrap().is_none());
    }
}
