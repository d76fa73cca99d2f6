//! What must hold after a load, whatever happened to the processes: every acknowledged publish exists once
//! with its bytes and its number, is scanned and is paid once. No work is left.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use handbill_tests::{AccountLedger, World, eventually};

use super::load::{Client, PRICE_MICRO};

/// A sweep queues jobs again that have been missing for a minute.
const UNTIL_SWEPT: Duration = Duration::from_secs(120);
/// An orphaned job is taken over after its worker has missed its heartbeats. A failed job waits for its
/// retry.
const TAKE_OVER: Duration = Duration::from_secs(60);

/// Checks all of it. The allowance is the number of free publishes of an account.
pub async fn assert_nothing_is_lost_or_twice(world: &World, clients: &[Client], allowance: usize) {
    world.advance(UNTIL_SWEPT);
    join_all(clients.iter().map(every_version_is_scanned)).await;
    nothing_is_left_to_do(world).await;
    join_all(clients.iter().map(assert_versions)).await;
    let ledgers = world.ledgers().await;
    for client in clients {
        assert_ledger(client, &ledgers[&client.agent().handle()], allowance).await;
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
    // The schedules keep running, so that a job in one query may be gone in the next.
    while tokio::time::Instant::now() < deadline {
        left = world.unfinished_jobs().await;
        if left.is_empty() {
            return;
        }
    }
    panic!("jobs are left: {left:?}");
}

/// The versions are those that were acknowledged, and each serves its bytes at every edge once it is
/// activated.
async fn assert_versions(client: &Client) {
    for (slug, answered) in client.by_slug() {
        let listed = client.agent().artifact(slug).await.expect(200).at("versions");
        let listed: Vec<_> =
            listed.as_array().unwrap().iter().map(|one| one["seq"].as_i64().unwrap()).collect();
        let expected: Vec<_> = answered.iter().rev().map(|one| one.version).collect();
        assert_eq!(listed, expected, "{slug} has other versions than were answered");
        for (agent, one) in client.agents.iter().cycle().zip(&answered) {
            let live = agent.activate(slug, one.version).await.expect(200);
            client.assert_served(&live, &one.html).await;
        }
    }
}

/// The balance is the sum of the ledger, every reason is unique, and each publish beyond the allowance was
/// charged once.
async fn assert_ledger(client: &Client, ledger: &AccountLedger, allowance: usize) {
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
