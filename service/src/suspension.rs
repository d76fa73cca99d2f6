//! Suspends accounts that repeat what their pages were blocked for, and lifts suspensions.
//! `domain::must_take_writes` makes a suspended account read-only.

use domain::{Missing, OperatorName, Origin, Refusal, SuspensionReason};
use store::{SuspensionChange, SuspensionSet};

use crate::{Service, ServiceResult};

impl Service {
    /// Suspends an account, by its handle or id. Once this returns, it takes no writes and no edge serves its
    /// pages.
    pub async fn suspend(
        &self,
        by: &OperatorName,
        origin: Origin,
        account: &str,
        reason: SuspensionReason,
    ) -> ServiceResult<SuspensionSet> {
        let set = self.set_suspension(by, origin, account, Some(reason)).await?;
        tracing::warn!(account.handle = %set.handle, operator.name = %by, "account suspended");
        Ok(set)
    }

    /// Lifts the suspension of an account and restores its previous state.
    pub async fn lift_suspension(
        &self,
        by: &OperatorName,
        origin: Origin,
        account: &str,
    ) -> ServiceResult<SuspensionSet> {
        let set = self.set_suspension(by, origin, account, None).await?;
        tracing::warn!(account.handle = %set.handle, operator.name = %by, "suspension lifted");
        Ok(set)
    }

    async fn set_suspension(
        &self,
        by: &OperatorName,
        origin: Origin,
        account: &str,
        reason: Option<SuspensionReason>,
    ) -> ServiceResult<SuspensionSet> {
        let unknown = Refusal::NotFound(Missing::Account);
        let account = self.0.store.accounts().find_named(account).await?.ok_or_else(|| unknown.clone())?;
        let change = SuspensionChange { account, reason, by, origin, now: self.0.clock.now() };
        let set = self.0.store.accounts().set_suspension(&change, &self.0.chance).await?.ok_or(unknown)?;
        if !set.hosts.is_empty() {
            self.0.bus.notify_edges(&set.hosts).await;
        }
        Ok(set)
    }
}
