//! Rate limits: fixed windows that start with the first take, and token buckets.
//!
//! Redis holds the counters that processes share. A bounded local store holds them without Redis or while it
//! is unreachable. Both have the same state and decide by [`Window::verdict`] and [`Bucket::verdict`].

mod local;

use std::net::{IpAddr, Ipv6Addr};
use std::num::NonZeroU32;
use std::time::Duration;

use domain::Time;

use crate::wire::Wire;

pub(crate) use local::LocalCounters;

const MINUTE: Duration = Duration::from_secs(60);
/// Redis deletes a counter by its own clock, this long after it has expired by ours.
const KEPT_LONGER: Duration = Duration::from_secs(240);
/// The prefixes that IPv6 addresses are counted by: the length in bits, and the budget as a multiple of that
/// of a /64. A customer gets at least a /64, often a /56, and a /48 on request.
const IPV6_NETWORKS: [(u32, u32); 3] = [(48, 64), (56, 8), (64, 1)];

/// Returns the start of the window and its number of takes including this one, which is stored only if it is
/// within the limit.
const TAKE_OF_WINDOW: &str = r"
local stored = redis.call('HMGET', KEYS[1], 'began', 'taken')
local now, window = tonumber(ARGV[1]), tonumber(ARGV[2])
local began = tonumber(stored[1] or nil)
if not began or now - began >= window then
  began = now
  redis.call('HSET', KEYS[1], 'began', ARGV[1], 'taken', 0)
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
local taken = redis.call('HGET', KEYS[1], 'taken') + 1
if taken <= tonumber(ARGV[4]) then
  redis.call('HSET', KEYS[1], 'taken', taken)
end
return {began, taken}
";

const GIVE_BACK_TO_WINDOW: &str = r"
if tonumber(redis.call('HGET', KEYS[1], 'taken') or 0) > 0 then
  redis.call('HINCRBY', KEYS[1], 'taken', -1)
end
return 0
";

/// Returns the time at which the bucket would be full again after one take, and stores it only if the take is
/// within the capacity. Mirrors [`Bucket::after_take`]. The number is formatted because Lua prints only 14
/// digits.
const TAKE_OF_BUCKET: &str = r"
local now, interval, capacity = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local full_at = tonumber(redis.call('GET', KEYS[1]) or ARGV[1])
local after = math.min(math.max(full_at, now), now + capacity) + interval
if after <= now + capacity then
  redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', ARGV[4])
end
return after
";

/// How often something may be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// At most so many in each window.
    Window { takes: u32, length: Duration },
    /// At most this many at once. An empty bucket refills evenly in this time.
    Bucket { takes: NonZeroU32, refill: Duration },
}

impl Budget {
    pub fn per_minute(takes: u32) -> Self {
        Budget::Window { takes, length: MINUTE }
    }

    /// A bucket that holds the budget of a minute.
    pub fn minute_bucket(takes: NonZeroU32) -> Self {
        Budget::Bucket { takes, refill: MINUTE }
    }

    fn times(self, factor: u32) -> Self {
        match self {
            Budget::Window { takes, length } => {
                Budget::Window { takes: takes.saturating_mul(factor), length }
            }
            Budget::Bucket { takes, refill } => {
                let factor = NonZeroU32::new(factor).unwrap_or(NonZeroU32::MIN);
                Budget::Bucket { takes: takes.saturating_mul(factor), refill }
            }
        }
    }
}

/// A budget for each key under a name: `signup` by address, `login-username` by username.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateLimit {
    pub name: &'static str,
    pub key: String,
    pub budget: Budget,
}

impl RateLimit {
    /// The limits of an address, widest prefix first, so that a refusal by it leaves no counter for the
    /// narrower ones. An IPv4 address is counted by itself. An IPv6 address is counted by its prefixes,
    /// because a client has at least a whole /64 and may have a /48.
    pub fn of_address(name: &'static str, address: IpAddr, budget: Budget) -> Vec<RateLimit> {
        match address.to_canonical() {
            IpAddr::V4(address) => vec![RateLimit { name, key: address.to_string(), budget }],
            IpAddr::V6(address) => {
                let limit_of = |(bits, factor)| RateLimit {
                    name,
                    key: format!("{}/{bits}", network(address, bits)),
                    budget: budget.times(factor),
                };
                IPV6_NETWORKS.map(limit_of).into()
            }
        }
    }
}

fn network(address: Ipv6Addr, bits: u32) -> Ipv6Addr {
    Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (u128::BITS - bits)))
}

/// The state of a limit after a take that it allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remaining {
    pub takes: u64,
    /// Until the window ends or the bucket is full again.
    pub reset: Duration,
}

/// A limit that refused a take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExceededLimit {
    pub limit: RateLimit,
    pub retry_after: RetryAfter,
}

/// Refused for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter {
    /// At least 1.
    pub seconds: u64,
}

impl RetryAfter {
    fn waiting(wait: Duration) -> Self {
        Self { seconds: whole_seconds(wait).max(1) }
    }
}

/// Rounded up, so that a client that waits for so long does not come too early.
pub fn whole_seconds(wait: Duration) -> u64 {
    u64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u64::MAX)
}

#[derive(Clone, Copy)]
struct Window {
    began: Time,
    taken: u64,
}

impl Window {
    fn after_take(stored: Option<Self>, length: Duration, now: Time) -> Self {
        let current = stored.filter(|window| now.since(window.began) < length);
        let window = current.unwrap_or(Self { began: now, taken: 0 });
        Self { taken: window.taken.saturating_add(1), ..window }
    }

    /// Whether the latest take of this window is within the limit.
    fn verdict(self, takes: u32, length: Duration, now: Time) -> Result<Remaining, RetryAfter> {
        let reset = length.saturating_sub(now.since(self.began));
        let remaining = u64::from(takes).checked_sub(self.taken);
        remaining.map(|takes| Remaining { takes, reset }).ok_or_else(|| RetryAfter::waiting(reset))
    }
}

/// A token bucket by the generic cell rate algorithm, which stores the time at which the bucket is full
/// again. All numbers are microseconds.
#[derive(Clone, Copy)]
struct Bucket {
    now: i64,
    interval: i64,
    capacity: i64,
}

impl Bucket {
    fn new(takes: NonZeroU32, refill: Duration, now: Time) -> Self {
        let interval = i64::try_from(refill.as_micros()).unwrap_or(i64::MAX) / i64::from(takes.get());
        let capacity = interval.saturating_mul(i64::from(takes.get()));
        Self { now: now.millis().saturating_mul(1000), interval, capacity }
    }

    /// When the bucket would be full again after one more take. A stored time that is too far ahead comes
    /// from a clock that was set back.
    fn after_take(self, full_at: Option<i64>) -> i64 {
        let full_at = full_at.unwrap_or(self.now).clamp(self.now, self.now.saturating_add(self.capacity));
        full_at.saturating_add(self.interval)
    }

    /// Whether the bucket had a token for the take that results in this time.
    fn verdict(self, after: i64) -> Result<Remaining, RetryAfter> {
        let until_full = after.saturating_sub(self.now);
        let micros = |number: i64| u64::try_from(number).unwrap_or(0);
        match micros(until_full.saturating_sub(self.capacity)) {
            0 => Ok(Remaining {
                takes: micros((self.capacity - until_full) / self.interval.max(1)),
                reset: Duration::from_micros(micros(until_full)),
            }),
            wait => Err(RetryAfter::waiting(Duration::from_micros(wait))),
        }
    }
}

pub(crate) async fn take_shared(
    wire: &Wire,
    limit: &RateLimit,
    now: Time,
) -> anyhow::Result<Result<Remaining, RetryAfter>> {
    let key = wire.names().limit(limit.name, &limit.key);
    let stored_for = |length: Duration| (length + KEPT_LONGER).as_millis() as u64;
    match limit.budget {
        Budget::Window { takes, length } => {
            let script = redis::Script::new(TAKE_OF_WINDOW);
            let mut call = script.key(key);
            call.arg(now.millis()).arg(length.as_millis() as u64).arg(stored_for(length)).arg(takes);
            let (began, taken): (i64, u64) = wire.run(&call).await?;
            Ok(Window { began: Time::from_millis(began), taken }.verdict(takes, length, now))
        }
        Budget::Bucket { takes, refill } => {
            let bucket = Bucket::new(takes, refill, now);
            let script = redis::Script::new(TAKE_OF_BUCKET);
            let mut call = script.key(key);
            call.arg(bucket.now).arg(bucket.interval).arg(bucket.capacity).arg(stored_for(refill));
            Ok(bucket.verdict(wire.run(&call).await?))
        }
    }
}

pub(crate) async fn give_back_shared(wire: &Wire, limit: &RateLimit) -> anyhow::Result<()> {
    let script = redis::Script::new(GIVE_BACK_TO_WINDOW);
    wire.run::<i64>(&script.key(wire.names().limit(limit.name, &limit.key))).await.map(drop)
}

#[cfg(test)]
mod tests;
