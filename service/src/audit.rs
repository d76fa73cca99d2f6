//! What was done to an account, for those who answer for it.

use domain::{AuditEntry, Page, Paged};

use crate::{Caller, Service, ServiceResult};

impl Service {
    /// The account's audit trail, the newest entry first.
    pub async fn audit(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<AuditEntry>> {
        caller.may_see_audit()?;
        Ok(self.0.store.audit().list(caller.account, page).await?)
    }
}
