//! Counts views of HTML documents in memory and hands them over in batches.
//!
//! Nothing is lost while the process runs, and nothing is billed twice. A batch whose push failed may have
//! been stored nevertheless, so the same batch is pushed again under its own job id. Its views must never be
//! counted again in another batch.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{AccountId, Chance, Clock, Host, JobId, ViewCount, ViewsJob};
use futures::future::BoxFuture;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// Views must show in the usage within a second.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// The largest number of hosts in a batch. While a batch is written, publishes of its accounts wait.
const BATCH_HOSTS_MAX: usize = 1000;
/// Attempts of the last flush, because no later one follows.
const LAST_FLUSHES_MAX: usize = 12;

const SHARDS: usize = 16;

/// Has one entry for each host that was viewed since the last flush, so the number of hosts is its bound.
#[derive(Default)]
pub struct Tally {
    shards: [Mutex<Counts>; SHARDS],
}

/// A host has one account, but after a purge another account may get its name.
type Counts = HashMap<Host, Vec<(AccountId, u64)>>;

/// Hands over the counted views.
pub struct Delivery<'t, F> {
    tally: &'t Tally,
    clock: Clock,
    chance: Chance,
    push: F,
    /// Batches that may not be stored yet. Nothing more is drained while there are any, so the number of
    /// hosts bounds them, too.
    pending: Vec<Batch>,
}

#[derive(Clone)]
struct Batch {
    job: JobId,
    counted: ViewsJob,
}

impl Tally {
    pub fn count(&self, account: AccountId, host: &Host) {
        let mut counts = self.shard(host);
        let known =
            counts.get_mut(host).and_then(|of_host| of_host.iter_mut().find(|(of, _)| *of == account));
        match known {
            Some((_, count)) => *count += 1,
            None => counts.entry(host.clone()).or_default().push((account, 1)),
        }
    }

    /// Removes and returns everything that was counted.
    pub fn drain(&self) -> Vec<ViewCount> {
        let counts = self.shards.iter().flat_map(|shard| std::mem::take(&mut *lock(shard)));
        let views = |(host, of_host): (Host, Vec<(AccountId, u64)>)| {
            of_host.into_iter().map(move |(account, count)| ViewCount { account, host: host.clone(), count })
        };
        counts.flat_map(views).collect()
    }

    fn shard(&self, host: &Host) -> MutexGuard<'_, Counts> {
        let mut hasher = DefaultHasher::new();
        host.hash(&mut hasher);
        lock(&self.shards[hasher.finish() as usize % SHARDS])
    }
}

impl<'t, F> Delivery<'t, F>
where
    F: Fn(JobId, ViewsJob) -> BoxFuture<'static, anyhow::Result<()>>,
{
    /// `push` stores a batch as a job with this id, idempotently.
    pub fn new(tally: &'t Tally, clock: Clock, chance: Chance, push: F) -> Self {
        Self { tally, clock, chance, push, pending: Vec::new() }
    }

    /// Flushes until cancelled, and then until nothing is left.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut ticks = tokio::time::interval(FLUSH_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while cancel.run_until_cancelled(ticks.tick()).await.is_some() {
            self.flush().await;
        }
        for _ in 0..LAST_FLUSHES_MAX {
            if self.flush().await == Flushed::All {
                return;
            }
            tokio::time::sleep(FLUSH_EVERY).await;
        }
        self.seal();
        let lost: u64 =
            self.pending.iter().flat_map(|batch| &batch.counted.views).map(|view| view.count).sum();
        tracing::error!(views.lost = lost, "view counts were lost at shutdown");
    }

    async fn flush(&mut self) -> Flushed {
        self.push_pending().await;
        if self.pending.is_empty() {
            self.seal();
            self.push_pending().await;
        }
        if self.pending.is_empty() { Flushed::All } else { Flushed::InPart }
    }

    /// Moves the counted views into batches.
    fn seal(&mut self) {
        let now = self.clock.now();
        for views in self.tally.drain().chunks(BATCH_HOSTS_MAX) {
            let counted = ViewsJob { counted_at: now, views: views.to_vec() };
            self.pending.push(Batch { job: JobId::new(now, &self.chance), counted });
        }
    }

    async fn push_pending(&mut self) {
        for batch in std::mem::take(&mut self.pending) {
            if let Err(error) = (self.push)(batch.job, batch.counted.clone()).await {
                tracing::warn!(
                    error = format!("{error:#}"),
                    "could not store view counts; the next flush retries"
                );
                self.pending.push(batch);
            }
        }
    }
}

#[derive(Debug, PartialEq)]
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
    use std::sync::atomic::{AtomicBool, Ordering};

    use domain::Time;
    use futures::FutureExt;

    use super::*;

    const NOW: Time = Time::from_millis(1_000_000);

    fn account(seed: u64) -> AccountId {
        AccountId::new(NOW, &Chance::seeded(seed))
    }

    fn host(number: usize) -> Host {
        format!("page-{number}-a1b2").parse().unwrap()
    }

    /// A queue that keeps each job once. While it is deaf, it stores the job and returns an error, like a
    /// queue whose response was lost.
    #[derive(Clone, Default)]
    struct Queue {
        kept: Arc<Mutex<HashMap<JobId, ViewsJob>>>,
        pushes: Arc<Mutex<Vec<JobId>>>,
        is_deaf: Arc<AtomicBool>,
    }

    impl Queue {
        fn delivery<'t>(
            &self,
            tally: &'t Tally,
        ) -> Delivery<'t, impl Fn(JobId, ViewsJob) -> BoxFuture<'static, anyhow::Result<()>> + use<>>
        {
            let queue = self.clone();
            let push = move |job, counted| {
                queue.pushes.lock().unwrap().push(job);
                let before = queue.kept.lock().unwrap().insert(job, counted);
                let after = queue.kept.lock().unwrap().get(&job).cloned();
                assert!(before.is_none() || before == after, "another batch under the same id");
                let is_deaf = queue.is_deaf.load(Ordering::SeqCst);
                async move {
                    anyhow::ensure!(!is_deaf, "no answer");
                    Ok(())
                }
                .boxed()
            };
            Delivery::new(tally, Clock::manual(NOW), Chance::seeded(1), push)
        }

        fn views(&self) -> u64 {
            let kept = self.kept.lock().unwrap();
            kept.values().flat_map(|counted| &counted.views).map(|view| view.count).sum()
        }
    }

    #[test]
    fn views_are_counted_by_host_and_taken_once() {
        let tally = Tally::default();
        for number in [1, 2, 1, 1] {
            tally.count(account(1), &host(number));
        }
        let mut views = tally.drain();
        views.sort_by_key(|view| view.count);
        let counts: Vec<_> = views.into_iter().map(|view| (view.host, view.count)).collect();
        assert_eq!(counts, [(host(2), 1), (host(1), 3)]);
        assert!(tally.drain().is_empty());
    }

    #[test]
    fn host_that_changes_accounts_keeps_the_views_of_both() {
        let tally = Tally::default();
        for seed in [1, 2, 2, 1, 1] {
            tally.count(account(seed), &host(1));
        }
        let counts: Vec<_> = tally.drain().into_iter().map(|view| (view.account, view.count)).collect();
        assert_eq!(counts, [(account(1), 3), (account(2), 2)]);
    }

    #[tokio::test]
    async fn failed_push_is_retried_with_the_same_job() {
        let (tally, queue) = (Tally::default(), Queue::default());
        let mut delivery = queue.delivery(&tally);
        queue.is_deaf.store(true, Ordering::SeqCst);
        for _ in 0..5 {
            tally.count(account(1), &host(1));
            assert_eq!(delivery.flush().await, Flushed::InPart);
        }
        assert_eq!(queue.kept.lock().unwrap().len(), 1, "what is counted meanwhile waits");
        queue.is_deaf.store(false, Ordering::SeqCst);
        assert_eq!(delivery.flush().await, Flushed::All);
        assert_eq!(queue.views(), 5, "neither lost nor counted twice");
        let pushes = queue.pushes.lock().unwrap().clone();
        assert!(pushes[..6].iter().all(|job| *job == pushes[0]) && pushes.len() == 7, "{pushes:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn failed_flush_loses_no_views_and_shutdown_flushes_again() {
        let (tally, queue) = (Arc::new(Tally::default()), Queue::default());
        queue.is_deaf.store(true, Ordering::SeqCst);
        tally.count(account(1), &host(1));
        let cancel = CancellationToken::new();
        let running = tokio::spawn({
            let (tally, queue, cancel) = (tally.clone(), queue.clone(), cancel.clone());
            async move { queue.delivery(&tally).run(cancel).await }
        });
        tokio::time::sleep(FLUSH_EVERY * 3).await;
        tally.count(account(1), &host(2));
        cancel.cancel();
        tokio::time::sleep(FLUSH_EVERY * 3).await;
        queue.is_deaf.store(false, Ordering::SeqCst);
        running.await.unwrap();
        assert_eq!(queue.views(), 2);
        assert!(tally.drain().is_empty());
    }

    #[tokio::test]
    async fn views_of_many_hosts_are_sent_in_bounded_batches() {
        let (tally, queue) = (Tally::default(), Queue::default());
        (0..BATCH_HOSTS_MAX + 1).for_each(|number| tally.count(account(1), &host(number)));
        assert_eq!(queue.delivery(&tally).flush().await, Flushed::All);
        let mut sizes: Vec<_> =
            queue.kept.lock().unwrap().values().map(|counted| counted.views.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, BATCH_HOSTS_MAX]);
    }
}
