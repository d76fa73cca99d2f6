//! Tally: views of HTML documents, counted in memory and handed over in batches.
//!
//! Nothing is lost while the process lives: what could not be handed over is counted again.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{AccountId, Host, ViewCount};
use futures::future::BoxFuture;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// Views must show in the usage within a second.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// How many hosts go into one batch.
const BATCH_HOSTS_MAX: usize = 1000;
/// The last flush is tried this often, as nobody comes after it.
const LAST_FLUSHES_MAX: usize = 5;

const SHARDS: usize = 16;

/// It holds one entry for each host that was viewed since the last flush, so at most one for each host there is.
#[derive(Default)]
pub struct Tally {
    shards: [Mutex<Counts>; SHARDS],
}

type Counts = HashMap<Host, (AccountId, u64)>;

impl Tally {
    pub fn count(&self, account: AccountId, host: &Host) {
        let mut counts = self.shard(host);
        match counts.get_mut(host) {
            Some((counted_for, count)) if *counted_for == account => *count += 1,
            _ => {
                counts.insert(host.clone(), (account, 1));
            }
        }
    }

    /// Takes everything that was counted.
    pub fn drain(&self) -> Vec<ViewCount> {
        let count = |(host, (account, count))| ViewCount { account, host, count };
        self.shards
            .iter()
            .flat_map(|shard| std::mem::take(&mut *lock(shard)).into_iter().map(count))
            .collect()
    }

    fn put_back(&self, views: Vec<ViewCount>) {
        for view in views {
            let mut counts = self.shard(&view.host);
            counts.entry(view.host).or_insert((view.account, 0)).1 += view.count;
        }
    }

    /// Flushes until cancelled, and then until nothing is left.
    pub async fn run<F>(&self, flush: F, cancel: CancellationToken)
    where
        F: Fn(Vec<ViewCount>) -> BoxFuture<'static, anyhow::Result<()>>,
    {
        let mut ticks = tokio::time::interval(FLUSH_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
            self.flush(&flush).await;
        }
        for _ in 0..LAST_FLUSHES_MAX {
            if self.flush(&flush).await == Flushed::All {
                return;
            }
            tokio::time::sleep(FLUSH_EVERY).await;
        }
        let lost: u64 = self.drain().iter().map(|view| view.count).sum();
        tracing::error!(views.lost = lost, "views could not be handed over before the end");
    }

    async fn flush<F>(&self, flush: &F) -> Flushed
    where
        F: Fn(Vec<ViewCount>) -> BoxFuture<'static, anyhow::Result<()>>,
    {
        let mut flushed = Flushed::All;
        for batch in self.drain().chunks(BATCH_HOSTS_MAX) {
            if let Err(error) = flush(batch.to_vec()).await {
                tracing::warn!(error = format!("{error:#}"), "views are kept for the next flush");
                self.put_back(batch.to_vec());
                flushed = Flushed::InPart;
            }
        }
        flushed
    }

    fn shard(&self, host: &Host) -> MutexGuard<'_, Counts> {
        let mut hasher = DefaultHasher::new();
        host.hash(&mut hasher);
        lock(&self.shards[hasher.finish() as usize % SHARDS])
    }
}

#[derive(PartialEq)]
enum Flushed {
    All,
    InPart,
}

fn lock(shard: &Mutex<Counts>) -> MutexGuard<'_, Counts> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use domain::{Chance, Time};
    use futures::FutureExt;

    use super::*;

    fn account() -> AccountId {
        AccountId::new(Time::from_millis(0), &Chance::seeded(1))
    }

    fn host(number: usize) -> Host {
        format!("page-{number}-a1b2").parse().unwrap()
    }

    #[test]
    fn views_are_counted_by_host_and_taken_once() {
        let tally = Tally::default();
        for number in [1, 2, 1, 1] {
            tally.count(account(), &host(number));
        }
        let mut views = tally.drain();
        views.sort_by_key(|view| view.count);
        let counts: Vec<_> = views.into_iter().map(|view| (view.host, view.count)).collect();
        assert_eq!(counts, [(host(2), 1), (host(1), 3)]);
        assert!(tally.drain().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn a_failed_flush_loses_nothing_and_the_end_flushes_once_more() {
        let tally = Arc::new(Tally::default());
        let (calls, delivered) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Vec::new())));
        let flush = {
            let (calls, delivered) = (calls.clone(), delivered.clone());
            move |views: Vec<ViewCount>| {
                let is_first = calls.fetch_add(1, Ordering::SeqCst) == 0;
                let delivered = delivered.clone();
                async move {
                    anyhow::ensure!(!is_first, "not yet");
                    delivered.lock().unwrap().extend(views);
                    Ok(())
                }
                .boxed()
            }
        };
        tally.count(account(), &host(1));
        let cancel = CancellationToken::new();
        let running = tokio::spawn({
            let (tally, cancel) = (tally.clone(), cancel.clone());
            async move { tally.run(flush, cancel).await }
        });
        tokio::time::sleep(FLUSH_EVERY * 3).await;
        assert_eq!(delivered.lock().unwrap().iter().map(|view| view.count).sum::<u64>(), 1);
        tally.count(account(), &host(2));
        cancel.cancel();
        running.await.unwrap();
        assert_eq!(delivered.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn many_hosts_go_in_bounded_batches() {
        let tally = Tally::default();
        (0..BATCH_HOSTS_MAX + 1).for_each(|number| tally.count(account(), &host(number)));
        let sizes = Arc::new(Mutex::new(Vec::new()));
        let noted = sizes.clone();
        let flush = move |views: Vec<ViewCount>| {
            noted.lock().unwrap().push(views.len());
            async { Ok(()) }.boxed()
        };
        assert!(tally.flush(&flush).await == Flushed::All);
        assert_eq!(*sizes.lock().unwrap(), [BATCH_HOSTS_MAX, 1]);
    }
}
