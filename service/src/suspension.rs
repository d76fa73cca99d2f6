//! Suspending an account and lifting it again: an operator's answer to an account that goes on with what its pages were
//! blocked for. The rule that a suspended account takes no writes is `domain::must_take_writes`.

use domain::{Missing, OperatorName, Origin, Refusal, SuspensionReason};
use store::{SuspensionChange, SuspensionSet};

use crate::{Service, ServiceResult};

impl Service {
    /// Suspends an account, by its handle or id. Once this returns, it takes no writes and no edge serves its pages.
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

    /// Lifts the suspension of an account; everything is as before.
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
