//! The gate that shares scan capacity between accounts.

use std::future::pending;

use domain::{Chance, Time};
use tokio::task::{JoinHandle, yield_now};

use super::*;

const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

fn accounts<const COUNT: usize>() -> [AccountId; COUNT] {
    let chance = Chance::seeded(1);
    std::array::from_fn(|_| AccountId::new(Time::from_millis(0), &chance))
}

fn gate(permits: usize) -> ScanGate {
    ScanGate::new(ScanTerms { permits, quota: None })
}

/// A scan that waits. It is queued when this returns.
async fn waiting(
    gate: &ScanGate,
    account: AccountId,
    scan: Scan,
) -> JoinHandle<Result<ScanPermit, NoPermit>> {
    let gate = gate.clone();
    let waiting = tokio::spawn(async move { gate.permit(account, scan).await });
    yield_now().await;
    waiting
}

async fn first(gate: &ScanGate, account: AccountId) -> JoinHandle<Result<ScanPermit, NoPermit>> {
    waiting(gate, account, Scan::First).await
}

async fn served(waiting: JoinHandle<Result<ScanPermit, NoPermit>>) -> ScanPermit {
    waiting.await.unwrap().unwrap()
}

async fn sent_back(waiting: JoinHandle<Result<ScanPermit, NoPermit>>) -> Duration {
    waiting.await.unwrap().unwrap_err().retry_after
}

async fn computes_for(permit: ScanPermit, time: Duration) {
    tokio::time::sleep(time).await;
    drop(permit);
    yield_now().await;
}

#[test]
fn scan_permits_are_limited_by_memory_and_half_of_the_cores() {
    assert_eq!([1, 2, 3, 8].map(|cores| permits_of(cores, 1_200)), [1, 1, 1, 4]);
    assert_eq!([1, 299, 600, 899, 1_200].map(|memory_mb| permits_of(64, memory_mb)), [1, 1, 2, 2, 4]);
}

#[tokio::test(start_paused = true)]
async fn concurrent_scans_are_limited_by_permits() {
    let (gate, [one, two, three]) = (gate(2), accounts());
    let (first_permit, _second) =
        (served(first(&gate, one).await).await, served(first(&gate, two).await).await);
    let third = first(&gate, three).await;
    tokio::time::sleep(SECOND).await;
    assert!(!third.is_finished());
    drop(first_permit);
    served(third).await;
}

#[tokio::test(start_paused = true)]
async fn accounts_are_served_round_robin() {
    let (gate, [busy, other, third]) = (gate(1), accounts());
    let computing = served(first(&gate, busy).await).await;
    let again = first(&gate, busy).await;
    let (others, thirds) = (first(&gate, other).await, first(&gate, third).await);
    computes_for(computing, MILLISECOND).await;
    let permit = served(others).await;
    assert!(!again.is_finished());
    // Its second scan comes after the third account's first.
    let others = first(&gate, other).await;
    computes_for(permit, MILLISECOND).await;
    assert!(!again.is_finished() && !others.is_finished());
    computes_for(served(thirds).await, MILLISECOND).await;
    computes_for(served(again).await, MILLISECOND).await;
    served(others).await;
}

#[tokio::test(start_paused = true)]
async fn new_accounts_do_not_starve_a_known_account() {
    const NEW: usize = 20;
    let gate = gate(1);
    let [known, others @ ..] = accounts::<{ NEW + 1 }>();
    let mut permit = served(first(&gate, known).await).await;
    let waiting = first(&gate, known).await;
    let begun = Instant::now();
    for other in others {
        let new = first(&gate, other).await;
        computes_for(permit, SECOND).await;
        if waiting.is_finished() {
            assert!(begun.elapsed() <= STARVING_AFTER + SECOND, "{:?}", begun.elapsed());
            return;
        }
        permit = served(new).await;
    }
    panic!("the known account was never served");
}

#[tokio::test(start_paused = true)]
async fn only_the_oldest_scan_of_an_unserved_account_waits() {
    let (gate, [flood, other]) = (gate(1), accounts());
    let computing = served(first(&gate, flood).await).await;
    let oldest = first(&gate, flood).await;
    let (second, third) = (first(&gate, flood).await, first(&gate, flood).await);
    let waited = Instant::now();
    let mut retries = [sent_back(second).await, sent_back(third).await];
    retries.sort_unstable();
    assert_eq!(retries, [SECOND, 2 * SECOND]);
    assert!(waited.elapsed() < 2 * PATIENCE, "{:?}", waited.elapsed());
    // A later scan does not wait at all.
    let waited = Instant::now();
    sent_back(first(&gate, flood).await).await;
    assert_eq!(waited.elapsed(), Duration::ZERO);
    let others = first(&gate, other).await;
    tokio::time::sleep(SECOND).await;
    assert!(!oldest.is_finished() && !others.is_finished());
    computes_for(computing, MILLISECOND).await;
    computes_for(served(others).await, MILLISECOND).await;
    served(oldest).await;
}

#[tokio::test(start_paused = true)]
async fn scans_of_an_account_that_is_served_promptly_all_wait() {
    let (gate, [account]) = (gate(1), accounts());
    let mut permit = served(first(&gate, account).await).await;
    let mut queue = Vec::new();
    for _ in 0..50 {
        queue.push(first(&gate, account).await);
    }
    for next in queue {
        computes_for(permit, 100 * MILLISECOND).await;
        permit = served(next).await;
    }
}

#[tokio::test(start_paused = true)]
async fn requeued_scans_have_staggered_retries_of_at_most_half_a_minute() {
    let (gate, [flood]) = (gate(1), accounts());
    let _computing = served(first(&gate, flood).await).await;
    let _oldest = first(&gate, flood).await;
    tokio::time::sleep(SECOND).await;
    let mut retries = Vec::new();
    for _ in 0..100 {
        retries.push(sent_back(first(&gate, flood).await).await);
    }
    assert!(retries.is_sorted() && retries.iter().all(|retry| (SECOND..=RETRY_MAX).contains(retry)));
    assert_eq!((retries[0], retries[99]), (SECOND, RETRY_MAX));
}

#[tokio::test(start_paused = true)]
async fn account_over_its_quota_is_served_last_until_its_quota_is_renewed() {
    let (gate, [heavy, light]) =
        (ScanGate::new(ScanTerms { permits: 1, quota: Some(10 * SECOND) }), accounts());
    computes_for(served(first(&gate, heavy).await).await, 11 * SECOND).await;
    computes_for(served(first(&gate, light).await).await, MILLISECOND).await;
    // It was served longer ago, but the quota takes precedence.
    let computing = served(first(&gate, light).await).await;
    let (heavys, lights) = (first(&gate, heavy).await, first(&gate, light).await);
    computes_for(computing, MILLISECOND).await;
    let permit = served(lights).await;
    assert!(!heavys.is_finished());
    // Nobody else waits, so it is served although it is over its quota.
    computes_for(permit, MILLISECOND).await;
    drop(served(heavys).await);

    tokio::time::sleep(QUOTA_PERIOD).await;
    computes_for(served(first(&gate, light).await).await, MILLISECOND).await;
    let computing = served(first(&gate, light).await).await;
    let (heavys, _lights) = (first(&gate, heavy).await, first(&gate, light).await);
    computes_for(computing, MILLISECOND).await;
    served(heavys).await;
}

#[tokio::test(start_paused = true)]
async fn first_scans_go_before_rescans_whichever_came_first() {
    let (gate, [one, other]) = (gate(1), accounts());
    let computing = served(first(&gate, one).await).await;
    let rescan = waiting(&gate, other, Scan::Again).await;
    tokio::time::sleep(SECOND).await;
    let (firsts, of_the_same) = (first(&gate, one).await, first(&gate, other).await);
    computes_for(computing, MILLISECOND).await;
    for next in [of_the_same, firsts] {
        let permit = served(next).await;
        assert!(!rescan.is_finished());
        computes_for(permit, MILLISECOND).await;
    }
    served(rescan).await;
}

#[tokio::test(start_paused = true)]
async fn cancelled_wait_does_not_block_other_scans() {
    let (gate, [one, two, three]) = (gate(1), accounts());
    let computing = served(first(&gate, one).await).await;
    let (gone, stays) = (first(&gate, two).await, first(&gate, three).await);
    gone.abort();
    yield_now().await;
    drop(computing);
    served(stays).await;
}

#[tokio::test(start_paused = true)]
async fn rescan_without_a_permit_is_requeued() {
    let (gate, [one, other]) = (gate(1), accounts());
    let _computing = served(first(&gate, one).await).await;
    let waited = Instant::now();
    sent_back(waiting(&gate, other, Scan::Again).await).await;
    assert_eq!(waited.elapsed(), RESCAN_WAIT_MAX);
}

#[tokio::test(start_paused = true)]
async fn number_of_tracked_accounts_is_bounded() {
    let gate = gate(1);
    for account in accounts::<{ ACCOUNTS_MAX * 2 }>() {
        drop(served(first(&gate, account).await).await);
    }
    assert!(gate.0.state().accounts.len() <= ACCOUNTS_MAX);
}

#[tokio::test(start_paused = true)]
async fn busy_gate_delays_a_publish_by_25_ms_after_its_files_are_stored() {
    let (gate, [computing, publishing]) = (gate(1), accounts());
    let permit = served(first(&gate, computing).await).await;
    for storing in [Duration::ZERO, Duration::from_millis(300)] {
        let begun = Instant::now();
        assert!(gate.early_permit(publishing, sleep(storing)).await.is_none());
        assert_eq!(begun.elapsed(), storing + 25 * MILLISECOND);
    }
    // The scan that gave up does not get the next permit.
    drop(permit);
    let begun = Instant::now();
    assert!(gate.early_permit(publishing, pending::<()>()).await.is_some());
    assert_eq!(begun.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn publish_gets_a_permit_while_its_files_are_stored() {
    let (gate, [computing, publishing]) = (gate(1), accounts());
    let permit = served(first(&gate, computing).await).await;
    let begun = Instant::now();
    let (early, ()) = tokio::join!(gate.early_permit(publishing, sleep(SECOND)), async {
        sleep(100 * MILLISECOND).await;
        drop(permit);
    });
    assert!(early.is_some());
    assert_eq!(begun.elapsed(), 100 * MILLISECOND);
}

#[tokio::test(start_paused = true)]
async fn a_waiting_publish_does_not_send_back_the_queued_scan_of_its_account() {
    let (gate, [computing, publishing]) = (gate(1), accounts());
    let permit = served(first(&gate, computing).await).await;
    let early = gate.early_permit(publishing, pending::<()>());
    tokio::pin!(early);
    assert!(futures::poll!(&mut early).is_pending());
    let queued = first(&gate, publishing).await;
    sleep(PATIENCE * 2).await;
    drop(permit);
    drop(early.await);
    served(queued).await;
}

#[tokio::test(start_paused = true)]
async fn an_account_starves_from_its_first_waiting_publish() {
    let (gate, [publishing, computing, new]) = (gate(1), accounts());
    drop(served(first(&gate, publishing).await).await);
    let permit = served(first(&gate, computing).await).await;
    let publish = || gate.early_permit(publishing, pending::<()>());
    let (earlier, later) = (publish(), publish());
    tokio::pin!(earlier, later);
    assert!(futures::poll!(&mut earlier).is_pending());
    sleep(STARVING_AFTER - SECOND).await;
    assert!(futures::poll!(&mut later).is_pending());
    sleep(SECOND).await;
    let news = first(&gate, new).await;
    drop(permit);
    yield_now().await;
    assert!(!news.is_finished(), "an account that starves goes before a new one");
    drop(earlier.await);
    served(news).await;
}
