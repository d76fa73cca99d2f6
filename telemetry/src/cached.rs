//! What was asked for a moment ago and is not asked again: however many probe or scrape, the parts of the house are
//! asked once a second at most, and one asker at a time waits for them.

use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::Instant;

/// An answer and when it was given.
pub(crate) struct CachedReading<T>(Mutex<Option<(Instant, T)>>);

const KEPT_FOR: Duration = Duration::from_secs(1);

impl<T> Default for CachedReading<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: Clone> CachedReading<T> {
    /// What is known, or else what is answered now. Whoever comes meanwhile waits for that answer.
    pub(crate) async fn or_ask(&self, answer: impl Future<Output = T>) -> T {
        let mut kept = self.0.lock().await;
        if let Some((given_at, known)) = &*kept
            && given_at.elapsed() < KEPT_FOR
        {
            return known.clone();
        }
        let answer = answer.await;
        *kept = Some((Instant::now(), answer.clone()));
        answer
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_asked_for_once_a_second_however_many_want_it() {
        let (kept, asked) = (CachedReading::default(), Cell::new(0));
        let ask = || async {
            tokio::time::sleep(Duration::from_millis(300)).await;
            asked.set(asked.get() + 1);
            asked.get()
        };
        let both = tokio::join!(kept.or_ask(ask()), kept.or_ask(ask()));
        assert_eq!(both, (1, 1));
        tokio::time::advance(KEPT_FOR - Duration::from_millis(1)).await;
        assert_eq!(kept.or_ask(ask()).await, 1);
        tokio::time::advance(Duration::from_millis(1)).await;
        assert_eq!(kept.or_ask(ask()).await, 2);
    }
}
