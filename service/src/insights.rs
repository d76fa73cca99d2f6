//! Statistics for the people of an account: usage by day, views by page, and the ledger.

use std::collections::HashMap;

use domain::{
    Artifact, Day, DayUse, Host, LedgerEntry, Month, MonthCharges, MonthlyUse, Page, Paged, Scope, Slug,
};

use crate::{Caller, Service, ServiceResult};

const TOP_PAGES_MAX: u64 = 10;
/// The days of the chart of a page.
const RECENT_DAYS: i64 = 30;

/// An account's month.
#[derive(Clone, Debug)]
pub struct MonthReport {
    pub month: Month,
    pub used: MonthlyUse,
    /// What the ledger has charged for the month. Storage and views are charged after its end.
    pub charged: MonthCharges,
    /// Every day of the month, including days without usage and days to come.
    pub days: Vec<DayUse>,
    pub top_pages: Vec<PageViews>,
}

/// The views of a page in a month.
#[derive(Clone, Debug)]
pub struct PageViews {
    pub host: Host,
    /// `None` if the page has been deleted.
    pub slug: Option<Slug>,
    pub views: u64,
}

/// The views of a page on a day.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayViews {
    pub day: Day,
    pub views: u64,
}

/// The views of some pages on each of the last days.
#[derive(Clone, Debug)]
pub struct RecentViews {
    /// The first of the days.
    pub first: Day,
    pub days: u16,
    /// The first day of this month.
    pub month: Day,
    /// Days without views are left out.
    pub by_host: HashMap<Host, Vec<(Day, u64)>>,
}

impl RecentViews {
    /// The views on each day, oldest first.
    pub fn by_day(&self, host: &Host) -> Vec<u64> {
        let mut views = vec![0; usize::from(self.days)];
        for (day, count) in self.by_host.get(host).into_iter().flatten() {
            let at = usize::try_from(day.number() - self.first.number());
            if let Some(slot) = at.ok().and_then(|at| views.get_mut(at)) {
                *slot = *count;
            }
        }
        views
    }

    /// The views of this month, if the days include it.
    pub fn this_month(&self, host: &Host) -> u64 {
        let days = self.by_host.get(host).into_iter().flatten();
        days.filter(|(day, _)| day.number() >= self.month.number()).map(|(_, views)| views).sum()
    }
}

impl Service {
    /// The months for which there is a report, newest first. The current one is always among them.
    pub async fn reported_months(&self, caller: &Caller) -> ServiceResult<Vec<Month>> {
        caller.may_see_team()?;
        let current = self.0.clock.now().month();
        let mut months = self.0.store.views().months(caller.account).await?;
        if !months.contains(&current) {
            months.insert(0, current);
        }
        Ok(months)
    }

    /// The usage of a month and what it was charged.
    pub async fn month_report(&self, caller: &Caller, month: Month) -> ServiceResult<MonthReport> {
        caller.may_see_team()?;
        let account = caller.account;
        let days = self.0.store.views().by_day(account, month).await?;
        Ok(MonthReport {
            month,
            used: self.0.store.views().in_month(account, month).await?,
            charged: self.0.store.ledger().charges_of(account, month).await?,
            top_pages: self.top_pages(caller, month).await?,
            days,
        })
    }

    /// The pages with the most views in a month, those with the most first.
    async fn top_pages(&self, caller: &Caller, month: Month) -> ServiceResult<Vec<PageViews>> {
        let most = self.0.store.views().most_viewed(caller.account, month, TOP_PAGES_MAX).await?;
        let hosts: Vec<Host> = most.iter().map(|(host, _)| host.clone()).collect();
        let mut slugs = self.0.store.artifacts().slugs_at(caller.account, &hosts).await?;
        let page = |(host, views)| PageViews { slug: slugs.remove(&host), host, views };
        Ok(most.into_iter().map(page).collect())
    }

    /// The views of a page on each of the last days, oldest first.
    pub async fn page_views(&self, caller: &Caller, artifact: &Artifact) -> ServiceResult<Vec<DayViews>> {
        caller.may(Scope::ArtifactsRead)?;
        caller.may_touch(artifact.id)?;
        let today = self.0.clock.now().day().number();
        let first = today - RECENT_DAYS + 1;
        let days = Day::from_number(first)..=Day::from_number(today);
        let counted = self.0.store.views().of_host(caller.account, &artifact.host, &days).await?;
        let on = |day| DayViews { day, views: counted.get(&day).copied().unwrap_or_default() };
        Ok((first..=today).map(Day::from_number).map(on).collect())
    }

    /// Views of each of these pages this month.
    pub async fn views_by_host(&self, caller: &Caller, hosts: &[Host]) -> ServiceResult<HashMap<Host, u64>> {
        caller.may(Scope::ArtifactsRead)?;
        let month = self.0.clock.now().month();
        Ok(self.0.store.views().by_host(caller.account, hosts, month).await?)
    }

    /// Views of each of these pages in the last `days` days, today included.
    pub async fn recent_views(
        &self,
        caller: &Caller,
        hosts: &[Host],
        days: u16,
    ) -> ServiceResult<RecentViews> {
        caller.may(Scope::ArtifactsRead)?;
        let now = self.0.clock.now();
        let today = now.day();
        let first = Day::from_number(today.number() + 1 - i64::from(days));
        let by_host = self.0.store.views().by_host_and_day(caller.account, hosts, first).await?;
        Ok(RecentViews { first, days, month: now.month().start().day(), by_host })
    }

    /// Every ledger entry of the account, newest first.
    pub async fn ledger(&self, caller: &Caller, page: &Page) -> ServiceResult<Paged<LedgerEntry>> {
        caller.may_see_team()?;
        Ok(self.0.store.ledger().list(caller.account, page).await?)
    }
}
