//! What a call would charge to the account's credit now, for a question to the human before the call. The
//! ledger decides what is charged.
//!
//! A call that the credit does not cover has no price here: it is refused with its challenge.

use domain::{Artifact, Micro, Reason, Refusal, Scope, Settlement, Slug, Visibility};

use crate::{Caller, Service, ServiceResult};

impl Service {
    /// The price of a publish: nothing within the free allowance.
    pub async fn publish_price(&self, caller: &Caller) -> ServiceResult<Micro> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let standing = self.0.store.accounts().billing_state(caller.account, now).await?;
        let standing = standing.ok_or(Refusal::Unauthorized)?;
        let settled = self.tariff().settle_publish(standing, None);
        Ok(settled.unwrap_or(Settlement::FREE).charged)
    }

    /// The price of a new visibility: nothing for `public`, or if this month is paid for.
    pub async fn price_of_visibility(
        &self,
        caller: &Caller,
        slug: &Slug,
        to: Visibility,
    ) -> ServiceResult<Micro> {
        let now = self.0.clock.now();
        caller.may_write(Scope::ArtifactsWrite, now)?;
        let artifact = self.find(caller, slug).await?;
        if to == Visibility::Public || self.is_visibility_paid(caller, &artifact).await? {
            return Ok(Micro::ZERO);
        }
        let standing = self.0.store.accounts().billing_state(caller.account, now).await?;
        let standing = standing.ok_or(Refusal::Unauthorized)?;
        let settled = self.tariff().settle_visibility(standing.balance, None);
        Ok(settled.unwrap_or(Settlement::FREE).charged)
    }

    /// The current price of making a page unlisted or private, whatever the credit: nothing if it already is,
    /// or if this month is paid for.
    pub async fn visibility_price(&self, caller: &Caller, artifact: &Artifact) -> ServiceResult<Micro> {
        caller.may(Scope::ArtifactsRead)?;
        let is_paid = self.is_visibility_paid(caller, artifact).await?;
        Ok(if is_paid { Micro::ZERO } else { self.tariff().visibility_price })
    }

    async fn is_visibility_paid(&self, caller: &Caller, artifact: &Artifact) -> ServiceResult<bool> {
        let month = Reason::Visibility(artifact.id, self.0.clock.now().month());
        let is_restricted = artifact.visibility != Visibility::Public;
        Ok(is_restricted || self.0.store.ledger().has_entry(caller.account, &month).await?)
    }
}
