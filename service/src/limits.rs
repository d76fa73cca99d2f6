//! Rate limits by address, name and account. `bus` keeps the counts; here an exceeded limit becomes a
//! refusal.

use std::cell::RefCell;
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use bus::{Budget, ExceededLimit, RateLimit, Remaining, whole_seconds};
use domain::{AccountId, Refusal};

use crate::{Service, ServiceResult};

const DAY: Duration = Duration::from_secs(24 * 3600);
/// Limits that other clients use up too. What remains of them is not reported.
const UNREPORTED: &[&str] = &["login-username", "operator-failures", "signup-given-back"];

/// The state of a rate limit that counted a call, for the response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitState {
    pub name: &'static str,
    /// The number of calls in a window.
    pub quota: u32,
    pub window_seconds: u64,
    pub remaining: u64,
    /// Until the window ends or the bucket is full again; after a refusal, until the next call is allowed.
    pub reset_seconds: u64,
}

tokio::task_local! {
    /// The limits that the current call was counted by, for its response. A response reports them whether the
    /// call succeeded or not, so they cannot be part of either result.
    static COUNTED: RefCell<Vec<LimitState>>;
}

/// Runs a call and returns the limits that it was counted by beside its output.
pub async fn reporting_limits<F: Future>(call: F) -> (F::Output, Vec<LimitState>) {
    let call = async {
        let output = call.await;
        (output, COUNTED.with(RefCell::take))
    };
    COUNTED.scope(RefCell::default(), call).await
}

/// Reports limits by which a part of the current call was counted in another task.
pub fn report_limits<'a>(limits: impl IntoIterator<Item = &'a LimitState>) {
    limits.into_iter().for_each(|limit| limit.record());
}

impl LimitState {
    fn after_take(limit: &RateLimit, remaining: Remaining) -> Self {
        let (quota, window) = match limit.budget {
            Budget::Window { takes, length } => (takes, length),
            Budget::Bucket { takes, refill } => (takes.get(), refill),
        };
        Self {
            name: limit.name,
            quota,
            window_seconds: window.as_secs(),
            remaining: remaining.takes,
            reset_seconds: whole_seconds(remaining.reset),
        }
    }

    fn exceeded(ExceededLimit { limit, retry_after }: &ExceededLimit) -> Self {
        let remaining = Remaining { takes: 0, reset: Duration::from_secs(retry_after.seconds) };
        Self::after_take(limit, remaining)
    }

    /// Records the state for the response. Of several limits of one name, the response reports the one that
    /// is used up first.
    fn record(self) {
        if UNREPORTED.contains(&self.name) {
            return;
        }
        // Jobs and commands have no response.
        let _ = COUNTED.try_with(|counted| {
            let mut counted = counted.borrow_mut();
            match counted.iter_mut().find(|other| other.name == self.name) {
                Some(other) if other.remaining <= self.remaining => {}
                Some(other) => *other = self,
                None => counted.push(self),
            }
        });
    }
}

impl Service {
    /// Takes one use from a limit. The refusal names when the next one is free.
    pub(crate) async fn take(&self, limit: RateLimit) -> ServiceResult<()> {
        self.take_each(&[limit]).await
    }

    /// Takes one use from a limit by address and minute.
    pub(crate) async fn take_by_address(
        &self,
        name: &'static str,
        from: IpAddr,
        per_minute: u32,
    ) -> ServiceResult<()> {
        self.take_each(&RateLimit::of_address(name, from, Budget::per_minute(per_minute))).await
    }

    /// Returns a use that [`Service::take_by_address`] took.
    pub(crate) async fn give_back_by_address(&self, name: &'static str, from: IpAddr, per_minute: u32) {
        self.give_back_each(&RateLimit::of_address(name, from, Budget::per_minute(per_minute))).await;
    }

    /// Undoes one take from each of these limits.
    pub(crate) async fn give_back_each(&self, limits: &[RateLimit]) {
        self.0.bus.give_back_each(limits).await;
        let _ = COUNTED.try_with(|counted| {
            counted.borrow_mut().retain(|state| limits.iter().all(|limit| limit.name != state.name));
        });
    }

    pub(crate) async fn take_each(&self, limits: &[RateLimit]) -> ServiceResult<()> {
        match self.0.bus.take_each(limits, self.0.clock.now()).await {
            Ok(remaining) => {
                let states = limits.iter().zip(remaining);
                states.for_each(|(limit, remaining)| LimitState::after_take(limit, remaining).record());
                Ok(())
            }
            Err(exceeded) => {
                LimitState::exceeded(&exceeded).record();
                let retry_after_seconds = exceeded.retry_after.seconds;
                Err(Refusal::RateLimited { retry_after_seconds }.into())
            }
        }
    }

    /// Takes one publish from the account's limit.
    pub(crate) async fn take_publish(&self, account: AccountId) -> ServiceResult<()> {
        self.take_of_account("publish", account).await
    }

    /// Takes one repeat of a publish that was answered. Repeats have a limit of their own, so that an account
    /// that has used up its publishes can still get a response that it lost, and yet cannot have any number
    /// of bodies read.
    pub(crate) async fn take_repeat(&self, account: AccountId) -> ServiceResult<()> {
        self.take_of_account("publish-repeat", account).await
    }

    /// Begins one export.
    pub(crate) async fn take_export(&self, account: AccountId, per_minute: u32) -> ServiceResult<()> {
        let (key, budget) = (account.to_string(), Budget::per_minute(per_minute));
        self.take(RateLimit { name: "export", key, budget }).await
    }

    async fn take_of_account(&self, name: &'static str, account: AccountId) -> ServiceResult<()> {
        match NonZeroU32::new(self.0.rules.publishes_per_minute) {
            Some(takes) => {
                let (key, budget) = (account.to_string(), Budget::minute_bucket(takes));
                self.take(RateLimit { name, key, budget }).await
            }
            None => Ok(()),
        }
    }

    /// The limits on claims from an address. Empty if claims are unlimited.
    pub(crate) fn claim_limits(&self, from: IpAddr) -> Vec<RateLimit> {
        match self.0.rules.claims_per_address_per_day {
            0 => Vec::new(),
            takes => RateLimit::of_address("claim", from, Budget::Window { takes, length: DAY }),
        }
    }
}
