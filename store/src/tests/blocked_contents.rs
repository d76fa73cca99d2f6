//! Contents that no new version may bring, pages that are held back, and the appeals of their owners.

use domain::{AppealId, AppealMessage, ModeratedBy, Moderator, OperatorName, ReportId, ReportReason, Ruling};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::*;
use crate::{AskedFor, ModeratorsWord, NewAppeal, NewReport, Ruled, Seen, Undone, WaitingFor};

const BLOCKED: ModerationStatus = ModerationStatus::Blocked;
const PASS: ModerationStatus = ModerationStatus::Pass;
const REVIEW: ModerationStatus = ModerationStatus::Review;

impl Bed {
    async fn decide(&self, published: &Published, ruling: Ruling) -> Ruled {
        self.decide_on_seen(published, ruling, None).await
    }

    async fn decide_on_seen(&self, published: &Published, ruling: Ruling, seen: Option<Seen>) -> Ruled {
        let word = ModeratorsWord { seen, ..self.word_of_ada(published, ruling) };
        self.store.rule(&word, &self.chance).await.unwrap()
    }

    async fn block_objecting_to(&self, published: &Published, content: &[u8]) {
        let contents = vec![BlobHash::of(content)];
        let word = ModeratorsWord { contents, ..self.word_of_ada(published, Ruling::Block) };
        self.store.rule(&word, &self.chance).await.unwrap();
    }

    fn word_of_ada(&self, published: &Published, ruling: Ruling) -> ModeratorsWord {
        ModeratorsWord {
            account: published.account,
            artifact: published.artifact,
            ruling,
            moderator: Moderator::Operator(ada()),
            note: None,
            looked_at: None,
            seen: None,
            contents: vec![],
            now: START,
        }
    }

    async fn listed(&self) -> Vec<BlobHash> {
        let listed = self.store.blocked_contents(None, 10).await.unwrap();
        listed.into_iter().map(|content| content.hash).collect()
    }

    async fn roll_back(&self, published: &Published, seq: u32) {
        let change = self.change(published.account, START);
        self.store.activate(&change, &published.slug, seq).await.unwrap();
    }

    async fn status_of(&self, published: &Published) -> (ModerationStatus, ModeratedBy) {
        let found = self.store.live_moderation(published.version).await.unwrap().unwrap();
        (found.status, found.moderated_by)
    }

    async fn appeal(&self, published: &Published, message: &str) -> crate::Decided<Option<crate::Appealed>> {
        let appeal = NewAppeal {
            id: AppealId::new(START, &self.chance),
            slug: published.slug.clone(),
            message: AppealMessage::written(message).unwrap(),
        };
        let tokens = entity::token::Entity::find()
            .filter(entity::token::Column::AccountId.eq(published.account.to_string()))
            .one(&self.store.database.reader);
        let token = tokens.await.unwrap().unwrap().id.parse().unwrap();
        let by = Maker { user: None, token: Some(token) };
        let change = Change { by, ..self.change(published.account, START) };
        self.store.appeal(&change, &appeal).await
    }

    async fn waits(&self, waiting_for: WaitingFor) -> Vec<String> {
        let waiting = self.store.waiting(&waiting_for.into(), None, 10, START).await.unwrap();
        waiting.into_iter().map(|one| one.slug.to_string()).collect()
    }
}

fn ada() -> OperatorName {
    OperatorName::cleaned("Ada").unwrap()
}

on_both_databases! {
    async fn a_blocked_content_blocks_every_later_version_from_its_first_moment(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let before = bed.publish(other, "before", b"bad").await;
        let page = bed.publish(one, "page", b"bad").await;
        bed.decide(&page, Ruling::Block).await;
        assert_eq!(bed.listed().await, [BlobHash::of(b"bad")]);
        let again = bed.publish(other, "again", b"bad").await;
        assert_eq!(bed.shown(&again).await, BLOCKED);
        assert_eq!(bed.status_of(&again).await, (BLOCKED, ModeratedBy::Scan));
        let evidence = bed.store.live_moderation(again.version).await.unwrap().unwrap().evidence.unwrap();
        assert!(evidence.contains(crate::BLOCKED_CONTENT) && evidence.contains("index.html"), "{evidence}");
        // A scan does not clear it, and leaves alone what was there before.
        bed.judge(&again, 1, PASS).await;
        assert_eq!(bed.shown(&again).await, BLOCKED);
        assert_eq!(bed.shown(&before).await, ModerationStatus::Pending);
    }

    async fn a_version_that_a_process_of_an_older_release_settles_is_blocked_by_its_scan(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let page = bed.publish(one, "page", b"bad").await;
        let late = bed.publish(other, "late", b"bad").await;
        // It came in the same millisecond, and its commit did not know of the list.
        bed.decide(&page, Ruling::Block).await;
        assert_eq!(bed.shown(&late).await, ModerationStatus::Pending);
        bed.judge(&late, 1, PASS).await;
        assert_eq!(bed.shown(&late).await, BLOCKED);
    }

    async fn what_is_scanned_before_a_block_is_committed_is_scanned_again(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let page = bed.publish(one, "page", b"bad").await;
        let late = bed.publish(other, "late", b"bad").await;
        bed.judge(&late, 1, PASS).await;
        bed.block_objecting_to(&page, b"bad").await;
        let asked = AskedFor::BlockedAt(START);
        assert_eq!(bed.store.ask_for_rescans(&asked, START).await.unwrap(), Some(1));
        bed.judge(&late, 1, PASS).await;
        assert_eq!(bed.shown(&late).await, BLOCKED);
    }

    async fn only_a_page_that_is_trusted_keeps_a_content_off_and_none_what_is_objected_to(bed: &Bed) {
        let (one, provisional) = (bed.claimed().await, bed.account().await);
        let copy = bed.publish(provisional, "copy", b"shared").await;
        bed.judge(&copy, 1, PASS).await;
        let page = bed.publish(one, "page", b"shared").await;
        bed.decide(&page, Ruling::Block).await;
        assert_eq!(bed.listed().await, [BlobHash::of(b"shared")]);
        bed.decide(&copy, Ruling::Pass).await;
        bed.decide(&page, Ruling::Block).await;
        assert_eq!(bed.listed().await, []);
        let trail = entity::audit::Entity::find().all(&bed.store.database.reader).await.unwrap();
        assert!(trail.iter().any(|entry| entry.detail.contains("other accounts use them: index.html")));
        bed.block_objecting_to(&page, b"shared").await;
        assert_eq!(bed.listed().await, [BlobHash::of(b"shared")]);
    }

    async fn a_version_of_a_held_page_that_brings_a_blocked_content_waits_for_a_moderator(bed: &Bed) {
        let account = bed.claimed().await;
        let first = bed.publish(account, "page", b"bad").await;
        bed.decide(&first, Ruling::Block).await;
        let again = bed.publish(account, "page", b"bad").await;
        assert_eq!(bed.status_of(&again).await, (REVIEW, ModeratedBy::Moderator));
        assert_eq!(bed.shown(&again).await, BLOCKED);
        assert_eq!(bed.waits(WaitingFor::Review).await, ["page"]);
        let evidence = bed.store.live_moderation(again.version).await.unwrap().unwrap().evidence.unwrap();
        assert!(evidence.contains(crate::BLOCKED_CONTENT), "{evidence}");
    }

    async fn a_version_that_an_older_process_makes_of_a_held_page_is_held_by_its_scan(bed: &Bed) {
        let page = bed.publish(bed.claimed().await, "page", b"one").await;
        let transaction = bed.store.database.begin().await.unwrap();
        let before = START.minus(Duration::from_millis(1));
        crate::held_pages::hold(&transaction, &page.artifact.to_string(), before).await.unwrap();
        transaction.commit().await.unwrap();
        bed.judge(&page, 1, PASS).await;
        assert_eq!(bed.status_of(&page).await, (REVIEW, ModeratedBy::Moderator));
        assert_eq!(bed.shown(&page).await, BLOCKED);
        assert_eq!(bed.waits(WaitingFor::Review).await, ["page"]);
    }

    async fn a_page_that_is_deleted_is_held_no_more(bed: &Bed) {
        let account = bed.claimed().await;
        let page = bed.publish(account, "page", b"one").await;
        bed.decide(&page, Ruling::Block).await;
        bed.store.delete_artifact(&bed.change(account, START), &page.slug).await.unwrap();
        let held = entity::held_page::Entity::find().all(&bed.store.database.reader).await.unwrap();
        assert_eq!(held, []);
    }

    async fn an_activation_keeps_what_the_scan_found_and_blocks_nothing_that_is_live_already(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let page = bed.publish(one, "page", b"bad").await;
        bed.judge(&page, 1, REVIEW).await;
        let copy = bed.publish(other, "copy", b"bad").await;
        bed.decide(&copy, Ruling::Block).await;
        bed.roll_back(&page, 1).await;
        assert_eq!(bed.shown(&page).await, REVIEW);
        bed.publish(one, "page", b"good").await;
        // After the scan: the order of decisions is that of their ids, and these begin with the time.
        bed.store.activate(&bed.change(one, START.plus(HOUR)), &page.slug, 1).await.unwrap();
        assert_eq!(bed.shown(&page).await, BLOCKED);
        let evidence = bed.store.live_moderation(page.version).await.unwrap().unwrap().evidence.unwrap();
        assert!(evidence.contains(crate::BLOCKED_CONTENT) && evidence.contains("{}"), "{evidence}");
    }

    async fn what_is_taken_off_the_list_is_judged_by_its_scan_again(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let page = bed.publish(one, "page", b"bad").await;
        bed.decide(&page, Ruling::Block).await;
        let again = bed.publish(other, "again", b"bad").await;
        bed.judge(&again, 1, PASS).await;
        let listed = bed.store.blocked_contents(None, 10).await.unwrap();
        assert_eq!((listed[0].live_versions, listed[0].path.as_str()), (2, "index.html"));
        assert_eq!(listed[0].host, page.host);
        let hash = listed[0].hash;
        let unscanned = bed.publish(other, "unscanned", b"bad").await;
        assert!(bed.store.unblock_content(hash, &ada(), START, &bed.chance).await.unwrap());
        assert!(!bed.store.unblock_content(hash, &ada(), START, &bed.chance).await.unwrap());
        // Also the one whose first scan may be running.
        let due = bed.due(1, START).await;
        assert!(due.len() == 2 && due.contains(&(again.version, 0)), "{due:?}");
        assert!(due.contains(&(unscanned.version, 0)), "{due:?}");
        bed.judge(&again, 1, PASS).await;
        assert_eq!(bed.shown(&again).await, PASS);
        // The page that the moderator has blocked stays blocked.
        bed.judge(&page, 1, PASS).await;
        assert_eq!(bed.shown(&page).await, BLOCKED);
    }

    async fn what_a_passed_page_of_another_account_holds_is_not_listed(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let honest = bed.publish(other, "honest", b"library").await;
        bed.judge(&honest, 1, PASS).await;
        let page = bed.publish(one, "page", b"library").await;
        bed.decide(&page, Ruling::Block).await;
        assert_eq!(bed.listed().await, []);
        let empty = bed.publish(one, "empty", b"").await;
        bed.decide(&empty, Ruling::Block).await;
        assert_eq!(bed.listed().await, []);
    }

    async fn a_page_that_a_moderator_passes_takes_its_contents_off_the_list(bed: &Bed) {
        let one = bed.claimed().await;
        let page = bed.publish(one, "page", b"bad").await;
        bed.decide(&page, Ruling::Block).await;
        let unblocked = vec![BlobHash::of(b"bad")];
        assert_eq!(bed.decide(&page, Ruling::Pass).await, Ruled::Done { has_more: false, unblocked });
        assert_eq!(bed.listed().await, []);
    }

    async fn a_version_that_is_made_live_again_is_compared_with_the_list(bed: &Bed) {
        let (one, other) = (bed.claimed().await, bed.claimed().await);
        let old = bed.publish(one, "page", b"bad").await;
        bed.judge(&old, 1, PASS).await;
        let good = bed.publish(one, "page", b"good").await;
        let copy = bed.publish(other, "copy", b"bad").await;
        bed.decide(&copy, Ruling::Block).await;
        bed.roll_back(&good, 1).await;
        assert_eq!(bed.shown(&old).await, BLOCKED);
        assert_eq!(bed.status_of(&old).await, (BLOCKED, ModeratedBy::Scan));
    }

    async fn the_next_version_of_a_page_that_a_moderator_blocked_waits_for_a_moderator(bed: &Bed) {
        let account = bed.claimed().await;
        let first = bed.publish(account, "page", b"one").await;
        bed.decide(&first, Ruling::Block).await;
        let second = bed.publish(account, "page", b"two").await;
        assert_eq!(bed.status_of(&second).await, (REVIEW, ModeratedBy::Moderator));
        assert_eq!(bed.shown(&second).await, BLOCKED);
        bed.judge(&second, 1, PASS).await;
        assert_eq!(bed.shown(&second).await, BLOCKED);
        assert_eq!(bed.waits(WaitingFor::Review).await, ["page"]);
        assert_eq!(bed.waits(WaitingFor::BlockedAlready).await, [""; 0]);
        assert_eq!(bed.store.backlog(START).await.unwrap().pages, 1);
        // Neither the version after it nor one that is made live again gets round that.
        let staged = bed.publish_as(account, "page", b"three", Activation::Staged).await;
        bed.roll_back(&staged, 3).await;
        assert_eq!(bed.shown(&staged).await, BLOCKED);
        bed.decide(&staged, Ruling::Pass).await;
        assert_eq!(bed.shown(&staged).await, PASS);
        let free = bed.publish(account, "page", b"four").await;
        assert_eq!(bed.status_of(&free).await, (ModerationStatus::Pending, ModeratedBy::Nobody));
        // The one that was blocked holds the page back again once it is live.
        bed.roll_back(&free, 1).await;
        let held = bed.publish(account, "page", b"five").await;
        assert_eq!(bed.status_of(&held).await, (REVIEW, ModeratedBy::Moderator));
    }

    async fn what_only_a_scan_has_blocked_holds_nothing_back(bed: &Bed) {
        let account = bed.claimed().await;
        let first = bed.publish(account, "page", b"one").await;
        bed.judge(&first, 1, BLOCKED).await;
        let second = bed.publish(account, "page", b"two").await;
        assert_eq!(bed.shown(&second).await, ModerationStatus::Pending);
    }

    async fn a_version_is_appealed_for_once_until_a_moderator_decides(bed: &Bed) {
        let account = bed.claimed().await;
        let page = bed.publish(account, "page", b"one").await;
        let refused = bed.appeal(&page, "Why?").await.unwrap_err();
        assert!(matches!(refused, Undone::Refused(Refusal::NothingToAppeal { .. })), "{refused:?}");
        bed.judge(&page, 1, BLOCKED).await;
        assert_eq!(bed.waits(WaitingFor::Review).await, [""; 0]);
        let appealed = bed.appeal(&page, "It is a drill.").await.unwrap().unwrap();
        assert_eq!((appealed.seq, appealed.status), (1, BLOCKED));
        let refused = bed.appeal(&page, "It is a drill!").await.unwrap_err();
        assert!(matches!(refused, Undone::Refused(Refusal::AlreadyAppealed)), "{refused:?}");
        assert_eq!(bed.waits(WaitingFor::Review).await, ["page"]);
        assert_eq!(bed.store.backlog(START).await.unwrap().pages, 1);

        let case = async || bed.store.review_case(&page.host).await.unwrap().unwrap();
        let appeal = case().await.appeals.remove(0);
        assert_eq!((appeal.message.as_str(), appeal.seq, appeal.closed_at), ("It is a drill.", 1, None));
        // Who has not seen it does not close it.
        let newest = case().await.live.unwrap().newest_decision;
        let seen = Seen { decision: newest, ..Seen::default() };
        bed.decide_on_seen(&page, Ruling::Block, Some(seen)).await;
        assert_eq!(case().await.appeals[0].closed_at, None);
        bed.decide(&page, Ruling::Block).await;
        assert_eq!(case().await.appeals[0].closed_at, Some(START));
        assert_eq!(bed.waits(WaitingFor::Review).await, [""; 0]);
        assert!(bed.appeal(&page, "Once more.").await.is_err());
        bed.publish(account, "page", b"two").await;
        assert!(bed.appeal(&page, "It is mended.").await.unwrap().is_some());
    }

    async fn a_report_keeps_its_category(bed: &Bed) {
        let page = bed.publish(bed.account().await, "page", b"one").await;
        let report = NewReport {
            id: ReportId::new(START, &bed.chance),
            host: page.host.clone(),
            reason: Some("It asks for money.".parse::<ReportReason>().unwrap()),
            category: Some(domain::ReportCategory::Spam),
            now: START,
        };
        bed.store.report(&report, &bed.chance).await.unwrap();
        let case = bed.store.review_case(&page.host).await.unwrap().unwrap();
        assert_eq!(case.reports[0].category, Some(domain::ReportCategory::Spam));
    }
}
