//! One change of several pages of an account. Each page is changed by itself, and has its own result.

use std::collections::{HashMap, HashSet};

use domain::{Artifact, Micro, Reason, Scope, Slug, Visibility};
use futures::{StreamExt, stream};

use crate::{Caller, Service, ServiceResult, VisibilityRequest};

/// As many pages as the dashboard lists at once.
pub const CHANGES_MAX: usize = 100;
/// Pages that are changed concurrently. Each waits for the edges.
const CHANGES_AT_ONCE: usize = 8;

/// What is done with each page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageChange {
    Delete,
    Show(Visibility),
}

/// The pages that a change would change, and its price.
#[derive(Clone, Debug)]
pub struct PlannedChange {
    /// In the order of the request. Slugs that name no page are left out.
    pub pages: Vec<Artifact>,
    /// Charged at once.
    pub due: Micro,
    /// Charged each month from then on, for the pages that are public now.
    pub monthly: Micro,
    pub balance: Micro,
}

#[derive(Debug)]
pub struct ChangedPage {
    pub slug: Slug,
    pub result: ServiceResult<()>,
}

impl PlannedChange {
    /// The credit that is missing for the price.
    pub fn missing(&self) -> Option<Micro> {
        (!self.due.is_zero() && self.due > self.balance).then(|| self.due - self.balance)
    }
}

impl Service {
    /// What a change of these pages would change and cost now.
    pub async fn plan_changes(
        &self,
        caller: &Caller,
        slugs: &[Slug],
        change: PageChange,
    ) -> ServiceResult<PlannedChange> {
        caller.may(Scope::ArtifactsRead)?;
        let slugs = &slugs[..slugs.len().min(CHANGES_MAX)];
        let found = self.0.store.artifacts().list_of(caller.account, slugs).await?;
        let mut found: HashMap<Slug, Artifact> =
            found.into_iter().map(|artifact| (artifact.slug.clone(), artifact)).collect();
        let pages: Vec<Artifact> = slugs.iter().filter_map(|slug| found.remove(slug)).collect();
        let charged: Vec<&Artifact> = pages.iter().filter(|page| is_charged(page, change)).collect();
        let month = self.0.clock.now().month();
        let reasons = charged.iter().map(|page| Reason::Visibility(page.id, month));
        let paid: HashSet<String> =
            self.0.store.ledger().entries_among(caller.account, reasons.collect()).await?;
        let unpaid =
            charged.iter().filter(|page| !paid.contains(&Reason::Visibility(page.id, month).to_string()));
        let balance = self.summary_of(caller).await?.account.balance;
        Ok(PlannedChange {
            due: self.tariff().visibility_charge(unpaid.count() as u64),
            monthly: self.tariff().visibility_charge(charged.len() as u64),
            balance,
            pages,
        })
    }

    /// Changes the pages. A page that cannot be changed does not stop the others.
    pub async fn change_each(
        &self,
        caller: &Caller,
        slugs: Vec<Slug>,
        change: PageChange,
    ) -> Vec<ChangedPage> {
        let changes = slugs.into_iter().take(CHANGES_MAX).map(|slug| {
            Box::pin(async move {
                let result = self.change_one(caller, &slug, change).await;
                ChangedPage { slug, result }
            })
        });
        stream::iter(changes).buffered(CHANGES_AT_ONCE).collect().await
    }

    async fn change_one(&self, caller: &Caller, slug: &Slug, change: PageChange) -> ServiceResult<()> {
        match change {
            PageChange::Delete => self.delete(caller, slug).await.map(drop),
            PageChange::Show(to) => {
                let request = VisibilityRequest { slug: slug.clone(), to, payment: None };
                self.set_visibility(caller, request).await.map(drop)
            }
        }
    }
}

/// Only a public page that is hidden is charged.
fn is_charged(page: &Artifact, change: PageChange) -> bool {
    let hides = matches!(change, PageChange::Show(Visibility::Unlisted | Visibility::Private));
    hides && page.visibility == Visibility::Public
}
