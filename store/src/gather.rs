//! What many want to have written, gathered: while one commit runs, whatever else is to be committed waits for the next.
//! A commit costs about as much for sixty things as for one, so a busy process pays for few, and an idle one waits for
//! nothing.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Mutex, oneshot};
use tokio::time::timeout;

/// Longer than the database lets any of its statements take.
const COMMIT_WAIT: Duration = Duration::from_secs(12);

/// The way to commits that take as much as there is. They end when the last of these is gone.
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
    /// Makes `at_once` commits at a time. One takes no further item when those that it has weigh `enough`; `commit`
    /// answers each of them, in their order, or none.
    pub fn start<C, F>(at_once: usize, enough: usize, weight: fn(&T) -> usize, commit: C) -> Self
    where
        C: Fn(Vec<T>) -> F + Clone + Send + 'static,
        F: Future<Output = Vec<Option<R>>> + Send + 'static,
    {
        let (sender, receiver) = unbounded_channel();
        let receiver = Arc::new(Mutex::new(receiver));
        for _ in 0..at_once {
            tokio::spawn(work(receiver.clone(), enough, weight, commit.clone()));
        }
        Self(sender)
    }

    /// Waits until an item is committed, perhaps together with others. None says that it was not, or that nobody knows: its
    /// commit panicked, or took too long, or would not have it. Then it is to be committed by itself.
    pub async fn commit(&self, item: T) -> Option<R> {
        let (done, answer) = oneshot::channel();
        self.0.send(WaitingWrite { item, done }).ok()?;
        answer.await.ok()
    }
}

async fn work<T, R, C, F>(
    receiver: Arc<Mutex<UnboundedReceiver<WaitingWrite<T, R>>>>,
    enough: usize,
    weight: fn(&T) -> usize,
    commit: C,
) where
    C: Fn(Vec<T>) -> F,
    F: Future<Output = Vec<Option<R>>>,
{
    loop {
        let gathered = gather(&mut *receiver.lock().await, enough, weight).await;
        if gathered.is_empty() {
            return;
        }
        let (items, askers): (Vec<T>, Vec<_>) =
            gathered.into_iter().map(|waiting| (waiting.item, waiting.done)).unzip();
        // A panic or a silent database is for those alone who were part of it; the next come to be committed.
        let committing = AssertUnwindSafe(commit(items)).catch_unwind();
        let answers = timeout(COMMIT_WAIT, committing).await.unwrap_or(Ok(Vec::new())).unwrap_or_default();
        for (done, answer) in askers.into_iter().zip(answers) {
            if let Some(answer) = answer {
                // Whoever stopped waiting finds in the database what became of it.
                let _ = done.send(answer);
            }
        }
    }
}

/// Waits for an item and takes what waits with it; nothing when no more can come.
async fn gather<T, R>(
    receiver: &mut UnboundedReceiver<WaitingWrite<T, R>>,
    enough: usize,
    weight: fn(&T) -> usize,
) -> Vec<WaitingWrite<T, R>> {
    let mut gathered: Vec<WaitingWrite<T, R>> = receiver.recv().await.into_iter().collect();
    let mut weighed: usize = gathered.iter().map(|waiting| weight(&waiting.item)).sum();
    while weighed < enough
        && let Ok(waiting) = receiver.try_recv()
    {
        weighed += weight(&waiting.item);
        gathered.push(waiting);
    }
    gathered
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::join_all;

    use super::*;

    #[tokio::test]
    async fn what_comes_while_a_commit_runs_is_committed_together_and_each_hears_its_own() {
        let commits = Arc::new(AtomicUsize::new(0));
        let counted = commits.clone();
        let gathered = WriteBatch::start(
            1,
            4,
            |_| 1,
            move |items: Vec<u32>| {
                counted.fetch_add(1, Ordering::Relaxed);
                async move {
                    tokio::task::yield_now().await;
                    items.iter().map(|item| Some(item * 10)).collect()
                }
            },
        );
        let answers = join_all((0..9).map(|item| gathered.commit(item))).await;
        assert_eq!(answers, (0..9).map(|item| Some(item * 10)).collect::<Vec<_>>());
        assert_eq!(commits.load(Ordering::Relaxed), 3, "four, four and one");
    }

    #[tokio::test]
    async fn a_panic_is_heard_by_those_who_were_part_of_it_and_by_nobody_after() {
        let gathered = WriteBatch::<u32, u32>::start(
            1,
            4,
            |_| 1,
            |items: Vec<u32>| async move {
                assert!(!items.contains(&1), "one is too few");
                items.into_iter().map(Some).collect()
            },
        );
        assert_eq!(gathered.commit(1).await, None);
        assert_eq!(gathered.commit(2).await, Some(2));
    }
}
