//! Rate limits by address, name and account. `bus` keeps the counts; here an exceeded limit becomes a
//! refusal.

use std::net::IpAddr;
use std::num::NonZeroU32;
use std::time::Duration;

use bus::{Budget, RateLimit, RetryAfter};
use domain::{AccountId, Refusal};

use crate::{Service, ServiceResult};

const DAY: Duration = Duration::from_secs(24 * 3600);

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
        let limits = RateLimit::of_address(name, from, Budget::per_minute(per_minute));
        self.0.bus.give_back_each(&limits).await;
    }

    pub(crate) async fn take_each(&self, limits: &[RateLimit]) -> ServiceResult<()> {
        let taken = self.0.bus.take_each(limits, self.0.clock.now()).await;
        Ok(taken.map_err(|RetryAfter { seconds }| Refusal::RateLimited { retry_after_seconds: seconds })?)
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
