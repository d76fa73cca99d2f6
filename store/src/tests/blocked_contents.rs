//! Blocked contents, held pages and appeals.

use domain::{
    AppealId, AppealMessage, ModeratedBy, ModerationDecision, Moderator, OperatorName, ReportId, ReportReason,
};

use sea_orm::{ColumnTrait, EntityTrait, QueryFilter};

use super::*;
use crate::{
    ChangeError, DecisionResult, ModeratorDecision, NewAppeal, NewReport, RescanTarget, Seen, WaitingFor,
};

const BLOCKED: ModerationStatus = ModerationStatus::Blocked;
const PASS: ModerationStatus = ModerationStatus::Pass;
const REVIEW: ModerationStatus = ModerationStatus::Review;

impl StoreHarness {
    pub(super) async fn decide(&self, published: &Published, ruling: ModerationDecision) -> DecisionResult {
        self.decide_on_seen(published, ruling, None).await
    }

    async fn decide_on_seen(
        &self,
        published: &Published,
        ruling: ModerationDecision,
        seen: Option<Seen>,
    ) -> DecisionResult {
        let word = ModeratorDecision { seen, ..self.word_of_ada(published, ruling) };
        self.store.moderation().decide(&word, &self.chance).await.unwrap()
    }

    pub(super) async fn block_objecting_to(&self, published: &Published, content: &[u8]) {
        let contents = vec![BlobHash::of(content)];
        let word = ModeratorDecision { contents, ..self.word_of_ada(published, ModerationDecision::Block) };
        self.store.moderation().decide(&word, &self.chance).await.unwrap();
    }

    fn word_of_ada(&self, published: &Published, ruling: ModerationDecision) -> ModeratorDecision {
        ModeratorDecision {
            account: published.account,
            artifact: published.artifact,
            ruling,
            moderator: Moderator::Operator(ada()),
            note: None,
            looked_at: None,
            seen: None,
            contents: vec![],
            with_reported: true,
            now: START,
        }
    }

    async fn listed(&self) -> Vec<BlobHash> {
        let listed = self.store.blocked_contents().list(None, 10).await.unwrap();
        listed.into_iter().map(|content| content.hash).collect()
    }

    async fn roll_back(&self, published: &Published, seq: u32) {
        let change = self.change(published.account, START);
        self.store.artifacts().activate(&change, &published.slug, seq).await.unwrap();
    }

    async fn status_of(&self, published: &Published) -> (ModerationStatus, ModeratedBy) {
        let found = self.store.moderation().find_live(published.version).await.unwrap().unwrap();
        (found.status, found.moderated_by)
    }

    async fn appeal(
        &self,
        published: &Published,
        message: &str,
    ) -> crate::ChangeResult<Option<crate::AcceptedAppeal>> {
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
        self.store.moderation().appeal(&change, &appeal).await
    }

    async fn waits(&self, waiting_for: WaitingFor) -> Vec<String> {
        let waiting = self.store.review_queue().list(&waiting_for.into(), None, 10, START).await.unwrap();
        waiting.into_iter().map(|one| one.slug.to_string()).collect()
    }
}

fn ada() -> OperatorName {
    OperatorName::cleaned("Ada").unwrap()
}

on_both_databases! {
    async fn blocked_content_blocks_every_later_version_immediately(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let before = harness.publish(other, "before", b"bad").await;
        let page = harness.publish(one, "page", b"bad").await;
        harness.decide(&page, ModerationDecision::Block).await;
        assert_eq!(harness.listed().await, [BlobHash::of(b"bad")]);
        let again = harness.publish(other, "again", b"bad").await;
        assert_eq!(harness.shown(&again).await, BLOCKED);
        assert_eq!(harness.status_of(&again).await, (BLOCKED, ModeratedBy::Scan));
        let evidence = harness.store.moderation().find_live(again.version).await.unwrap().unwrap().evidence.unwrap();
        assert!(evidence.contains(crate::BLOCKED_CONTENT) && evidence.contains("index.html"), "{evidence}");
        // A scan does not clear it, and does not change older versions.
        harness.judge(&again, 1, PASS).await;
        assert_eq!(harness.shown(&again).await, BLOCKED);
        assert_eq!(harness.shown(&before).await, ModerationStatus::Pending);
    }

    async fn version_settled_without_the_block_list_is_blocked_by_its_scan(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        let late = harness.publish(other, "late", b"bad").await;
        // It was published in the same millisecond, by a commit that had not read the list.
        harness.decide(&page, ModerationDecision::Block).await;
        assert_eq!(harness.shown(&late).await, ModerationStatus::Pending);
        harness.judge(&late, 1, PASS).await;
        assert_eq!(harness.shown(&late).await, BLOCKED);
    }

    async fn version_scanned_before_a_block_is_committed_is_scanned_again(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        let late = harness.publish(other, "late", b"bad").await;
        harness.judge(&late, 1, PASS).await;
        harness.block_objecting_to(&page, b"bad").await;
        let asked = RescanTarget::BlockedAt(START);
        assert_eq!(harness.store.scans().request_rescans(&asked, START).await.unwrap(), Some(1));
        harness.judge(&late, 1, PASS).await;
        assert_eq!(harness.shown(&late).await, BLOCKED);
    }

    async fn only_pages_passed_by_a_moderator_keep_content_unlisted_unless_it_is_objected_to(harness: &StoreHarness) {
        let (one, provisional) = (harness.claimed().await, harness.account().await);
        let copy = harness.publish(provisional, "copy", b"shared").await;
        harness.judge(&copy, 1, PASS).await;
        let page = harness.publish(one, "page", b"shared").await;
        harness.decide(&page, ModerationDecision::Block).await;
        assert_eq!(harness.listed().await, [BlobHash::of(b"shared")]);
        harness.decide(&copy, ModerationDecision::Pass).await;
        harness.decide(&page, ModerationDecision::Block).await;
        assert_eq!(harness.listed().await, []);
        let trail = entity::audit::Entity::find().all(&harness.store.database.reader).await.unwrap();
        assert!(trail.iter().any(|entry| entry.detail.contains("other accounts use them: index.html")));
        harness.block_objecting_to(&page, b"shared").await;
        assert_eq!(harness.listed().await, [BlobHash::of(b"shared")]);
    }

    async fn version_of_a_held_page_with_blocked_content_waits_for_a_moderator(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let first = harness.publish(account, "page", b"bad").await;
        harness.decide(&first, ModerationDecision::Block).await;
        let again = harness.publish(account, "page", b"bad").await;
        assert_eq!(harness.status_of(&again).await, (REVIEW, ModeratedBy::Moderator));
        assert_eq!(harness.shown(&again).await, BLOCKED);
        assert_eq!(harness.waits(WaitingFor::Review).await, ["page"]);
        let evidence = harness.store.moderation().find_live(again.version).await.unwrap().unwrap().evidence.unwrap();
        assert!(evidence.contains(crate::BLOCKED_CONTENT), "{evidence}");
    }

    async fn version_that_an_older_process_adds_to_a_held_page_is_held_by_its_scan(harness: &StoreHarness) {
        let page = harness.publish(harness.claimed().await, "page", b"one").await;
        let transaction = harness.store.database.begin().await.unwrap();
        let before = START.minus(Duration::from_millis(1));
        crate::held_pages::hold(&transaction, &page.artifact.to_string(), before).await.unwrap();
        transaction.commit().await.unwrap();
        harness.judge(&page, 1, PASS).await;
        assert_eq!(harness.status_of(&page).await, (REVIEW, ModeratedBy::Moderator));
        assert_eq!(harness.shown(&page).await, BLOCKED);
        assert_eq!(harness.waits(WaitingFor::Review).await, ["page"]);
    }

    async fn a_deleted_page_stays_held_until_it_is_purged(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let page = harness.publish(account, "page", b"one").await;
        harness.decide(&page, ModerationDecision::Block).await;
        harness.store.artifacts().delete(&harness.change(account, START), &page.slug).await.unwrap();
        let held = async || entity::held_page::Entity::find().all(&harness.store.database.reader).await;
        assert_eq!(held().await.unwrap().len(), 1);
        let purge = harness.change_by_token(account).await;
        harness.store.artifacts().purge(&purge, page.artifact).await.unwrap().unwrap();
        assert_eq!(held().await.unwrap(), []);
    }

    async fn a_repeated_purge_deletes_what_is_no_longer_held(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        harness.publish(one, "page", b"good").await;
        let copy = harness.publish(other, "copy", b"bad").await;
        harness.block_objecting_to(&copy, b"bad").await;
        let purge = harness.change_by_token(one).await;
        let purged = async || harness.store.artifacts().purge(&purge, page.artifact).await.unwrap();
        assert_eq!(purged().await.unwrap().held, [1]);
        assert_eq!(purged().await.unwrap().held, [1]);
        let (list, ada) = (harness.store.blocked_contents(), ada());
        assert!(list.unblock(BlobHash::of(b"bad"), &ada, START, &harness.chance).await.unwrap().is_some());
        assert!(purged().await.unwrap().held.is_empty());
        assert!(purged().await.is_none());
        assert!(harness.seqs(&page).await.is_empty());
    }

    async fn activation_keeps_scan_findings_and_does_not_block_the_version_already_live(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        harness.judge(&page, 1, REVIEW).await;
        let copy = harness.publish(other, "copy", b"bad").await;
        harness.decide(&copy, ModerationDecision::Block).await;
        harness.roll_back(&page, 1).await;
        assert_eq!(harness.shown(&page).await, REVIEW);
        harness.publish(one, "page", b"good").await;
        // After the scan: decisions are ordered by their ids, which begin with the time.
        harness.store.artifacts().activate(&harness.change(one, START.plus(HOUR)), &page.slug, 1).await.unwrap();
        assert_eq!(harness.shown(&page).await, BLOCKED);
        let evidence = harness.store.moderation().find_live(page.version).await.unwrap().unwrap().evidence.unwrap();
        assert!(evidence.contains(crate::BLOCKED_CONTENT) && evidence.contains("{}"), "{evidence}");
    }

    async fn unblocked_content_is_scanned_again(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let page = harness.publish(one, "page", b"bad").await;
        harness.decide(&page, ModerationDecision::Block).await;
        let again = harness.publish(other, "again", b"bad").await;
        harness.judge(&again, 1, PASS).await;
        let listed = harness.store.blocked_contents().list(None, 10).await.unwrap();
        assert_eq!((listed[0].live_versions, listed[0].path.as_str()), (2, "index.html"));
        assert_eq!(listed[0].host, page.host);
        let hash = listed[0].hash;
        let unscanned = harness.publish(other, "unscanned", b"bad").await;
        let unblock = async || {
            harness.store.blocked_contents().unblock(hash, &ada(), START, &harness.chance).await.unwrap()
        };
        assert!(unblock().await.is_some());
        assert!(unblock().await.is_none());
        // Also the version whose first scan may be running.
        let due = harness.due(1, START).await;
        assert!(due.len() == 2 && due.contains(&(again.version, 0)), "{due:?}");
        assert!(due.contains(&(unscanned.version, 0)), "{due:?}");
        harness.judge(&again, 1, PASS).await;
        assert_eq!(harness.shown(&again).await, PASS);
        // The page that the moderator has blocked stays blocked.
        harness.judge(&page, 1, PASS).await;
        assert_eq!(harness.shown(&page).await, BLOCKED);
    }

    async fn content_of_passed_pages_of_other_accounts_is_not_listed(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let honest = harness.publish(other, "honest", b"library").await;
        harness.judge(&honest, 1, PASS).await;
        let page = harness.publish(one, "page", b"library").await;
        harness.decide(&page, ModerationDecision::Block).await;
        assert_eq!(harness.listed().await, []);
        let empty = harness.publish(one, "empty", b"").await;
        harness.decide(&empty, ModerationDecision::Block).await;
        assert_eq!(harness.listed().await, []);
    }

    async fn pass_by_a_moderator_unblocks_the_contents_of_the_page(harness: &StoreHarness) {
        let one = harness.claimed().await;
        let page = harness.publish(one, "page", b"bad").await;
        harness.decide(&page, ModerationDecision::Block).await;
        let unblocked = vec![BlobHash::of(b"bad")];
        assert_eq!(harness.decide(&page, ModerationDecision::Pass).await, DecisionResult::Done { has_more: false, unblocked, affected: vec![] });
        assert_eq!(harness.listed().await, []);
    }

    async fn reactivated_version_is_checked_against_the_block_list(harness: &StoreHarness) {
        let (one, other) = (harness.claimed().await, harness.claimed().await);
        let old = harness.publish(one, "page", b"bad").await;
        harness.judge(&old, 1, PASS).await;
        let good = harness.publish(one, "page", b"good").await;
        let copy = harness.publish(other, "copy", b"bad").await;
        harness.decide(&copy, ModerationDecision::Block).await;
        harness.roll_back(&good, 1).await;
        assert_eq!(harness.shown(&old).await, BLOCKED);
        assert_eq!(harness.status_of(&old).await, (BLOCKED, ModeratedBy::Scan));
    }

    async fn the_next_version_of_a_page_that_a_moderator_blocked_waits_for_a_moderator(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let first = harness.publish(account, "page", b"one").await;
        harness.decide(&first, ModerationDecision::Block).await;
        let second = harness.publish(account, "page", b"two").await;
        assert_eq!(harness.status_of(&second).await, (REVIEW, ModeratedBy::Moderator));
        assert_eq!(harness.shown(&second).await, BLOCKED);
        harness.judge(&second, 1, PASS).await;
        assert_eq!(harness.shown(&second).await, BLOCKED);
        assert_eq!(harness.waits(WaitingFor::Review).await, ["page"]);
        assert_eq!(harness.waits(WaitingFor::BlockedAlready).await, [""; 0]);
        assert_eq!(harness.store.review_queue().backlog(START).await.unwrap().pages, 1);
        // Neither a later version nor one that is made live again avoids the hold.
        let staged = harness.publish_as(account, "page", b"three", Activation::Staged).await;
        harness.roll_back(&staged, 3).await;
        assert_eq!(harness.shown(&staged).await, BLOCKED);
        harness.decide(&staged, ModerationDecision::Pass).await;
        assert_eq!(harness.shown(&staged).await, PASS);
        let free = harness.publish(account, "page", b"four").await;
        assert_eq!(harness.status_of(&free).await, (ModerationStatus::Pending, ModeratedBy::Nobody));
        // When the blocked version is live again, the page is held again.
        harness.roll_back(&free, 1).await;
        let held = harness.publish(account, "page", b"five").await;
        assert_eq!(harness.status_of(&held).await, (REVIEW, ModeratedBy::Moderator));
    }

    async fn block_by_a_scan_does_not_hold_the_page(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let first = harness.publish(account, "page", b"one").await;
        harness.judge(&first, 1, BLOCKED).await;
        let second = harness.publish(account, "page", b"two").await;
        assert_eq!(harness.shown(&second).await, ModerationStatus::Pending);
    }

    async fn version_can_be_appealed_once_until_a_moderator_decides(harness: &StoreHarness) {
        let account = harness.claimed().await;
        let page = harness.publish(account, "page", b"one").await;
        let refused = harness.appeal(&page, "Why?").await.unwrap_err();
        assert!(matches!(refused, ChangeError::Refused(Refusal::NothingToAppeal { .. })), "{refused:?}");
        harness.judge(&page, 1, BLOCKED).await;
        assert_eq!(harness.waits(WaitingFor::Review).await, [""; 0]);
        let appealed = harness.appeal(&page, "It is a drill.").await.unwrap().unwrap();
        assert_eq!((appealed.seq, appealed.status), (1, BLOCKED));
        let refused = harness.appeal(&page, "It is a drill!").await.unwrap_err();
        assert!(matches!(refused, ChangeError::Refused(Refusal::AlreadyAppealed)), "{refused:?}");
        assert_eq!(harness.waits(WaitingFor::Review).await, ["page"]);
        assert_eq!(harness.store.review_queue().backlog(START).await.unwrap().pages, 1);

        let case = async || harness.store.moderation().find_case(&page.host).await.unwrap().unwrap();
        let appeal = case().await.appeals.remove(0);
        assert_eq!((appeal.message.as_str(), appeal.seq, appeal.closed_at), ("It is a drill.", 1, None));
        // A moderator who has not seen the appeal does not close it.
        let newest = case().await.version.unwrap().newest_decision;
        let seen = Seen { decision: newest, ..Seen::default() };
        harness.decide_on_seen(&page, ModerationDecision::Block, Some(seen)).await;
        assert_eq!(case().await.appeals[0].closed_at, None);
        harness.decide(&page, ModerationDecision::Block).await;
        assert_eq!(case().await.appeals[0].closed_at, Some(START));
        assert_eq!(harness.waits(WaitingFor::Review).await, [""; 0]);
        assert!(harness.appeal(&page, "Once more.").await.is_err());
        harness.publish(account, "page", b"two").await;
        assert!(harness.appeal(&page, "It is fixed.").await.unwrap().is_some());
    }

    async fn a_report_keeps_its_category(harness: &StoreHarness) {
        let page = harness.publish(harness.account().await, "page", b"one").await;
        let report = NewReport {
            id: ReportId::new(START, &harness.chance),
            host: page.host.clone(),
            seq: None,
            reason: Some("It asks for money.".parse::<ReportReason>().unwrap()),
            category: Some(domain::ReportCategory::Spam),
            now: START,
        };
        harness.store.reports().create(&report, &harness.chance).await.unwrap();
        let case = harness.store.moderation().find_case(&page.host).await.unwrap().unwrap();
        assert_eq!(case.reports[0].category, Some(domain::ReportCategory::Spam));
    }
}
