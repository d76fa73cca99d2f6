//! Statistics for the people of an account: usage by day, views by page, and the ledger.

use std::collections::HashMap;

use domain::{DayUse, Host, LedgerEntry, Page, Paged, Scope};

use crate::{Caller, Service, ServiceResult};

impl Service {
    /// Usage on every day of this month.
    pub async fn days(&self, caller: &Caller) -> ServiceResult<Vec<DayUse>> {
        caller.may(Scope::ArtifactsRead)?;
        Ok(self.0.store.views().by_day(caller.account, self.0.clock.now().month()).await?)
    }

    /// Views of each of these pages this month.
    pub async fn views_by_host(&self, caller: &Caller, hosts: &[Host]) -> ServiceResult<HashMap<Host, u64>> {
        caller.may(Scope::ArtifactsRead)?;
        let since = self.0.clock.now().month().start().day();
        Ok(self.0.store.views().by_host(caller.account, hosts, since).await?)
    }

    /// Every ledger entry of the account, newest first.
    pub async fn ledger(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<LedgerEntry>> {
        caller.may_see_team()?;
        Ok(self.0.store.ledger().list(caller.account, page).await?)
    }
}
