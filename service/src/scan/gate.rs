//! Chooses the scan that computes next. CPU and memory limit how many compute concurrently. Accounts with
//! waiting scans take turns; one that has used up its quota of scan time waits until no other account does.
//!
//! Waiting scans are jobs that occupy job slots of their worker. To keep one account from occupying all of
//! them, only its oldest scan waits for a permit however long that takes. The others return to the queue once
//! their account is not served promptly.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use domain::AccountId;
use futures::FutureExt;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep, timeout};

/// After this time without service, only the oldest scan of an account keeps waiting.
const PATIENCE: Duration = Duration::from_millis(250);
/// An account that was not served for this long goes before all others. Otherwise a stream of new accounts,
/// which were never served, would go before every known one.
const STARVING_AFTER: Duration = Duration::from_secs(4);
/// A scan without a permit by then returns to the queue, whatever its position.
const WAIT_MAX: Duration = Duration::from_secs(60);
/// The limit for a scan before the publish, from the moment when its files are stored. A busy gate must not
/// slow down publishes.
const EARLY_WAIT_MAX: Duration = Duration::from_millis(25);
/// The limit for a rescan, so that waiting does not use up its attempt.
const RESCAN_WAIT_MAX: Duration = Duration::from_secs(10);
/// The interval between the retries of an account's scans, and the longest delay.
const RETRY_APART: Duration = Duration::from_secs(1);
const RETRY_MAX: Duration = Duration::from_secs(30);
/// The period over which a quota is used up and restored.
const QUOTA_PERIOD: Duration = Duration::from_secs(60);
/// Accounts that are remembered while none of their scans waits.
const ACCOUNTS_MAX: usize = 1_000;

/// The kind of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scan {
    /// A first scan during the publish. It has no job of its own and stops waiting when the publish does, so
    /// the queued scans of its account do not return to the queue because of it.
    Early,
    /// A first scan from the queue.
    First,
    /// A rescan. The version has a verdict, so all waiting first scans run before it.
    Again,
}

/// The limits for the scans of a process.
#[derive(Clone, Copy, Debug)]
pub struct ScanTerms {
    /// Concurrent scans, at least one.
    pub permits: usize,
    /// Scan time of an account per minute, beyond which it comes after all others. `None`: unlimited.
    pub quota: Option<Duration>,
}

impl ScanTerms {
    /// As many permits as fit into the memory, on half of the cores at most, so that publishes always find
    /// one. At least one permit.
    pub fn of(memory_mb: usize, quota: Option<Duration>) -> Self {
        let cores = available_parallelism().map_or(1, usize::from);
        Self { permits: permits_of(cores, memory_mb), quota }
    }
}

/// Hands out the permits of a process.
#[derive(Clone, Debug)]
pub struct ScanGate(Arc<ScanQueueState>);

#[derive(Debug)]
struct ScanQueueState {
    state: Mutex<ScanSlotState>,
    quota: Option<Duration>,
}

/// No permit came in time. The scan returns to the queue for this long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NoPermit {
    pub(super) retry_after: Duration,
}

/// The right to compute one scan. It is released on drop, when the computation has ended, not when its caller
/// stops waiting.
#[derive(Debug)]
pub(super) struct ScanPermit {
    gate: Arc<ScanQueueState>,
    account: AccountId,
    scan: Scan,
    since: Instant,
}

#[derive(Debug, Default)]
struct ScanSlotState {
    free: usize,
    /// In order of arrival.
    waiting: Vec<WaitingScan>,
    accounts: HashMap<AccountId, AccountUse>,
    /// Numbers the waiting scans and the permits.
    count: u64,
}

#[derive(Debug)]
struct WaitingScan {
    number: u64,
    account: AccountId,
    scan: Scan,
    permit: oneshot::Sender<ScanPermit>,
}

/// What an account has used of this process.
#[derive(Debug)]
struct AccountUse {
    /// The number of its latest permit.
    served: u64,
    /// Since when it was not served, while one of its first scans waits.
    unserved_since: Instant,
    /// Scan time that counts against the quota, as of `used_at`.
    used: Duration,
    used_at: Instant,
    /// When the latest of its returned scans is retried.
    retry_at: Instant,
}

/// The order of permits, smallest first.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Rank {
    is_rescan: bool,
    is_over_quota: bool,
    is_not_starving: bool,
    /// Since when a starving account was not served.
    starving_since: Option<Instant>,
    /// The account that was served longest ago comes first.
    served: u64,
    number: u64,
}

impl ScanGate {
    pub fn new(terms: ScanTerms) -> Self {
        let state = ScanSlotState { free: terms.permits.max(1), ..ScanSlotState::default() };
        Self(Arc::new(ScanQueueState { state: Mutex::new(state), quota: terms.quota }))
    }

    /// Waits for a permit.
    pub(super) async fn permit(&self, account: AccountId, scan: Scan) -> Result<ScanPermit, NoPermit> {
        let wait_max = if scan == Scan::Again { RESCAN_WAIT_MAX } else { WAIT_MAX };
        let waiting = self.wait(account, scan);
        let permit = match waiting {
            Some((number, mut permit)) => {
                let _leaving = Leaving { gate: &self.0, number };
                timeout(wait_max, self.served_in_time(account, scan, number, &mut permit))
                    .await
                    .ok()
                    .flatten()
            }
            None => None,
        };
        permit.ok_or_else(|| NoPermit { retry_after: self.0.state().retry_after(account) })
    }

    /// The permit of a scan before the publish, until shortly after its files are `stored`. Without one, no
    /// retry is scheduled here: the caller queues the scan.
    pub(super) async fn early_permit(&self, account: AccountId, stored: impl Future) -> Option<ScanPermit> {
        let (number, permit) = self.wait(account, Scan::Early)?;
        let _leaving = Leaving { gate: &self.0, number };
        tokio::select! {
            // A permit that arrives at the deadline is used.
            biased;
            permit = permit => permit.ok(),
            () = stored.then(|_| sleep(EARLY_WAIT_MAX)) => None,
        }
    }

    /// Adds the scan to those that wait, unless its account is not served promptly.
    fn wait(&self, account: AccountId, scan: Scan) -> Option<(u64, oneshot::Receiver<ScanPermit>)> {
        let (permit, receiver) = oneshot::channel();
        let number = self.0.state().join(WaitingScan { number: 0, account, scan, permit })?;
        self.0.serve();
        Some((number, receiver))
    }

    /// `None`: the account is not served promptly, and older scans of it wait.
    async fn served_in_time(
        &self,
        account: AccountId,
        scan: Scan,
        number: u64,
        permit: &mut oneshot::Receiver<ScanPermit>,
    ) -> Option<ScanPermit> {
        loop {
            if let Ok(served) = timeout(PATIENCE, &mut *permit).await {
                return served.ok();
            }
            if scan == Scan::First && self.0.state().must_return(account, number) {
                return None;
            }
        }
    }
}

impl ScanQueueState {
    /// No code panics while it holds the lock, and the state is consistent at every step.
    fn state(&self) -> MutexGuard<'_, ScanSlotState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Grants the free permits in order.
    fn serve(self: &Arc<Self>) {
        loop {
            let mut state = self.state();
            let Some(next) = state.take_next(self.quota) else { return };
            let WaitingScan { account, scan, permit, .. } = next;
            drop(state);
            // A scan that has stopped waiting drops its permit, which serves the next one.
            let _ = permit.send(ScanPermit { gate: self.clone(), account, scan, since: Instant::now() });
        }
    }
}

impl ScanSlotState {
    fn account(&mut self, account: AccountId) -> &mut AccountUse {
        if self.accounts.len() >= ACCOUNTS_MAX && !self.accounts.contains_key(&account) {
            self.forget_idle();
        }
        let now = Instant::now();
        let new = || AccountUse {
            served: 0,
            unserved_since: now,
            used: Duration::ZERO,
            used_at: now,
            retry_at: now,
        };
        self.accounts.entry(account).or_insert_with(new)
    }

    /// Forgets accounts without waiting scans, those served longest ago first, down to half of the bound.
    fn forget_idle(&mut self) {
        let mut idle: Vec<(u64, AccountId)> = self
            .accounts
            .iter()
            .filter(|(account, _)| !self.waiting.iter().any(|waiting| waiting.account == **account))
            .map(|(account, known)| (known.served, *account))
            .collect();
        idle.sort_unstable();
        for (_, account) in idle.into_iter().take(ACCOUNTS_MAX / 2) {
            self.accounts.remove(&account);
        }
    }

    fn take_next(&mut self, quota: Option<Duration>) -> Option<WaitingScan> {
        if self.free == 0 {
            return None;
        }
        let rank = |(_, waiting): &(usize, &WaitingScan)| {
            let known = self.accounts.get(&waiting.account);
            let starving_since = known.and_then(AccountUse::starving_since);
            Rank {
                is_rescan: waiting.scan == Scan::Again,
                is_over_quota: known.is_some_and(|known| known.is_over(quota)),
                is_not_starving: starving_since.is_none(),
                starving_since,
                served: known.map_or(0, |known| known.served),
                number: waiting.number,
            }
        };
        let (index, _) = self.waiting.iter().enumerate().min_by_key(rank)?;
        let next = self.waiting.remove(index);
        self.free -= 1;
        self.count += 1;
        let served = self.count;
        let known = self.account(next.account);
        (known.served, known.unserved_since) = (served, Instant::now());
        Some(next)
    }

    /// The number of the waiting scan. `None`: a queued scan of its account waits, and none was served
    /// lately.
    fn join(&mut self, waiting: WaitingScan) -> Option<u64> {
        let account = waiting.account;
        if waiting.scan != Scan::Again {
            let is_one_queued = self.oldest_of(account).is_some();
            let mut others = self.waiting.iter().filter(|other| other.account == account);
            let is_only = others.all(|other| other.scan == Scan::Again);
            let known = self.account(account);
            if is_only {
                known.unserved_since = Instant::now();
            } else if is_one_queued && known.unserved_since.elapsed() >= PATIENCE {
                return None;
            }
        }
        self.count += 1;
        self.waiting.push(WaitingScan { number: self.count, ..waiting });
        Some(self.count)
    }

    /// Whether an older queued scan of the account waits, and none was served lately.
    fn must_return(&mut self, account: AccountId, number: u64) -> bool {
        self.oldest_of(account) != Some(number) && self.account(account).unserved_since.elapsed() >= PATIENCE
    }

    /// The account's first scan from the queue that has waited longest.
    fn oldest_of(&self, account: AccountId) -> Option<u64> {
        let mut waiting = self.waiting.iter();
        waiting
            .find(|waiting| waiting.account == account && waiting.scan == Scan::First)
            .map(|oldest| oldest.number)
    }

    /// Spaces the retries of an account's scans.
    fn retry_after(&mut self, account: AccountId) -> Duration {
        let now = Instant::now();
        let known = self.account(account);
        known.retry_at = (known.retry_at.max(now) + RETRY_APART).min(now + RETRY_MAX);
        known.retry_at - now
    }
}

impl AccountUse {
    /// The use that counts now. A quota is restored evenly over its period.
    fn used_now(&self, quota: Duration) -> Duration {
        let restored = self.used_at.elapsed().as_secs_f64() / QUOTA_PERIOD.as_secs_f64();
        self.used.saturating_sub(quota.mul_f64(restored))
    }

    fn starving_since(&self) -> Option<Instant> {
        (self.unserved_since.elapsed() >= STARVING_AFTER).then_some(self.unserved_since)
    }

    fn is_over(&self, quota: Option<Duration>) -> bool {
        quota.is_some_and(|quota| self.used_now(quota) >= quota)
    }
}

impl Drop for ScanPermit {
    fn drop(&mut self) {
        {
            let mut state = self.gate.state();
            state.free += 1;
            // Operators request rescans, so these do not count against the account.
            if let (Scan::Early | Scan::First, Some(quota)) = (self.scan, self.gate.quota) {
                let known = state.account(self.account);
                // Bounded. Otherwise an account could be over its quota for hours, and its scans would never
                // run beside others.
                known.used = (known.used_now(quota) + self.since.elapsed()).min(quota * 2);
                known.used_at = Instant::now();
            }
        }
        self.gate.serve();
    }
}

/// Removes a scan from the queue when it stops waiting.
struct Leaving<'a> {
    gate: &'a ScanQueueState,
    number: u64,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.gate.state().waiting.retain(|waiting| waiting.number != self.number);
    }
}

fn permits_of(cores: usize, memory_mb: usize) -> usize {
    (cores / 2).min(memory_mb / SCAN_MEMORY_MB).max(1)
}

/// The most memory that the scan of one version takes.
const SCAN_MEMORY_MB: usize = 300;

#[cfg(test)]
mod tests;
