//! What the edge reads for the addresses of versions, and which verdicts notify it.

use domain::{ModerationDecision, Route};

use super::review::DONE;
use super::*;
use crate::{DecisionResult, ScanVerdict, VerdictResult};

const BLOCKED: ModerationStatus = ModerationStatus::Blocked;

async fn view(harness: &StoreHarness, published: &Published) -> Option<Route> {
    let routes = harness.store.routes();
    let (page, live) = match routes.find(&published.host).await.unwrap() {
        Some(page) => (page.clone(), Some(page.version)),
        None => (routes.find_staged_only(&published.host).await.unwrap()?, None),
    };
    routes.find_version(&page, live, published.seq).await.unwrap()
}

async fn status(harness: &StoreHarness, published: &Published) -> ModerationStatus {
    view(harness, published).await.unwrap().moderation
}

on_both_databases! {
    async fn version_has_its_own_files_and_status_with_the_rest_of_its_page(harness: &StoreHarness) {
        let account = harness.account().await;
        let live = harness.publish(account, "page", b"one").await;
        let staged = harness.publish_as(account, "page", b"two", Activation::Staged).await;
        let (page, seen) = (view(harness, &live).await.unwrap(), view(harness, &staged).await.unwrap());
        assert_eq!((page.version, seen.version), (live.version, staged.version));
        assert_ne!(page.manifest, seen.manifest);
        assert_eq!((seen.host, seen.artifact, seen.expires_at), (page.host, page.artifact, page.expires_at));
        assert_eq!(harness.store.routes().newest_seq(live.artifact).await.unwrap(), Some(2));
        harness.scanned(&staged, BLOCKED, START).await;
        assert_eq!(status(harness, &staged).await, BLOCKED);
        assert_ne!(status(harness, &live).await, BLOCKED);
        let nowhere = Published { seq: 3, ..live };
        assert!(view(harness, &nowhere).await.is_none());
    }

    async fn a_moderators_block_of_the_live_version_closes_all_and_a_scans_one(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let live = harness.publish(account, "page", b"two").await;
        harness.scanned(&live, BLOCKED, START).await;
        assert_eq!(status(harness, &live).await, BLOCKED);
        assert_ne!(status(harness, &staged).await, BLOCKED);
        assert_eq!(harness.rule(&live, ModerationDecision::Block, None).await, DONE);
        assert_eq!(status(harness, &staged).await, BLOCKED);
        // The next version waits for a moderator, and keeps the page closed while it is live.
        let held = harness.publish(account, "page", b"three").await;
        assert_eq!((status(harness, &held).await, status(harness, &staged).await), (BLOCKED, BLOCKED));
        assert_eq!(harness.rule(&held, ModerationDecision::Pass, None).await, DONE);
        assert_ne!(status(harness, &staged).await, BLOCKED);
        assert_eq!(status(harness, &live).await, BLOCKED, "it is blocked itself");
    }

    async fn page_with_only_staged_versions_is_found_until_it_is_live_or_deleted(harness: &StoreHarness) {
        let account = harness.account().await;
        let staged = harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let page = harness.store.routes().find_staged_only(&staged.host).await.unwrap().unwrap();
        assert_eq!((page.artifact, page.account), (staged.artifact, account));
        assert!(page.expires_at.is_some() && !page.is_suspended);
        assert!(view(harness, &staged).await.unwrap().held_from.is_some(), "its scan may be late");
        let change = harness.change(account, START);
        harness.store.artifacts().activate(&change, &staged.slug, 1).await.unwrap();
        assert!(harness.store.routes().find_staged_only(&staged.host).await.unwrap().is_none());
        let other = harness.publish_as(account, "other", b"one", Activation::Staged).await;
        harness.store.artifacts().delete(&change, &other.slug).await.unwrap();
        assert!(harness.store.routes().find_staged_only(&other.host).await.unwrap().is_none());
    }

    async fn a_block_of_the_newest_staged_version_closes_the_others_too(harness: &StoreHarness) {
        let account = harness.account().await;
        let older = harness.publish_as(account, "page", b"one", Activation::Staged).await;
        let newest = harness.publish_as(account, "page", b"two", Activation::Staged).await;
        harness.scanned(&newest, BLOCKED, START).await;
        assert_eq!(status(harness, &newest).await, BLOCKED);
        assert_ne!(status(harness, &older).await, BLOCKED, "a scan blocks one version");
        assert_eq!(harness.rule(&newest, ModerationDecision::Block, None).await, DONE);
        assert_eq!((status(harness, &older).await, status(harness, &newest).await), (BLOCKED, BLOCKED));
        let held = harness.publish_as(account, "page", b"three", Activation::Staged).await;
        assert_eq!((status(harness, &older).await, status(harness, &held).await), (BLOCKED, BLOCKED));
        assert_eq!(harness.rule(&held, ModerationDecision::Pass, None).await, DONE);
        assert_ne!(status(harness, &older).await, BLOCKED);
    }

    async fn version_with_a_later_blocked_content_is_served_only_while_it_is_live(harness: &StoreHarness) {
        let (account, other) = (harness.account().await, harness.account().await);
        let live = harness.publish(account, "page", b"bad").await;
        let staged = harness.publish_as(account, "staged", b"bad", Activation::Staged).await;
        let elsewhere = harness.publish(other, "elsewhere", b"bad").await;
        let DecisionResult::Done { affected, .. } =
            harness.rule(&elsewhere, ModerationDecision::Block, None).await
        else {
            panic!("the page is not blocked")
        };
        assert_eq!(affected, [live.host.clone(), staged.host.clone()], "the edges must read these again");
        assert_ne!(status(harness, &live).await, BLOCKED, "a moderator sees it beside the blocked page");
        assert_eq!(status(harness, &staged).await, BLOCKED);
        harness.publish(account, "page", b"good").await;
        assert_eq!(status(harness, &live).await, BLOCKED);
        harness.rule(&elsewhere, ModerationDecision::Pass, None).await;
        assert_ne!(status(harness, &live).await, BLOCKED, "the content is no longer blocked");
        assert_ne!(status(harness, &staged).await, BLOCKED);
    }

    async fn a_verdict_on_a_staged_version_names_its_host(harness: &StoreHarness) {
        let account = harness.account().await;
        harness.publish(account, "page", b"one").await;
        let staged = harness.publish_as(account, "page", b"two", Activation::Staged).await;
        let verdict = ScanVerdict {
            account,
            version: staged.version,
            decision_id: harness.chance.ulid(START).to_string(),
            status: BLOCKED,
            evidence: "[]".to_owned(),
            rules: 1,
            content: None,
            now: START,
        };
        let result = harness.store.scans().record_verdict(verdict).await.unwrap();
        assert_eq!(result, VerdictResult::Noted { host: Some(staged.host) });
    }
}
