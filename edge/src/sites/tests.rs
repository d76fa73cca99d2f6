//! The cache of routes.

use std::sync::atomic::{AtomicUsize, Ordering};

use domain::Time;
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;

use super::*;
use crate::tests::harness;

const CAPACITY_BYTES: u64 = 1 << 20;

fn host(number: usize) -> Host {
    format!("page-{number}-a1b2").parse().unwrap()
}

/// A route that is identified by its `updated_at`.
fn route(host: &Host, updated_at_millis: i64) -> Route {
    let updated_at = Time::from_millis(updated_at_millis);
    Route { host: host.clone(), updated_at, ..harness::route(vec![]) }
}

async fn fetch(sites: &Sites, host: &Host, updated_at_millis: i64) -> i64 {
    let read = async { Ok(Some(route(host, updated_at_millis))) };
    let site = sites.fetch(host, |_| true, read).await.unwrap().unwrap();
    site.route.updated_at.millis()
}

#[tokio::test]
async fn route_is_read_once_and_reread_when_the_cache_is_not_trusted() {
    let (sites, host) = (Sites::new(CAPACITY_BYTES), host(1));
    assert_eq!(fetch(&sites, &host, 1).await, 1);
    assert_eq!(fetch(&sites, &host, 2).await, 1);
    assert!(sites.recall(&host, |_| true).is_some());
    assert!(sites.recall(&host, |_| false).is_none());
    let read = async { Ok(Some(route(&host, 3))) };
    let site = sites.fetch(&host, |_| false, read).await.unwrap().unwrap();
    assert_eq!(site.route.updated_at.millis(), 3);
    assert_eq!(fetch(&sites, &host, 4).await, 3, "what was read anew is kept");
}

#[tokio::test]
async fn invalidated_host_is_read_again() {
    let (sites, host) = (Sites::new(CAPACITY_BYTES), host(1));
    fetch(&sites, &host, 1).await;
    sites.drop_host(&host);
    assert!(sites.recall(&host, |_| true).is_none());
    assert_eq!(fetch(&sites, &host, 2).await, 2);
}

#[tokio::test]
async fn read_that_started_before_an_invalidation_is_not_cached() {
    let (sites, host) = (Arc::new(Sites::new(CAPACITY_BYTES)), host(1));
    let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let early = tokio::spawn({
        let (sites, host, begun, go_on) = (sites.clone(), host.clone(), begun.clone(), go_on.clone());
        async move {
            let read = async {
                begun.notify_one();
                go_on.notified().await;
                Ok(Some(route(&host, 1)))
            };
            sites.fetch(&host, |_| true, read).await.unwrap().unwrap().route.updated_at.millis()
        }
    });
    begun.notified().await;
    sites.drop_host(&host);
    // A request after the drop does not wait for the earlier read.
    assert_eq!(fetch(&sites, &host, 2).await, 2);
    go_on.notify_one();
    assert_eq!(early.await.unwrap(), 1);
    assert_eq!(fetch(&sites, &host, 3).await, 2, "the old fetch must not take the new one's place");

    // The same without another read in between.
    let old = sites.fetch(&host, |_| false, async {
        sites.drop_host(&host);
        Ok(Some(route(&host, 4)))
    });
    old.await.unwrap();
    assert!(sites.recall(&host, |_| true).is_none());
}

/// Fifty visitors request an uncached host at once. Returns the number of reads from the store.
async fn reads_of_a_crowd(site_is_there: bool, edge_is_sure: bool) -> usize {
    let (sites, host) = (Arc::new(Sites::new(CAPACITY_BYTES)), host(1));
    let (requested, reads) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let go_on = Arc::new(Semaphore::new(0));
    let mut visits = JoinSet::new();
    for _ in 0..50 {
        let (sites, host, go_on) = (sites.clone(), host.clone(), go_on.clone());
        let (requested, reads) = (requested.clone(), reads.clone());
        visits.spawn(async move {
            let read = async {
                reads.fetch_add(1, Ordering::SeqCst);
                let _turn = go_on.acquire().await;
                Ok(site_is_there.then(|| route(&host, 1)))
            };
            requested.fetch_add(1, Ordering::SeqCst);
            sites.fetch(&host, |_| edge_is_sure, read).await.unwrap().is_some()
        });
    }
    while requested.load(Ordering::SeqCst) < 50 {
        tokio::task::yield_now().await;
    }
    go_on.add_permits(50);
    assert!(visits.join_all().await.into_iter().all(|is_there| is_there == site_is_there));
    reads.load(Ordering::SeqCst)
}

#[tokio::test]
async fn concurrent_requests_for_an_uncached_host_share_one_read() {
    assert_eq!(reads_of_a_crowd(true, true).await, 1);
    assert_eq!(reads_of_a_crowd(false, true).await, 1);
}

#[tokio::test]
async fn concurrent_requests_share_reads_even_without_a_trusted_cache() {
    // One read started before the other requests. The next is fresh enough for all of them.
    assert_eq!(reads_of_a_crowd(true, false).await, 2);
}

#[tokio::test]
async fn failed_read_is_not_cached() {
    let (sites, host) = (Sites::new(CAPACITY_BYTES), host(1));
    let failed = sites.fetch(&host, |_| true, async { anyhow::bail!("out") }).await;
    assert!(failed.is_err());
    assert_eq!(fetch(&sites, &host, 1).await, 1);
}

#[tokio::test]
async fn unknown_hosts_are_bounded_and_do_not_evict_hot_sites() {
    let (sites, hot) = (Sites::new(CAPACITY_BYTES), host(0));
    fetch(&sites, &hot, 1).await;
    for number in 1..50_000 {
        sites.fetch(&host(number), |_| true, async { Ok(None) }).await.unwrap();
        if number % 100 == 0 {
            assert!(sites.recall(&hot, |_| true).is_some(), "after {number} unknown hosts");
        }
    }
    assert!(sites.entries.weight() <= CAPACITY_BYTES);
    assert_eq!(fetch(&sites, &hot, 2).await, 1);
}
