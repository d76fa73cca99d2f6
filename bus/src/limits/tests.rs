//! Rate limit counters: refill, bounds and eviction.

use super::local::KEYS_MAX;
use super::*;

fn limit(key: &str) -> RateLimit {
    RateLimit { name: "signup", key: key.to_owned(), budget: Budget::per_minute(10) }
}

fn bucket(takes: u32) -> RateLimit {
    let budget = Budget::minute_bucket(NonZeroU32::new(takes).unwrap());
    RateLimit { name: "publish", key: "a".to_owned(), budget }
}

/// The start time of the tests, which is not a round number.
const START: Time = Time::from_millis(1_700_000_000_123);

#[test]
fn request_over_the_limit_waits_for_the_end_of_the_window() {
    let counters = LocalCounters::default();
    for _ in 0..10 {
        assert!(counters.take(&limit("a"), START).is_ok());
    }
    let later = START.plus(Duration::from_millis(20_500));
    assert_eq!(counters.take(&limit("a"), later), Err(RetryAfter { seconds: 40 }));
    let last = START.plus(Duration::from_millis(59_999));
    assert_eq!(counters.take(&limit("a"), last), Err(RetryAfter { seconds: 1 }));
    assert!(counters.take(&limit("b"), last).is_ok(), "another key has its own window");
    assert!(counters.take(&limit("a"), START.plus(MINUTE)).is_ok());
}

#[test]
fn returned_units_can_be_taken_again() {
    let counters = LocalCounters::default();
    counters.give_back(&limit("a"));
    for _ in 0..100 {
        assert!(counters.take(&limit("a"), START).is_ok());
        counters.give_back(&limit("a"));
    }
    for _ in 0..10 {
        assert!(counters.take(&limit("a"), START).is_ok());
    }
    assert_eq!(counters.take(&limit("a"), START), Err(RetryAfter { seconds: 60 }));
}

#[test]
fn many_keys_of_one_limit_do_not_reset_other_limits() {
    let counters = LocalCounters::default();
    let login = RateLimit { name: "login", ..limit("victim") };
    for _ in 0..10 {
        let _ = counters.take(&login, START);
    }
    for key in 0..2 * KEYS_MAX {
        assert!(counters.take(&limit(&key.to_string()), START).is_ok());
    }
    assert_eq!(counters.take(&login, START), Err(RetryAfter { seconds: 60 }));
}

#[test]
fn full_store_evicts_the_least_recently_used_counter() {
    let counters = LocalCounters::default();
    let exhaust = |key| (0..11).map(|_| counters.take(&limit(key), START)).last().unwrap();
    for key in ["oldest", "in use", "young"] {
        assert!(exhaust(key).is_err());
    }
    for key in 0..KEYS_MAX - 1 {
        let _ = counters.take(&limit(&key.to_string()), START);
        if key == KEYS_MAX / 2 {
            let _ = counters.take(&limit("young"), START);
        }
        if key % 1_000 == 0 {
            assert!(counters.take(&limit("in use"), START).is_err());
        }
    }
    assert!(counters.take(&limit("in use"), START).is_err());
    assert!(counters.take(&limit("young"), START).is_err());
    assert!(counters.take(&limit("oldest"), START).is_ok(), "only this counter is gone");
}

#[test]
fn a_bucket_allows_the_budget_at_once_and_then_refills_evenly() {
    let counters = LocalCounters::default();
    let of_20 = bucket(20);
    for _ in 0..20 {
        assert!(counters.take(&of_20, START).is_ok());
    }
    // One token in three seconds. Refused calls take none.
    for _ in 0..100 {
        assert_eq!(counters.take(&of_20, START), Err(RetryAfter { seconds: 3 }));
    }
    let later = START.plus(Duration::from_millis(2_999));
    assert_eq!(counters.take(&of_20, later), Err(RetryAfter { seconds: 1 }));
    let later = START.plus(Duration::from_secs(9));
    for _ in 0..3 {
        assert!(counters.take(&of_20, later).is_ok());
    }
    assert_eq!(counters.take(&of_20, later), Err(RetryAfter { seconds: 3 }));
    let long_after = later.plus(Duration::from_secs(3600));
    assert_eq!((0..30).filter(|_| counters.take(&of_20, long_after).is_ok()).count(), 20);
}

#[test]
fn clock_set_back_does_not_extend_waiting_times() {
    let counters = LocalCounters::default();
    let an_hour_ahead = START.plus(Duration::from_secs(3600));
    for _ in 0..20 {
        assert!(counters.take(&bucket(20), an_hour_ahead).is_ok());
    }
    assert_eq!(counters.take(&bucket(20), START), Err(RetryAfter { seconds: 3 }));
}

#[test]
fn ipv6_address_is_limited_by_its_64_56_and_48_prefixes() {
    let limits_of = |text: &str| {
        let limits = RateLimit::of_address("signup", text.parse().unwrap(), Budget::per_minute(10));
        let key_and_takes = |limit: RateLimit| match limit.budget {
            Budget::Window { takes, .. } => (limit.key, takes),
            Budget::Bucket { .. } => panic!("no window"),
        };
        limits.into_iter().map(key_and_takes).collect::<Vec<_>>()
    };
    let networks = [("2001:db8:1::/48", 640), ("2001:db8:1:1200::/56", 80), ("2001:db8:1:1234::/64", 10)];
    let networks = networks.map(|(key, takes)| (key.to_owned(), takes));
    assert_eq!(limits_of("2001:db8:1:1234:ffff::1"), networks);
    assert_eq!(limits_of("192.0.2.1"), [("192.0.2.1".to_owned(), 10)]);
    assert_eq!(limits_of("::ffff:192.0.2.1"), limits_of("192.0.2.1"));
}

#[test]
fn every_take_reports_what_remains_and_when_the_limit_is_reset() {
    let counters = LocalCounters::default();
    let remaining = |takes, millis| Ok(Remaining { takes, reset: Duration::from_millis(millis) });
    assert_eq!(counters.take(&limit("a"), START), remaining(9, 60_000));
    assert_eq!(counters.take(&limit("a"), START.plus(Duration::from_millis(500))), remaining(8, 59_500));
    assert_eq!(counters.take(&bucket(20), START), remaining(19, 3_000));
    assert_eq!(counters.take(&bucket(20), START), remaining(18, 6_000));
    let later = START.plus(Duration::from_millis(1_500));
    assert_eq!(counters.take(&bucket(20), later), remaining(17, 7_500));
}
