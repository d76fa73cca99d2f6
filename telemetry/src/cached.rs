//! Caches a reading for a second: however many clients probe or scrape, it is made at most once a second, and
//! by one client at a time.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// A reading and when it was made.
pub(crate) struct CachedReading<T>(Mutex<Option<(Instant, T)>>);

const KEPT_FOR: Duration = Duration::from_secs(1);

impl<T> Default for CachedReading<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> CachedReading<T> {
    /// Returns the cached reading, or else makes one. Concurrent callers wait for it.
    pub(crate) async fn get_or_read(&self, read: impl Future<Output = T>) -> T {
        let mut cached = self.0.lock().await;
        if let Some((read_at, known)) = &*cached
            && read_at.elapsed() < KEPT_FOR
        {
            return known.clone();
        }
        let reading = read.await;
        *cached = Some((Instant::now(), reading.clone()));
        reading
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn cached_value_is_refreshed_at_most_once_a_second() {
        let (cached, reads) = (CachedReading::default(), Cell::new(0));
        let read = || async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            reads.set(reads.get() + 1);
            reads.get()
        };
        let both = tokio::join!(cached.get_or_read(read()), cached.get_or_read(read()));
        assert_eq!(both, (1, 1));
        tokio::time::advance(KEPT_FOR - Duration::from_millis(1)).await;
        assert_eq!(cached.get_or_read(read()).await, 1);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(cached.get_or_read(read()).await, 2);
    }
}
