//! Batches reads: while one query runs, further reads wait for the next one. A query of a hundred keys costs
//! little more than a query of one. A query also lets other ready tasks run once before it starts, so that they
//! can join it. An idle process adds no delay.
//!
//! A query starts only after all of its reads were requested, so that no read returns a state from before its
//! request.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;
use tokio::task::yield_now;
use tokio::time::timeout;

/// The largest number of keys in a query.
const KEYS_MAX: usize = 256;
/// If a query takes longer, the next one starts beside it. The connection of the first one may be broken
/// while others work.
const ALONE_MAX: Duration = Duration::from_millis(50);

/// A handle to a batching reader. The reader stops when its last handle is dropped.
#[derive(Debug)]
pub(crate) struct ReadBatch<K, V>(UnboundedSender<WaitingRead<K, V>>);

#[derive(Debug)]
struct WaitingRead<K, V> {
    key: K,
    done: oneshot::Sender<Result<V, SharedError>>,
}

/// The error of a query, which each of its reads returns.
#[derive(Clone, Debug)]
struct SharedError(Arc<anyhow::Error>);

impl<K, V> Clone for ReadBatch<K, V> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K, V> ReadBatch<K, V>
where
    K: Send + 'static,
    V: Send + 'static,
{
    /// `query` returns a value for each key, in their order.
    pub(crate) fn start<Q, F>(query: Q) -> Self
    where
        Q: Fn(Arc<[K]>) -> F + Send + 'static,
        F: Future<Output = anyhow::Result<Vec<V>>> + Send + 'static,
        K: Sync,
    {
        let (sender, receiver) = unbounded_channel();
        tokio::spawn(run(receiver, query));
        Self(sender)
    }

    /// Reads one key, possibly together with others. A query that all of its readers have given up is
    /// cancelled.
    pub(crate) async fn read(&self, key: K) -> anyhow::Result<V> {
        let (done, result) = oneshot::channel();
        self.0.send(WaitingRead { key, done }).ok().context("the batching reader has stopped")?;
        Ok(result.await.context("a batched query has panicked")??)
    }
}

async fn run<K, V, Q, F>(mut receiver: UnboundedReceiver<WaitingRead<K, V>>, query: Q)
where
    K: Send + Sync + 'static,
    V: Send + 'static,
    Q: Fn(Arc<[K]>) -> F,
    F: Future<Output = anyhow::Result<Vec<V>>> + Send + 'static,
{
    let mut batch = Vec::new();
    while let Some(first) = receiver.recv().await {
        // Other tasks that are ready to run may request reads, too.
        yield_now().await;
        batch.push(first);
        while batch.len() < KEYS_MAX
            && let Ok(waiting) = receiver.try_recv()
        {
            batch.push(waiting);
        }
        let wanted = batch.drain(..).filter(|waiting| !waiting.done.is_closed());
        let (keys, senders): (Vec<K>, Vec<_>) = wanted.map(|waiting| (waiting.key, waiting.done)).unzip();
        if keys.is_empty() {
            continue;
        }
        // In a task of its own, so that a panic fails only the reads of this query.
        let mut answering = tokio::spawn(answer(query(keys.into()), senders));
        let _ = timeout(ALONE_MAX, &mut answering).await;
    }
}

async fn answer<V>(
    query: impl Future<Output = anyhow::Result<Vec<V>>>,
    mut senders: Vec<oneshot::Sender<Result<V, SharedError>>>,
) {
    let found = tokio::select! {
        found = query => found,
        () = all_closed(&mut senders) => return,
    };
    match found {
        Ok(values) => {
            for (done, value) in senders.into_iter().zip(values) {
                // A reader that has given up needs no value.
                let _ = done.send(Ok(value));
            }
        }
        Err(error) => {
            let error = SharedError(Arc::new(error));
            for done in senders {
                let _ = done.send(Err(error.clone()));
            }
        }
    }
}

/// Waits until no reader wants a result any more.
async fn all_closed<T>(senders: &mut [oneshot::Sender<T>]) {
    for done in senders {
        done.closed().await;
    }
}

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("read together with others")
    }
}

impl Error for SharedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        let cause: &(dyn Error + Send + Sync + 'static) = (*self.0).as_ref();
        Some(cause)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures::future::{join_all, pending};
    use tokio::sync::Semaphore;
    use tokio::time::{Instant, sleep};

    use super::*;

    /// Counts the keys of each query.
    type Log = Arc<Mutex<Vec<usize>>>;

    /// A reader whose queries each wait for a permit.
    fn reader(log: &Log, permits: &Arc<Semaphore>) -> ReadBatch<u32, u32> {
        let (log, permits) = (log.clone(), permits.clone());
        ReadBatch::start(move |keys: Arc<[u32]>| {
            log.lock().unwrap().push(keys.len());
            let permits = permits.clone();
            async move {
                permits.acquire().await?.forget();
                anyhow::ensure!(!keys.contains(&13), "unlucky");
                Ok(keys.iter().map(|key| key * 10).collect())
            }
        })
    }

    #[tokio::test]
    async fn reads_that_arrive_during_a_query_share_the_next_one_and_get_their_own_values() {
        let (log, permits) = (Log::default(), Arc::new(Semaphore::new(0)));
        let reader = reader(&log, &permits);
        let first = tokio::spawn({
            let reader = reader.clone();
            async move { reader.read(0).await.unwrap() }
        });
        while log.lock().unwrap().is_empty() {
            tokio::task::yield_now().await;
        }
        let mut others = Box::pin(join_all((101..=200).map(|key| reader.read(key))));
        assert!(futures::poll!(&mut others).is_pending());
        permits.add_permits(2);
        assert_eq!(first.await.unwrap(), 0);
        let values: Vec<u32> = others.await.into_iter().map(Result::unwrap).collect();
        assert_eq!(values, (101..=200).map(|key| key * 10).collect::<Vec<_>>());
        assert_eq!(*log.lock().unwrap(), [1, 100]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn reads_of_tasks_that_are_ready_to_run_share_a_query() {
        let (log, permits) = (Log::default(), Arc::new(Semaphore::new(100)));
        let reader = reader(&log, &permits);
        let read = |key: u32| {
            let reader = reader.clone();
            async move { reader.read(key).await.unwrap() }
        };
        // Within one task of the runtime, so that it runs none of them before all are ready.
        let reading = tokio::spawn(join_all((101..=200).map(read).map(tokio::spawn))).await.unwrap();
        assert_eq!(reading.len(), 100);
        assert!(log.lock().unwrap().len() < 10, "{:?}", log.lock().unwrap());
    }

    #[tokio::test]
    async fn a_query_has_a_limited_number_of_keys() {
        let (log, permits) = (Log::default(), Arc::new(Semaphore::new(9)));
        let reader = reader(&log, &permits);
        join_all((100..700).map(|key| reader.read(key))).await;
        assert_eq!(*log.lock().unwrap(), [256, 256, 88]);
    }

    #[tokio::test]
    async fn every_read_of_a_failed_query_gets_its_error_and_later_reads_do_not() {
        let (log, permits) = (Log::default(), Arc::new(Semaphore::new(9)));
        let reader = reader(&log, &permits);
        let failed = join_all([12, 13, 14].map(|key| reader.read(key))).await;
        for error in failed.into_iter().map(Result::unwrap_err) {
            assert!(format!("{error:#}").contains("unlucky"), "{error:#}");
        }
        assert_eq!(reader.read(12).await.unwrap(), 120);
    }

    #[tokio::test]
    async fn panic_fails_only_the_reads_of_its_query() {
        let reader = ReadBatch::start(|keys: Arc<[u32]>| async move {
            assert!(!keys.contains(&13), "unlucky");
            Ok(keys.to_vec())
        });
        assert!(reader.read(13).await.is_err());
        assert_eq!(reader.read(14).await.unwrap(), 14);
    }

    #[tokio::test(start_paused = true)]
    async fn a_query_that_hangs_does_not_block_later_ones_and_ends_with_its_last_reader() {
        /// Counts the queries in progress.
        struct Running(Arc<AtomicUsize>);
        impl Drop for Running {
            fn drop(&mut self) {
                self.0.fetch_sub(1, Ordering::SeqCst);
            }
        }
        let running = Arc::<AtomicUsize>::default();
        let counted = running.clone();
        let reader = ReadBatch::start(move |keys: Arc<[u32]>| {
            counted.fetch_add(1, Ordering::SeqCst);
            let running = Running(counted.clone());
            async move {
                if keys.contains(&13) {
                    pending::<()>().await;
                }
                drop(running);
                Ok(keys.to_vec())
            }
        });
        let since = Instant::now();
        let mut stuck: Vec<_> = [13, 13].map(|key| Box::pin(reader.read(key))).into();
        assert!(stuck.iter_mut().all(|read| futures::FutureExt::now_or_never(read).is_none()));
        sleep(Duration::from_millis(1)).await;
        assert_eq!(reader.read(14).await.unwrap(), 14);
        assert!(since.elapsed() < 2 * ALONE_MAX);
        for still_running in [1, 0] {
            stuck.pop();
            sleep(Duration::from_millis(1)).await;
            assert_eq!(running.load(Ordering::SeqCst), still_running);
        }
    }
}
