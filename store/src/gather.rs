//! Batches writes: while one commit runs, further items wait for the next one. A commit of sixty items costs
//! about as much as a commit of one. A busy process therefore needs few commits, and an idle one adds no
//! delay, unless the writer lingers.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, oneshot};
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Longer than the database's statement timeout.
const COMMIT_WAIT: Duration = Duration::from_secs(12);

/// How writes are batched.
#[derive(Clone, Copy, Debug)]
pub struct Gathering {
    /// Commits that run at the same time.
    pub at_once: usize,
    /// A batch takes no further item when its weight reaches this.
    pub enough: usize,
    /// How long a batch waits for more items after its first. Zero: it takes only those that already wait.
    pub linger: Duration,
}

/// What a commit did with one of its items.
#[derive(Debug)]
pub enum Gathered<R> {
    Committed(R),
    /// Its account is locked by another transaction, or deleted.
    LeftOut,
}

impl<R> Gathered<R> {
    pub fn of(result: Option<R>) -> Self {
        result.map_or(Self::LeftOut, Self::Committed)
    }
}

/// A handle to a batching writer. The writer stops when its last handle is dropped.
#[derive(Debug)]
pub struct WriteBatch<T, R>(UnboundedSender<WaitingWrite<T, R>>);

#[derive(Debug)]
struct WaitingWrite<T, R> {
    item: T,
    done: oneshot::Sender<R>,
}

impl<T, R> Clone for WriteBatch<T, R> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T: Send + 'static, R: Send + 'static> WriteBatch<T, R> {
    /// `commit` returns a result for each item in order, or `None`.
    pub fn start<C, F>(gathering: Gathering, weight: fn(&T) -> usize, commit: C) -> Self
    where
        C: Fn(Vec<T>) -> F + Clone + Send + 'static,
        F: Future<Output = Vec<Option<R>>> + Send + 'static,
    {
        let (sender, receiver) = unbounded_channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..gathering.at_once {
            tokio::spawn(run(receiver.clone(), gathering, weight, commit.clone()));
        }
        Self(sender)
    }

    /// Waits until an item is committed, possibly together with others. `None` if it was not committed or the
    /// result is unknown: the commit panicked, timed out or rejected the item. The caller then commits it
    /// separately.
    pub async fn commit(&self, item: T) -> Option<R> {
        let (done, result) = oneshot::channel();
        self.0.send(WaitingWrite { item, done }).ok()?;
        result.await.ok()
    }
}

impl<T: Clone + Send + 'static, R: Send + 'static> WriteBatch<T, Gathered<R>> {
    /// Commits an item together with others. An item that is left out joins a later commit, after each of
    /// these times. `None`: the caller commits it separately.
    pub async fn commit_with_retries(&self, item: T, retries: &[Duration]) -> Option<R> {
        let mut retries = retries.iter();
        loop {
            match self.commit(item.clone()).await? {
                Gathered::Committed(result) => return Some(result),
                Gathered::LeftOut => sleep(*retries.next()?).await,
            }
        }
    }
}

async fn run<T, R, C, F>(
    receiver: Arc<Mutex<UnboundedReceiver<WaitingWrite<T, R>>>>,
    gathering: Gathering,
    weight: fn(&T) -> usize,
    commit: C,
) where
    C: Fn(Vec<T>) -> F,
    F: Future<Output = Vec<Option<R>>>,
{
    loop {
        let batch = gather(&mut *receiver.lock().await, gathering, weight).await;
        if batch.is_empty() {
            return;
        }
        let (items, senders): (Vec<T>, Vec<_>) =
            batch.into_iter().map(|waiting| (waiting.item, waiting.done)).unzip();
        // A panic or an unresponsive database fails only the items of this batch.
        let committing = AssertUnwindSafe(commit(items)).catch_unwind();
        let results = timeout(COMMIT_WAIT, committing).await.unwrap_or(Ok(Vec::new())).unwrap_or_default();
        for (done, result) in senders.into_iter().zip(results) {
            if let Some(result) = result {
                // A caller that has stopped waiting reads the result from the database.
                let _ = done.send(result);
            }
        }
    }
}

/// Waits for an item and takes those that are queued behind it, or arrive while it lingers. Empty if the
/// queue is closed.
async fn gather<T, R>(
    receiver: &mut UnboundedReceiver<WaitingWrite<T, R>>,
    gathering: Gathering,
    weight: fn(&T) -> usize,
) -> Vec<WaitingWrite<T, R>> {
    let mut batch: Vec<WaitingWrite<T, R>> = receiver.recv().await.into_iter().collect();
    if batch.is_empty() {
        return batch;
    }
    let mut weighed: usize = batch.iter().map(|waiting| weight(&waiting.item)).sum();
    let end = Instant::now() + gathering.linger;
    while weighed < gathering.enough {
        let next = match receiver.try_recv() {
            Ok(next) => Some(next),
            Err(_) if gathering.linger.is_zero() => None,
            Err(_) => timeout_at(end, receiver.recv()).await.ok().flatten(),
        };
        let Some(waiting) = next else { break };
        weighed += weight(&waiting.item);
        batch.push(waiting);
    }
    batch
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;

    use super::*;

    fn one_by_one(linger: Duration) -> Gathering {
        Gathering { at_once: 1, enough: 4, linger }
    }

    #[tokio::test(start_paused = true)]
    async fn items_that_arrive_while_a_batch_lingers_join_it_until_it_has_enough() {
        let linger = Duration::from_millis(10);
        let writer = WriteBatch::start(
            one_by_one(linger),
            |_| 1,
            |items: Vec<u64>| async move {
                let size = items.len();
                items.into_iter().map(|_| Some(size)).collect()
            },
        );
        let later = |item: u64| {
            let writer = writer.clone();
            async move {
                tokio::time::sleep(Duration::from_millis(item)).await;
                writer.commit(item).await
            }
        };
        assert_eq!(join_all([0, 4, 8, 12].map(later)).await, [3, 3, 3, 1].map(Some));
        let started = Instant::now();
        assert_eq!(join_all([0, 1, 2, 3].map(later)).await, [4; 4].map(Some));
        assert_eq!(started.elapsed().as_millis(), 3, "a full batch does not linger");
    }

    #[tokio::test]
    async fn items_that_arrive_during_a_commit_are_batched_and_get_their_own_results() {
        let commits = Arc::new(AtomicUsize::new(0));
        let counted = commits.clone();
        let writer = WriteBatch::start(
            one_by_one(Duration::ZERO),
            |_| 1,
            move |items: Vec<u32>| {
                counted.fetch_add(1, Ordering::Relaxed);
                async move {
                    tokio::task::yield_now().await;
                    items.iter().map(|item| Some(item * 10)).collect()
                }
            },
        );
        let results = join_all((0..9).map(|item| writer.commit(item))).await;
        assert_eq!(results, (0..9).map(|item| Some(item * 10)).collect::<Vec<_>>());
        assert_eq!(commits.load(Ordering::Relaxed), 3, "four, four and one");
    }

    #[tokio::test]
    async fn panic_fails_only_the_items_of_its_batch() {
        let writer = WriteBatch::<u32, u32>::start(
            one_by_one(Duration::ZERO),
            |_| 1,
            |items: Vec<u32>| async move {
                assert!(!items.contains(&1), "one is too few");
                items.into_iter().map(Some).collect()
            },
        );
        assert_eq!(writer.commit(1).await, None);
        assert_eq!(writer.commit(2).await, Some(2));
    }
}
