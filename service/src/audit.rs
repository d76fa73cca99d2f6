//! The audit log of an account.

use domain::{AuditEntry, Page, Paged};

use crate::{Caller, Service, ServiceResult};

impl Service {
    /// The account's audit log, newest entry first.
    pub async fn audit(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<AuditEntry>> {
        caller.may_see_audit()?;
        Ok(self.0.store.audit().list(caller.account, page).await?)
    }
}
