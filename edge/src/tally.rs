//! Counts views of HTML documents in memory and hands them over in batches.
//!
//! Nothing is lost while the process runs, and nothing is billed twice. A batch whose push failed may have
//! been stored nevertheless, so the same batch is pushed again under its own job id. Its views must never be
//! counted again in another batch.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use domain::{AccountId, Chance, Clock, Host, JobId, ViewCount, ViewsJob};
use futures::future::BoxFuture;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

/// Views must show in the usage within a second.
const FLUSH_EVERY: Duration = Duration::from_millis(500);
/// The time after a flush of more pages than fit into one batch. Each page costs a row, however often it was
/// viewed, so that fewer flushes write fewer rows.
const FLUSH_MANY_EVERY: Duration = Duration::from_millis(750);
/// The largest number of hosts in a batch. While a batch is written, publishes of its accounts wait.
const BATCH_HOSTS_MAX: usize = 1000;
/// Attempts of the last flush, because no later one follows.
const LAST_FLUSHES_MAX: usize = 12;

/// The counters of pages that were viewed since the last flush.
#[derive(Default)]
pub struct Tally {
    viewed: Mutex<Vec<Arc<ViewCounter>>>,
}

/// Counts the views of one reading of a page's route. The `Site` holds it, so that a view needs no lookup.
/// Another reading has a counter of its own.
pub struct ViewCounter {
    account: AccountId,
    host: Host,
    /// Views since the last flush. The counter is in the tally's list while this is not zero.
    count: AtomicU64,
}

/// Hands over the counted views.
pub struct Delivery<'t, F> {
    tally: &'t Tally,
    clock: Clock,
    chance: Chance,
    push: F,
    /// Views that are in no batch yet. The number of pages is their bound.
    counted: BTreeMap<(AccountId, Host), u64>,
    /// Batches that may not be stored yet. There are no others until all of them are.
    pending: Vec<Batch>,
    /// The time from one flush to the next.
    interval: Duration,
}

#[derive(Clone)]
struct Batch {
    job: JobId,
    counted: ViewsJob,
}

impl Tally {
    pub fn count(&self, counter: &Arc<ViewCounter>) {
        if counter.count.fetch_add(1, Ordering::Relaxed) == 0 {
            self.viewed.lock().unwrap_or_else(PoisonError::into_inner).push(counter.clone());
        }
    }

    /// Removes and returns everything that was counted. A page that was read again meanwhile is there several
    /// times.
    pub fn drain(&self) -> Vec<ViewCount> {
        let viewed = take(&mut *self.viewed.lock().unwrap_or_else(PoisonError::into_inner));
        viewed.iter().map(|counter| counter.take()).collect()
    }
}

impl ViewCounter {
    pub fn new(account: AccountId, host: Host) -> Arc<Self> {
        Arc::new(Self { account, host, count: AtomicU64::new(0) })
    }

    fn take(&self) -> ViewCount {
        let count = self.count.swap(0, Ordering::Relaxed);
        ViewCount { account: self.account, host: self.host.clone(), count }
    }
}

impl<'t, F> Delivery<'t, F>
where
    F: Fn(JobId, ViewsJob) -> BoxFuture<'static, anyhow::Result<()>>,
{
    /// `push` stores a batch as a job with this id, idempotently.
    pub fn new(tally: &'t Tally, clock: Clock, chance: Chance, push: F) -> Self {
        Self {
            tally,
            clock,
            chance,
            push,
            counted: BTreeMap::new(),
            pending: Vec::new(),
            interval: FLUSH_EVERY,
        }
    }

    /// Flushes until cancelled, and then until nothing is left.
    pub async fn run(mut self, cancel: CancellationToken) {
        let mut next = Instant::now();
        while cancel.run_until_cancelled(sleep_until(next)).await.is_some() {
            let begun = Instant::now();
            self.flush().await;
            next = begun + self.interval;
        }
        for _ in 0..LAST_FLUSHES_MAX {
            if self.flush().await == Flushed::All {
                return;
            }
            tokio::time::sleep(FLUSH_EVERY).await;
        }
        let pending = self.pending.iter().flat_map(|batch| &batch.counted.views).map(|view| view.count);
        let lost = pending.chain(self.counted.values().copied()).sum::<u64>();
        tracing::error!(views.lost = lost, "view counts were lost at shutdown");
    }

    async fn flush(&mut self) -> Flushed {
        self.gather();
        self.push_pending().await;
        if self.pending.is_empty() {
            self.seal();
            self.push_pending().await;
        }
        if self.pending.is_empty() { Flushed::All } else { Flushed::InPart }
    }

    /// Takes what was counted, even while batches are pending.
    fn gather(&mut self) {
        for ViewCount { account, host, count } in self.tally.drain() {
            *self.counted.entry((account, host)).or_default() += count;
        }
    }

    /// Moves the counted views into batches, in the order of accounts and hosts. Rows of one account are
    /// stored together, so that a batch writes few pages of the database and locks few accounts.
    fn seal(&mut self) {
        let now = self.clock.now();
        let views = take(&mut self.counted).into_iter();
        let views: Vec<_> =
            views.map(|((account, host), count)| ViewCount { account, host, count }).collect();
        for views in views.chunks(BATCH_HOSTS_MAX) {
            let counted = ViewsJob { counted_at: now, views: views.to_vec() };
            self.pending.push(Batch { job: JobId::new(now, &self.chance), counted });
        }
        self.interval = if self.pending.len() > 1 { FLUSH_MANY_EVERY } else { FLUSH_EVERY };
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

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::sync::atomic::AtomicBool;

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

    fn page(number: usize) -> Arc<ViewCounter> {
        ViewCounter::new(account(1), host(number))
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
        let (tally, first, second) = (Tally::default(), page(1), page(2));
        for counter in [&first, &second, &second, &second] {
            tally.count(counter);
        }
        let counts: Vec<_> = tally.drain().into_iter().map(|view| (view.host, view.count)).collect();
        assert_eq!(counts, [(host(1), 1), (host(2), 3)]);
        assert!(tally.drain().is_empty());
        tally.count(&first);
        assert_eq!(tally.drain().len(), 1, "a counter works again after it was taken");
    }

    #[tokio::test]
    async fn readings_of_a_page_are_added_and_accounts_that_had_its_host_are_not() {
        let (tally, queue) = (Tally::default(), Queue::default());
        for seed in [2, 1, 2, 1, 1] {
            tally.count(&ViewCounter::new(account(seed), host(1)));
        }
        assert_eq!(queue.delivery(&tally).flush().await, Flushed::All);
        let kept = queue.kept.lock().unwrap();
        let views = kept.values().flat_map(|counted| &counted.views);
        let counts: Vec<_> = views.map(|view| (view.account, view.count)).collect();
        assert_eq!(counts, [(account(1), 3), (account(2), 2)]);
    }

    #[test]
    fn no_view_is_lost_or_counted_twice_while_others_are_taken() {
        const VIEWS: u64 = 100_000;
        let (tally, counter) = (Tally::default(), page(1));
        let taken = || tally.drain().iter().map(|view| view.count).sum::<u64>();
        let mut sum = std::thread::scope(|scope| {
            let counting = scope.spawn(|| (0..VIEWS).for_each(|_| tally.count(&counter)));
            let mut sum = 0;
            while !counting.is_finished() {
                sum += taken();
            }
            sum
        });
        sum += taken();
        assert_eq!(sum, VIEWS);
    }

    #[tokio::test]
    async fn failed_push_is_retried_with_the_same_job() {
        let (tally, queue) = (Tally::default(), Queue::default());
        let mut delivery = queue.delivery(&tally);
        queue.is_deaf.store(true, Ordering::SeqCst);
        for _ in 0..5 {
            tally.count(&page(1));
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
        tally.count(&page(1));
        let cancel = CancellationToken::new();
        let running = tokio::spawn({
            let (tally, queue, cancel) = (tally.clone(), queue.clone(), cancel.clone());
            async move { queue.delivery(&tally).run(cancel).await }
        });
        tokio::time::sleep(FLUSH_EVERY * 3).await;
        tally.count(&page(2));
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
        (0..BATCH_HOSTS_MAX + 1).for_each(|number| tally.count(&page(number)));
        assert_eq!(queue.delivery(&tally).flush().await, Flushed::All);
        let mut sizes: Vec<_> =
            queue.kept.lock().unwrap().values().map(|counted| counted.views.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, BATCH_HOSTS_MAX]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_flush_of_many_pages_is_followed_by_a_longer_interval() {
        for (pages, interval) in [(BATCH_HOSTS_MAX, FLUSH_EVERY), (BATCH_HOSTS_MAX + 1, FLUSH_MANY_EVERY)] {
            let (tally, queue) = (Arc::new(Tally::default()), Queue::default());
            let count = || (0..pages).for_each(|number| tally.count(&page(number)));
            count();
            let cancel = CancellationToken::new();
            let _stop = cancel.clone().drop_guard();
            tokio::spawn({
                let (tally, queue) = (tally.clone(), queue.clone());
                async move { queue.delivery(&tally).run(cancel).await }
            });
            tokio::time::sleep(Duration::from_millis(1)).await;
            count();
            tokio::time::sleep(interval - Duration::from_millis(2)).await;
            assert_eq!(queue.views(), pages as u64);
            tokio::time::sleep(Duration::from_millis(2)).await;
            assert_eq!(queue.views(), 2 * pages as u64);
        }
    }
}
