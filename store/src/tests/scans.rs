//! Verdicts of scans, and the versions that are due for one.

use domain::{ModerationDecision, ReportId, ScanJob, UserId};
use sea_orm::EntityTrait;

use super::*;
use crate::{DueScan, ModeratorDecision, NewReport, ReportResult, RescanTarget, ScanCounts, VerdictResult};

const MINUTE: Duration = Duration::from_secs(60);
const BLOCKED: ModerationStatus = ModerationStatus::Blocked;
const PASS: ModerationStatus = ModerationStatus::Pass;
const REVIEW: ModerationStatus = ModerationStatus::Review;

impl StoreHarness {
    fn judgement(&self, published: &Published, rules: u32, status: ModerationStatus) -> ScanVerdict {
        ScanVerdict {
            account: published.account,
            version: published.version,
            decision_id: self.chance.ulid(START.plus(rules * MINUTE)).to_string(),
            content: None,
            status,
            evidence: if status == PASS { "[]" } else { "[{}]" }.to_owned(),
            rules,
            now: START.plus(rules * MINUTE),
        }
    }

    pub(super) async fn judge(
        &self,
        published: &Published,
        rules: u32,
        status: ModerationStatus,
    ) -> VerdictResult {
        self.store.scans().record_verdict(self.judgement(published, rules, status)).await.unwrap()
    }

    pub(super) async fn shown(&self, published: &Published) -> ModerationStatus {
        self.store.routes().find(&published.host).await.unwrap().unwrap().moderation
    }

    /// The rules and the status of every stored scan of a version, in order.
    async fn scans_kept(&self, published: &Published) -> Vec<(String, String)> {
        let mut kept =
            entity::moderation_decision::Entity::find().all(&self.store.database.reader).await.unwrap();
        kept.retain(|one| one.version_id == published.version.to_string() && one.source == "scan");
        kept.sort_by_key(|one| one.scanner_version.clone());
        kept.into_iter().map(|one| (one.scanner_version.unwrap(), one.status)).collect()
    }

    async fn report_on(&self, published: &Published) -> ReportResult {
        let id = ReportId::new(START, &self.chance);
        let report = NewReport {
            id,
            host: published.host.clone(),
            seq: None,
            reason: None,
            category: None,
            now: START,
        };
        self.store.reports().create(&report, &self.chance).await.unwrap()
    }

    pub(super) async fn late(&self, now: Time) -> Vec<(VersionId, u32)> {
        versions_and_tries(self.store.scans().list_late(now.minus(MINUTE), now, 10).await.unwrap())
    }

    pub(super) async fn due(&self, rules: u32, now: Time) -> Vec<(VersionId, u32)> {
        versions_and_tries(self.store.scans().list_due_rescans(rules, now, 10).await.unwrap())
    }

    pub(super) async fn is_queued(&self, published: &Published, tries: u32, now: Time) {
        self.store.scans().mark_started(&[due_scan(published, tries)], now).await.unwrap();
    }
}

fn due_scan(published: &Published, tries: u32) -> DueScan {
    DueScan { job: ScanJob { account: published.account, version: published.version }, tries }
}

pub(super) fn versions_and_tries(due: Vec<DueScan>) -> Vec<(VersionId, u32)> {
    due.into_iter().map(|due| (due.job.version, due.tries)).collect()
}

fn noted(host: Option<&Host>) -> VerdictResult {
    VerdictResult::Noted { host: host.cloned() }
}

on_both_databases! {
    async fn verdict_is_written_to_the_version_and_the_route(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        assert_eq!(harness.judge(&published, 1, BLOCKED).await, noted(Some(&published.host)));
        assert_eq!(harness.shown(&published).await, BLOCKED);
        let unknown = ScanVerdict {
            version: VersionId::new(START, &harness.chance),
            ..harness.judgement(&published, 1, BLOCKED)
        };
        assert_eq!(harness.store.scans().record_verdict(unknown).await.unwrap(), VerdictResult::Gone);
    }

    async fn repeated_verdict_is_stored_once_and_sends_notices_while_it_blocks(harness: &StoreHarness) {
        let account = harness.account().await;
        let (harmful, harmless) =
            (harness.publish(account, "harmful", b"one").await, harness.publish(account, "harmless", b"two").await);
        for _ in 0..2 {
            assert_eq!(harness.judge(&harmful, 1, BLOCKED).await, noted(Some(&harmful.host)));
        }
        assert_eq!(harness.judge(&harmless, 1, PASS).await, noted(Some(&harmless.host)));
        assert_eq!(harness.judge(&harmless, 1, PASS).await, noted(None));
        for published in [&harmful, &harmless] {
            assert_eq!(harness.scans_kept(published).await.len(), 1);
        }
        // A version that is not live has an address, too.
        harness.publish(account, "harmful", b"three").await;
        assert_eq!(harness.judge(&harmful, 1, BLOCKED).await, noted(Some(&harmful.host)));
    }

    async fn later_rules_replace_scan_verdicts_and_keep_the_evidence_of_each_finding(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        for (rules, status) in [(1, PASS), (2, BLOCKED), (3, BLOCKED), (4, PASS)] {
            harness.judge(&published, rules, status).await;
            assert_eq!(harness.shown(&published).await, status, "rules {rules}");
        }
        let kept = harness.scans_kept(&published).await;
        let expected = [("1", "pass"), ("2", "blocked"), ("4", "pass")];
        assert_eq!(kept, expected.map(|(rules, status)| (rules.to_owned(), status.to_owned())));
        assert_eq!(harness.judge(&published, 3, BLOCKED).await, VerdictResult::Outdated, "a process of the last release");
        assert_eq!(harness.shown(&published).await, PASS);
    }

    async fn later_rules_change_neither_moderator_decisions_nor_reports(harness: &StoreHarness) {
        let account = harness.account().await;
        let ruled = harness.publish(account, "ruled", b"one").await;
        let word = ModeratorDecision {
            account,
            artifact: ruled.artifact,
            ruling: ModerationDecision::Pass,
            moderator: domain::Moderator::Person(UserId::new(START, &harness.chance)),
            note: None,
            looked_at: None,
            seen: None,
            contents: vec![],
            with_reported: true,
            now: START,
        };
        harness.judge(&ruled, 1, REVIEW).await;
        harness.store.moderation().decide(&word, &harness.chance).await.unwrap();
        assert_eq!(harness.judge(&ruled, 2, BLOCKED).await, noted(None));
        assert_eq!(harness.shown(&ruled).await, PASS);
        assert_eq!(harness.scans_kept(&ruled).await.len(), 2, "what it found is kept for people");

        let reported = harness.publish(account, "reported", b"two").await;
        assert_eq!(harness.report_on(&reported).await, ReportResult::SentToReview);
        for (rules, verdict, shown) in [(1, PASS, REVIEW), (2, BLOCKED, BLOCKED), (3, PASS, REVIEW)] {
            harness.judge(&reported, rules, verdict).await;
            assert_eq!(harness.shown(&reported).await, shown, "rules {rules}");
        }
    }

    async fn scan_is_late_after_a_minute_and_requeued_with_exponential_backoff(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        assert_eq!(harness.late(START.plus(MINUTE)).await, []);
        let mut now = START.plus(MINUTE).plus(Duration::from_millis(1));
        for tries in 0..13_u32 {
            assert_eq!(harness.late(now).await, [(published.version, tries)]);
            // Of two concurrent sweeps, one counts an attempt.
            harness.is_queued(&published, tries, now).await;
            harness.is_queued(&published, tries, now).await;
            let pause = if tries <= 10 { MINUTE * 2_u32.pow(tries) } else { Duration::from_secs(24 * 3600) };
            assert_eq!(harness.late(now.plus(pause - Duration::from_millis(1))).await, [], "{tries}");
            now = now.plus(pause);
        }
        let stuck = harness.store.scans().list_stuck(13, 10).await.unwrap();
        assert_eq!((stuck.len(), &stuck[0].host, stuck[0].again_at), (1, &published.host, now));
        assert!(harness.store.scans().list_stuck(14, 10).await.unwrap().is_empty());
        harness.judge(&published, 1, PASS).await;
        assert_eq!(harness.late(now).await, []);
        assert!(harness.store.scans().list_stuck(1, 10).await.unwrap().is_empty());
    }

    async fn failing_scans_do_not_delay_lost_ones(harness: &StoreHarness) {
        let account = harness.account().await;
        let failing = harness.publish(account, "failing", b"one").await;
        let now = START.plus(HOUR);
        harness.is_queued(&failing, 0, now.minus(2 * MINUTE)).await;
        let lost = harness.publish(account, "lost", b"two").await;
        let first = harness.store.scans().list_late(now, now, 1).await.unwrap();
        assert_eq!(versions_and_tries(first), [(lost.version, 0)]);
    }

    async fn queued_scan_is_not_requeued_and_counts_no_attempt(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        let mut now = START.plus(HOUR);
        for _ in 0..5 {
            assert_eq!(harness.late(now).await, [(published.version, 0)]);
            harness.store.scans().mark_waiting(&[due_scan(&published, 0)], now).await.unwrap();
            assert_eq!(harness.late(now.plus(MINUTE - Duration::from_millis(1))).await, []);
            now = now.plus(MINUTE);
        }
    }

    async fn versions_scanned_by_older_rules_are_due_with_live_versions_first(harness: &StoreHarness) {
        let account = harness.account().await;
        let old = harness.publish(account, "page", b"one").await;
        let live = harness.publish(account, "page", b"two").await;
        let newer = harness.publish(account, "newer", b"three").await;
        let unscanned = harness.publish(account, "unscanned", b"four").await;
        for (published, rules) in [(&old, 1), (&live, 2), (&newer, 3)] {
            harness.judge(published, rules, PASS).await;
        }
        assert_eq!(harness.due(1, START).await, []);
        let has_due = async |rules| harness.store.scans().has_due_rescans(rules, START).await.unwrap();
        assert_eq!((has_due(1).await, has_due(2).await), (false, true));
        assert_eq!(versions_and_tries(harness.store.scans().list_due_rescans(3, START, 1).await.unwrap()), [(live.version, 0)]);
        harness.is_queued(&live, 0, START).await;
        assert_eq!(harness.due(3, START).await, [(old.version, 0)]);
        // The walk is complete, so the order is that of the rules.
        assert_eq!(harness.due(3, START.plus(MINUTE)).await, [(old.version, 0), (live.version, 1)]);
        // New rules have a walk of their own.
        assert_eq!(harness.due(4, START.plus(MINUTE)).await[..2], [(newer.version, 0), (live.version, 1)]);
        for published in [&old, &live] {
            harness.judge(published, 3, PASS).await;
        }
        assert_eq!(harness.due(3, START.plus(HOUR)).await, []);
        let counts = harness.store.scans().counts().await.unwrap();
        assert_eq!(counts, ScanCounts { unscanned: 1, asked_again: 0, judged_by: [(3, 3)].into() });
        assert_eq!(harness.late(START.plus(HOUR)).await, [(unscanned.version, 0)]);
    }

    async fn rescan_of_live_versions_continues_after_the_last_page(harness: &StoreHarness) {
        let mut live = Vec::new();
        for slug in ["one", "two", "three"] {
            let account = harness.account().await;
            harness.judge(&harness.publish(account, slug, b"before").await, 1, PASS).await;
            let published = harness.publish(account, slug, b"after").await;
            harness.judge(&published, 1, PASS).await;
            live.push(published);
        }
        live.sort_by_key(|published| published.host.clone());
        for published in &live {
            let page = harness.store.scans().list_due_rescans(2, START, 1).await.unwrap();
            assert_eq!(versions_and_tries(page.clone()), [(published.version, 0)]);
            harness.store.scans().mark_started(&page, START).await.unwrap();
        }
        // A version that was skipped because the process of the walk died is found nevertheless.
        let lost = &live[0];
        harness.sql(&format!("UPDATE versions SET scan_again_at = 0 WHERE id = '{}'", lost.version)).await;
        let rest = harness.due(2, START).await;
        assert!(rest.len() == 4 && rest.iter().any(|(version, _)| *version == lost.version), "{rest:?}");
    }

    async fn versions_that_cannot_be_served_are_not_rescanned(harness: &StoreHarness) {
        let (account, claimed) = (harness.account().await, harness.claimed().await);
        let expiring = harness.publish(account, "expiring", b"one").await;
        let deleted = harness.publish(claimed, "deleted", b"two").await;
        let kept = harness.publish(claimed, "kept", b"three").await;
        for published in [&expiring, &deleted, &kept] {
            harness.judge(published, 1, PASS).await;
        }
        harness.store.artifacts().delete(&harness.change(claimed, START), &"deleted".parse().unwrap()).await.unwrap();
        let now = START.plus(2 * HOUR);
        assert_eq!(versions_and_tries(harness.store.scans().list_due_rescans(2, now, 1).await.unwrap()), [(kept.version, 0)]);
        harness.is_queued(&kept, 0, now).await;
        // They do not delay others, and are not examined again and again.
        assert!(harness.store.scans().has_due_rescans(2, now).await.unwrap());
        assert_eq!(harness.due(2, now).await, []);
        assert!(!harness.store.scans().has_due_rescans(2, now).await.unwrap());
    }

    async fn operator_can_request_rescans_of_everything_or_one_host_or_failed_scans(harness: &StoreHarness) {
        let account = harness.account().await;
        let old = harness.publish(account, "page", b"one").await;
        let live = harness.publish(account, "page", b"two").await;
        let other = harness.publish(account, "other", b"three").await;
        harness.publish(account, "unscanned", b"four").await;
        let all = [&old, &live, &other];
        for published in all {
            harness.judge(published, 7, PASS).await;
        }
        let ask = async |asked| harness.store.scans().request_rescans(&asked, START).await.unwrap();
        assert_eq!(ask(RescanTarget::Older { rules: 7 }).await, Some(0));
        assert_eq!(ask(RescanTarget::Host("nobody-here-0000".parse().unwrap())).await, None);
        assert_eq!(harness.due(7, START).await, []);

        assert_eq!(ask(RescanTarget::Host(live.host.clone())).await, Some(2));
        let of_page = harness.store.scans().list_due_rescans_of(live.artifact, START, 10).await.unwrap();
        assert_eq!(versions_and_tries(of_page), [(live.version, 0), (old.version, 0)]);
        assert_eq!(harness.due(7, START).await.len(), 2);
        assert_eq!(harness.store.scans().counts().await.unwrap().asked_again, 2);
        assert_eq!(harness.judge(&live, 6, BLOCKED).await, VerdictResult::Outdated, "asking takes no verdict back");
        harness.judge(&live, 7, PASS).await;
        assert_eq!(harness.due(7, START).await, [(old.version, 0)]);
        harness.judge(&old, 7, PASS).await;
        assert_eq!(harness.due(7, START).await, []);

        harness.is_queued(&live, 0, START).await;
        let (failed, fresh) = (&live, &old);
        assert_eq!(ask(RescanTarget::Older { rules: 8 }).await, Some(3), "all are due anyway");
        let due = harness.due(8, START).await;
        assert!(due.contains(&(failed.version, 0)), "earlier failures are forgotten: {due:?}");
        assert!(due.contains(&(fresh.version, 0)) && due.len() == 3, "{due:?}");

        assert_eq!(ask(RescanTarget::Everything).await, Some(3));
        assert_eq!(harness.due(7, START).await.len(), 3);
        harness.judge(&other, 7, BLOCKED).await;
        assert_eq!(harness.shown(&other).await, BLOCKED);
        assert_eq!(harness.due(7, START).await.len(), 2);
    }

    async fn rescan_request_for_older_rules_resets_only_failed_scans(harness: &StoreHarness) {
        let account = harness.account().await;
        let failed = harness.publish(account, "failed", b"one").await;
        let put_off = harness.publish(account, "put-off", b"two").await;
        for published in [&failed, &put_off] {
            harness.judge(published, 1, PASS).await;
        }
        harness.is_queued(&failed, 0, START).await;
        harness.store.scans().mark_waiting(&[due_scan(&put_off, 0)], START).await.unwrap();
        let asked = RescanTarget::Older { rules: 2 };
        assert_eq!(harness.store.scans().request_rescans(&asked, START).await.unwrap(), Some(2));
        assert_eq!(harness.due(2, START).await, [(failed.version, 0)]);
    }

    async fn unchanged_scan_result_updates_only_its_time_and_rules(harness: &StoreHarness) {
        let account = harness.account().await;
        let published = harness.publish(account, "page", b"one").await;
        for rules in [1, 2, 5] {
            harness.judge(&published, rules, REVIEW).await;
        }
        assert_eq!(harness.scans_kept(&published).await.len(), 1);
        let case = harness.store.moderation().find_case(&published.host).await.unwrap().unwrap();
        let scan = case.version.unwrap().scan.unwrap();
        assert_eq!((scan.scanner_version.as_deref(), scan.at), (Some("5"), START.plus(5 * MINUTE)));
        assert_eq!(scan.evidence, "[{}]");
    }
}
