//! What the people of an account see of it beside its pages: how it is used, day by day, and where its money went.

use std::collections::HashMap;

use domain::{DayUse, Host, LedgerEntry, Page, Paged, Scope};

use crate::{Caller, Service, ServiceResult};

impl Service {
    /// Every day of this month with what was used.
    pub async fn days(&self, caller: &Caller) -> ServiceResult<Vec<DayUse>> {
        caller.may(Scope::ArtifactsRead)?;
        Ok(self.0.store.views().by_day(caller.account, self.0.clock.now().month()).await?)
    }

    /// How often each of these pages was viewed this month.
    pub async fn views_by_host(&self, caller: &Caller, hosts: &[Host]) -> ServiceResult<HashMap<Host, u64>> {
        caller.may(Scope::ArtifactsRead)?;
        let since = self.0.clock.now().month().start().day();
        Ok(self.0.store.views().by_host(caller.account, hosts, since).await?)
    }

    /// Every movement of the account's credit, the newest first.
    pub async fn ledger(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<LedgerEntry>> {
        caller.may_see_team()?;
        Ok(self.0.store.ledger().list(caller.account, page).await?)
    }
}
