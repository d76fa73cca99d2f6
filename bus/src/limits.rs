//! Rate limits: fixed windows of a minute that begin with the first take.
//!
//! Redis keeps the counters that processes share; a bounded map keeps them where there is no Redis or while it is
//! away. Both keep the same two facts of a window and both are judged by [`Window::verdict`].

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use domain::Time;

use crate::wire::Wire;

const WINDOW: Duration = Duration::from_secs(60);
/// Redis forgets a window by its own clock, well after it has ended by ours.
const FORGET_AFTER: Duration = Duration::from_secs(300);
/// Windows that this process counts by itself.
const LOCAL_WINDOWS_MAX: usize = 100_000;

/// Counts one take and answers when the window began and how many were taken in it.
const TAKE: &str = r"
local kept = redis.call('HMGET', KEYS[1], 'began', 'taken')
local now, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local began = tonumber(kept[1] or nil)
if not began or now - began >= window then
  began = now
  redis.call('HSET', KEYS[1], 'began', ARGV[1], 'taken', 0)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return {began, redis.call('HINCRBY', KEYS[1], 'taken', 1)}
";

/// So many a minute for each key under a name: `signup` by address, `login` by username.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub name: &'static str,
    pub key: String,
    pub per_minute: u32,
}

/// Refused for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter {
    /// At least 1.
    pub seconds: u64,
}

#[derive(Clone, Copy)]
struct Window {
    began: Time,
    taken: u64,
}

impl Window {
    fn has_ended(&self, now: Time) -> bool {
        now.since(self.began) >= WINDOW
    }

    /// Whether the latest take of this window was still within the limit.
    fn verdict(&self, limit: &RateLimit, now: Time) -> Result<(), RetryAfter> {
        if self.taken <= u64::from(limit.per_minute) {
            return Ok(());
        }
        let left = WINDOW.saturating_sub(now.since(self.began));
        Err(RetryAfter { seconds: u64::try_from(left.as_millis().div_ceil(1000)).unwrap_or(1).max(1) })
    }
}

pub(crate) async fn take_shared(
    wire: &Wire,
    limit: &RateLimit,
    now: Time,
) -> anyhow::Result<Result<(), RetryAfter>> {
    let script = redis::Script::new(TAKE);
    let mut call = script.key(wire.names().limit(limit.name, &limit.key));
    call.arg(now.millis()).arg(WINDOW.as_millis() as u64).arg(FORGET_AFTER.as_millis() as u64);
    let (began, taken): (i64, u64) = wire.run(&call).await?;
    Ok(Window { began: Time::from_millis(began), taken }.verdict(limit, now))
}

#[derive(Default)]
pub(crate) struct LocalCounters {
    windows: Mutex<HashMap<(&'static str, String), Window>>,
}

impl LocalCounters {
    pub(crate) fn take(&self, limit: &RateLimit, now: Time) -> Result<(), RetryAfter> {
        let mut windows = self.windows.lock().unwrap_or_else(PoisonError::into_inner);
        if windows.len() >= LOCAL_WINDOWS_MAX {
            make_room(&mut windows, now);
        }
        let fresh = Window { began: now, taken: 0 };
        let window = windows.entry((limit.name, limit.key.clone())).or_insert(fresh);
        if window.has_ended(now) {
            *window = fresh;
        }
        window.taken += 1;
        window.verdict(limit, now)
    }
}

fn make_room<K>(windows: &mut HashMap<K, Window>, now: Time) {
    windows.retain(|_, window| !window.has_ended(now));
    if windows.len() >= LOCAL_WINDOWS_MAX {
        // A flood of keys within a minute: to forget all of them once is cheap, to look through them at every take
        // is not.
        windows.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limit(key: &str) -> RateLimit {
        RateLimit { name: "signup", key: key.to_owned(), per_minute: 10 }
    }

    #[test]
    fn the_eleventh_of_ten_waits_for_the_end_of_the_window() {
        let (counters, start) = (LocalCounters::default(), Time::from_millis(1_000_000));
        for _ in 0..10 {
            assert_eq!(counters.take(&limit("a"), start), Ok(()));
        }
        let later = start.plus(Duration::from_millis(20_500));
        assert_eq!(counters.take(&limit("a"), later), Err(RetryAfter { seconds: 40 }));
        let last = start.plus(Duration::from_millis(59_999));
        assert_eq!(counters.take(&limit("a"), last), Err(RetryAfter { seconds: 1 }));
        assert_eq!(counters.take(&limit("b"), last), Ok(()), "another key has its own window");
        assert_eq!(counters.take(&limit("a"), start.plus(WINDOW)), Ok(()));
    }

    #[test]
    fn a_flood_of_keys_stays_within_the_bound() {
        let (counters, start) = (LocalCounters::default(), Time::from_millis(0));
        for key in 0..LOCAL_WINDOWS_MAX + 10 {
            assert_eq!(counters.take(&limit(&key.to_string()), start), Ok(()));
        }
        assert!(counters.windows.lock().unwrap().len() <= LOCAL_WINDOWS_MAX);
    }

    #[test]
    fn windows_that_ended_make_room_and_living_ones_stay() {
        let (counters, start) = (LocalCounters::default(), Time::from_millis(0));
        for key in 0..LOCAL_WINDOWS_MAX - 1 {
            let _ = counters.take(&limit(&key.to_string()), start);
        }
        let later = start.plus(WINDOW);
        for _ in 0..10 {
            let _ = counters.take(&limit("living"), later);
        }
        assert_eq!(counters.take(&limit("living"), later), Err(RetryAfter { seconds: 60 }));
        assert_eq!(counters.windows.lock().unwrap().len(), 1);
    }
}
