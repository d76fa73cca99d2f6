//! Limits how many nonexistent sites a network may request in a minute, so that the random suffixes of a
//! known slug cannot be enumerated.
//!
//! A network over its budget must learn nothing from further attempts. It is refused every site that it was
//! not served before, whether the site exists or not, and is still served the sites that it knows. The check
//! after the lookup is authoritative. The one before it only saves the lookup.

use std::hash::{BuildHasher, Hash, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use domain::Time;
use quick_cache::sync::Cache;

use crate::closed::Closed;

/// A window starts with the first miss of a network.
const WINDOW: Duration = Duration::from_secs(60);
/// Limits of the tracked networks, and of the tracked pairs of a network and a site that it was served. The
/// least recently used are dropped.
const WINDOWS_MAX: usize = 1 << 14;
const SERVED_MAX: usize = 1 << 16;
/// Prefix lengths that providers assign. A shorter prefix has the budget of several of the longest.
const IPV6_BUDGETS: [(u32, u32); 3] = [(64, 1), (56, 8), (48, 64)];

/// The misses of the networks that sent requests to this edge.
pub struct Misses {
    per_minute: u32,
    windows: Cache<Prefix, Arc<Mutex<Window>>>,
    /// Keyed hashes of networks and sites.
    served: Cache<u64, ()>,
    hasher: RandomState,
    /// When the last exceeded window ends. Later requests skip the check of the windows.
    exceeded_until_millis: AtomicI64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Prefix {
    address: IpAddr,
    bits: u32,
}

struct Window {
    began: Time,
    misses: u32,
}

impl Misses {
    /// `None` if there is no limit.
    pub fn new(per_minute: u32) -> Option<Self> {
        (per_minute > 0).then(|| Self {
            per_minute,
            windows: Cache::new(WINDOWS_MAX),
            served: Cache::new(SERVED_MAX),
            hasher: RandomState::new(),
            exceeded_until_millis: AtomicI64::new(i64::MIN),
        })
    }

    /// Before the lookup: whether this network may request this site. A host or a label names it.
    pub fn admit(&self, network: IpAddr, site: &impl Hash, now: Time) -> Result<(), Closed> {
        match self.wait_of(network, now) {
            Some(wait) if self.served.get(&self.pair(network, site)).is_none() => Err(refused(wait)),
            _ => Ok(()),
        }
    }

    /// After the lookup: whether this network may get the result. Concurrent requests must not learn more
    /// than sequential ones would.
    pub fn settle(&self, network: IpAddr, site: &impl Hash, is_found: bool, now: Time) -> Result<(), Closed> {
        let pair = self.pair(network, site);
        if self.served.get(&pair).is_some() {
            return Ok(());
        }
        if let Some(wait) = self.wait_of(network, now) {
            return Err(refused(wait));
        }
        if is_found {
            self.served.insert(pair, ());
        } else {
            self.count(network, now);
        }
        Ok(())
    }

    /// How long a network that is over one of its budgets is refused.
    fn wait_of(&self, network: IpAddr, now: Time) -> Option<Duration> {
        if now.millis() >= self.exceeded_until_millis.load(Ordering::Acquire) {
            return None;
        }
        let waits = prefixes_of(network).filter_map(|(prefix, budgets)| {
            let window = self.windows.get(&prefix)?;
            let window = lock(&window);
            window.left(now).filter(|_| window.misses >= self.budget(budgets))
        });
        waits.max()
    }

    fn count(&self, network: IpAddr, now: Time) {
        for (prefix, budgets) in prefixes_of(network) {
            let fresh = || Ok::<_, std::convert::Infallible>(Arc::new(Mutex::new(Window::begin(now))));
            let Ok(window) = self.windows.get_or_insert_with(&prefix, fresh);
            let mut window = lock(&window);
            if window.left(now).is_none() {
                *window = Window::begin(now);
            }
            window.misses = window.misses.saturating_add(1);
            if window.misses >= self.budget(budgets) {
                let until = window.began.plus(WINDOW).millis();
                self.exceeded_until_millis.fetch_max(until, Ordering::AcqRel);
            }
        }
    }

    fn budget(&self, budgets: u32) -> u32 {
        self.per_minute.saturating_mul(budgets)
    }

    fn pair(&self, network: IpAddr, site: &impl Hash) -> u64 {
        self.hasher.hash_one((network, site))
    }
}

impl Window {
    fn begin(now: Time) -> Self {
        Self { began: now, misses: 0 }
    }

    /// `None` if the window has ended or the clock was set back.
    fn left(&self, now: Time) -> Option<Duration> {
        let left = WINDOW.checked_sub(now.since(self.began)).filter(|left| !left.is_zero());
        left.filter(|_| now >= self.began)
    }
}

/// The prefixes that a network is counted in, each with its number of budgets. An IPv6 network has 64 bits.
fn prefixes_of(network: IpAddr) -> impl Iterator<Item = (Prefix, u32)> {
    let budgets = match network {
        IpAddr::V4(_) => &[(32, 1)][..],
        IpAddr::V6(_) => &IPV6_BUDGETS[..],
    };
    budgets.iter().map(move |(bits, budgets)| (Prefix::of(network, *bits), *budgets))
}

impl Prefix {
    fn of(network: IpAddr, bits: u32) -> Self {
        let address = match network {
            IpAddr::V4(_) => network,
            IpAddr::V6(address) => {
                Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << (u128::BITS - bits))).into()
            }
        };
        Self { address, bits }
    }
}

fn refused(wait: Duration) -> Closed {
    let seconds = u64::try_from(wait.as_millis().div_ceil(1000)).unwrap_or(u64::MAX);
    Closed::TooManyMisses { retry_after_seconds: seconds }
}

/// Recovers a poisoned lock: a window is two numbers, and a panic leaves neither half written.
fn lock(window: &Mutex<Window>) -> MutexGuard<'_, Window> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use domain::Host;

    use super::*;

    const NOW: Time = Time::from_millis(1_000_000);

    fn host(number: u32) -> Host {
        format!("page-{number:04}").parse().unwrap()
    }

    fn network(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// Requests a site as a visit does. Only the first site exists.
    fn request(misses: &Misses, from: &str, site: u32, now: Time) -> Result<(), Closed> {
        misses.admit(network(from), &host(site), now)?;
        misses.settle(network(from), &host(site), site == 0, now)
    }

    fn refused_for(seconds: u64) -> Result<(), Closed> {
        Err(Closed::TooManyMisses { retry_after_seconds: seconds })
    }

    #[test]
    fn misses_are_not_counted_without_a_budget() {
        assert!(Misses::new(0).is_none());
    }

    #[test]
    fn a_network_over_its_budget_is_refused_until_the_window_ends() {
        let misses = Misses::new(3).unwrap();
        for site in 1..=3 {
            assert_eq!(request(&misses, "192.0.2.1", site, NOW), Ok(()));
        }
        let later = NOW.plus(Duration::from_millis(20_500));
        assert_eq!(request(&misses, "192.0.2.1", 4, later), refused_for(40));
        assert_eq!(request(&misses, "192.0.2.2", 4, later), Ok(()), "another network has its own budget");
        assert_eq!(request(&misses, "192.0.2.1", 4, NOW.plus(WINDOW)), Ok(()));
        let set_back = NOW.minus(Duration::from_secs(3600));
        assert_eq!(request(&misses, "192.0.2.1", 4, set_back), Ok(()));
    }

    #[test]
    fn over_the_budget_a_site_that_exists_is_refused_like_one_that_does_not() {
        let misses = Misses::new(2).unwrap();
        for site in 1..=2 {
            assert_eq!(request(&misses, "192.0.2.1", site, NOW), Ok(()));
        }
        assert_eq!(request(&misses, "192.0.2.1", 0, NOW), refused_for(60));
        assert_eq!(request(&misses, "192.0.2.1", 3, NOW), refused_for(60));
    }

    #[test]
    fn sites_already_served_to_a_network_stay_available() {
        let misses = Misses::new(2).unwrap();
        for site in [0, 1, 2] {
            assert_eq!(request(&misses, "192.0.2.1", site, NOW), Ok(()));
        }
        assert_eq!(request(&misses, "192.0.2.1", 0, NOW), Ok(()));
        assert_eq!(request(&misses, "192.0.2.1", 3, NOW), refused_for(60));
    }

    #[test]
    fn concurrent_requests_cannot_exceed_the_miss_budget() {
        let misses = Misses::new(2).unwrap();
        let from = network("192.0.2.1");
        for site in 0..=9 {
            assert_eq!(misses.admit(from, &host(site), NOW), Ok(()));
        }
        let settle = |site| misses.settle(from, &host(site), site == 0, NOW);
        assert_eq!([settle(1), settle(2)], [Ok(()), Ok(())]);
        assert_eq!([settle(0), settle(3)], [refused_for(60), refused_for(60)]);
    }

    #[test]
    fn ipv6_networks_share_the_budgets_of_their_wider_prefixes() {
        let misses = Misses::new(2).unwrap();
        let mut site = 0;
        let mut answered = |from: String| {
            site += 1;
            request(&misses, &from, site, NOW).is_ok()
        };
        // 256 networks of 64 bits are one of 56 bits, with a budget of 16.
        let in_56 = (0..=255).filter(|last| answered(format!("2001:db8:1:{last:x}::"))).count();
        assert_eq!(in_56, 16);
        // 256 of those are one of 48 bits, with a budget of 128.
        let in_48 = (1..=255).filter(|next| answered(format!("2001:db8:1:{next:x}00::"))).count();
        assert_eq!(in_48, 128 - 16);
        assert!(answered("2001:db8:2::".into()));
    }

    #[test]
    fn miss_counters_are_bounded_and_keep_busy_networks() {
        let misses = Misses::new(1000).unwrap();
        let rounds = u32::try_from(WINDOWS_MAX).unwrap() * 2;
        let mut refused = 0;
        for number in 0..rounds {
            let other = Ipv6Addr::from_bits(u128::from(number) << 64).to_string();
            let _ = request(&misses, &other, number + 1, NOW);
            if number % 8 == 0 && request(&misses, "192.0.2.1", number + 1, NOW).is_err() {
                refused += 1;
            }
        }
        assert!(misses.windows.len() <= WINDOWS_MAX);
        assert_eq!(refused, rounds / 8 - 1000);
    }
}
