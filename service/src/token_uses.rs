//! When tokens were last used. Uses are buffered in memory and written about once a second, so that a request
//! costs no write.
//!
//! Nothing waits for this and nothing fails because of it. If a use is lost, a list shows an older time.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::{Time, TokenId};
use store::TokenUse;
use tokio::time::MissedTickBehavior;

use crate::Service;

/// A use is recorded if the stored one is older than this.
const NOTED_EVERY: Duration = Duration::from_secs(60);
const FLUSHED_EVERY: Duration = Duration::from_secs(1);
/// Tokens with a use that is not yet written. Beyond this, uses are dropped until the next flush.
const WAITING_MAX: usize = 100_000;
/// Tokens in one transaction.
const WRITTEN_AT_ONCE: usize = 500;

/// The uses that are not yet written.
#[derive(Debug, Default)]
pub struct TokenUses(Mutex<HashMap<TokenId, TokenUse>>);

impl TokenUses {
    /// Records a use of a token whose last use in the database is `written`.
    pub(crate) fn note(&self, used: TokenUse, written: Option<Time>) {
        if written.is_some_and(|written| used.at.since(written) < NOTED_EVERY) {
            return;
        }
        let mut waiting = self.lock();
        if waiting.len() < WAITING_MAX || waiting.contains_key(&used.token) {
            waiting.insert(used.token, used);
        }
    }

    /// Takes all buffered uses, in the order of the tokens, so that two processes write in the same order.
    fn drain(&self) -> Vec<TokenUse> {
        let waiting = std::mem::take(&mut *self.lock());
        let mut uses: Vec<_> = waiting.into_values().collect();
        uses.sort_unstable_by_key(|used| used.token);
        uses
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TokenId, TokenUse>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Service {
    /// Writes the uses of tokens about once a second until `stop`, and then once more.
    pub async fn run_token_uses(&self, stop: impl Future<Output = ()>) {
        let mut ticks = tokio::time::interval(FLUSHED_EVERY);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        tokio::pin!(stop);
        loop {
            tokio::select! {
                () = &mut stop => break,
                _ = ticks.tick() => self.flush_token_uses().await,
            }
        }
        self.flush_token_uses().await;
    }

    /// Writes the buffered uses of this process.
    pub(crate) async fn flush_token_uses(&self) {
        for uses in self.0.token_uses.drain().chunks(WRITTEN_AT_ONCE) {
            if let Err(error) = self.0.store.tokens().record_uses(uses).await {
                tracing::warn!(error = format!("{error:#}"), "the last use of tokens could not be written");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use domain::Chance;

    use super::*;

    const NOW: Time = Time::from_millis(1_790_000_000_000);

    fn token(seed: u64) -> TokenId {
        TokenId::new(NOW, &Chance::seeded(seed))
    }

    #[test]
    fn token_use_is_recorded_once_a_minute_and_drained_once() {
        let uses = TokenUses::default();
        let second = NOW.plus(Duration::from_secs(1));
        let of = |token, at| TokenUse { token, at, from: None };
        uses.note(of(token(1), NOW), None);
        uses.note(of(token(1), second), None);
        uses.note(of(token(2), second), Some(NOW));
        uses.note(of(token(3), NOW.plus(NOTED_EVERY)), Some(NOW));
        let mut taken: Vec<_> = uses.drain().iter().map(|used| (used.token, used.at)).collect();
        taken.sort_unstable_by_key(|(_, at)| *at);
        assert_eq!(taken, [(token(1), second), (token(3), NOW.plus(NOTED_EVERY))]);
        assert!(uses.drain().is_empty());
    }

    #[test]
    fn number_of_tracked_tokens_is_bounded() {
        let (uses, chance) = (TokenUses::default(), Chance::seeded(4));
        for _ in 0..WAITING_MAX + 10 {
            uses.note(TokenUse { token: TokenId::new(NOW, &chance), at: NOW, from: None }, None);
        }
        assert_eq!(uses.drain().len(), WAITING_MAX);
    }
}
