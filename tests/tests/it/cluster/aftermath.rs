//! What must hold when a load is over, whatever happened to the processes under it: every publish that was answered is
//! there once, with its bytes and its number; it is scanned, it is paid once; and nothing is left to do.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{AccountLedger, World, eventually};

use super::load::{Client, PRICE_MICRO};

/// What was lost is queued again by a sweep, when it has been missing for a minute.
const UNTIL_SWEPT: Duration = Duration::from_secs(120);
/// An orphaned job is taken over when its worker has missed its heartbeats, one that failed waits.
const TAKE_OVER: Duration = Duration::from_secs(60);

/// All of it. The allowance is what an account publishes for nothing.
pub async fn assert_nothing_is_lost_or_twice(world: &World, clients: &[Client], allowance: usize) {
    world.advance(UNTIL_SWEPT);
    join_all(clients.iter().map(every_version_is_scanned)).await;
    nothing_is_left_to_do(world).await;
    join_all(clients.iter().map(assert_versions)).await;
    let ledgers = world.ledgers().await;
    for client in clients {
        assert_books(client, &ledgers[&client.agent().handle()], allowance).await;
    }
}

async fn every_version_is_scanned(client: &Client) {
    for (slug, _) in client.by_slug() {
        eventually(TAKE_OVER, &format!("the verdicts on {slug}"), async || {
            let versions = client.agent().artifact(slug).await.expect(200).at("versions");
            versions.as_array().unwrap().iter().all(|one| one["moderation_status"] == "pass").then_some(())
        })
        .await;
    }
}

pub async fn nothing_is_left_to_do(world: &World) {
    let mut left = Vec::new();
    let deadline = tokio::time::Instant::now() + TAKE_OVER;
    // The schedules go on, so what is seen at one time may be gone at the next.
    while tokio::time::Instant::now() < deadline {
        left = world.unfinished_jobs().await;
        if left.is_empty() {
            return;
        }
    }
    panic!("jobs are left: {left:?}");
}

/// The versions are those that were answered, and each of them shows its bytes at every edge when it is made live.
async fn assert_versions(client: &Client) {
    for (slug, answered) in client.by_slug() {
        let listed = client.agent().artifact(slug).await.expect(200).at("versions");
        let listed: Vec<_> =
            listed.as_array().unwrap().iter().map(|one| one["seq"].as_i64().unwrap()).collect();
        let expected: Vec<_> = answered.iter().rev().map(|one| one.version).collect();
        assert_eq!(listed, expected, "{slug} has other versions than were answered");
        for (door, one) in client.doors.iter().cycle().zip(&answered) {
            let live = door.activate(slug, one.version).await.expect(200);
            client.look(&live, &one.html).await;
        }
    }
}

/// The balance is the sum of the ledger, every reason is there once, and each publish beyond the allowance was charged
/// once.
async fn assert_books(client: &Client, ledger: &AccountLedger, allowance: usize) {
    let usage = client.agent().usage().await.expect(200);
    let published = client.acknowledged.len();
    assert_eq!(usage.integer("publishes.used"), i64::try_from(published).unwrap(), "{usage:?}");
    let sum_micro: i64 = ledger.entries.iter().map(|entry| entry.delta_micro).sum();
    assert_eq!(ledger.balance_micro, sum_micro, "{ledger:?}");
    assert_eq!((usage.number("credits_usd") * 1e6).round() as i64, sum_micro, "{ledger:?}");
    let reasons: BTreeSet<_> = ledger.entries.iter().map(|entry| &entry.reason).collect();
    assert_eq!(reasons.len(), ledger.entries.len(), "a reason occurs twice: {ledger:?}");
    let charged: Vec<_> =
        ledger.entries.iter().filter(|entry| entry.reason.starts_with("publish:")).collect();
    assert_eq!(charged.len(), published.saturating_sub(allowance), "{ledger:?}");
    assert!(charged.iter().all(|entry| entry.delta_micro == -PRICE_MICRO), "{ledger:?}");
}
