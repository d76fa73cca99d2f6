//! The history of a page's account, for the review of the page.

use domain::Account;
use service::{AccountHistoryPage, AccountReport};

use super::list::{List, ReviewStatusFilter};
use super::log::DecisionRow;
use crate::html::figures::{Count, Moment};

pub struct HistoryRows {
    pub created_at: Moment,
    pub pages: Count,
    /// The paths of the account's pages in the queue, and of its blocked pages.
    pub waiting: String,
    pub blocked: String,
    pub decisions: Vec<DecisionRow>,
    pub reports: Vec<AccountReportRow>,
}

pub struct AccountReportRow {
    pub host: String,
    pub path: String,
    pub reason: Option<String>,
    pub at: Moment,
    pub is_open: bool,
}

impl HistoryRows {
    pub fn new(account: &Account, history: AccountHistoryPage) -> Self {
        let list = List { account: account.handle.clone(), ..List::default() };
        Self {
            created_at: Moment(account.created_at),
            pages: Count(history.pages),
            waiting: list.path(),
            blocked: list.on(ReviewStatusFilter::Blocked).path(),
            decisions: history.decisions.into_iter().map(DecisionRow::from).collect(),
            reports: history.reports.into_iter().map(AccountReportRow::from).collect(),
        }
    }
}

impl From<AccountReport> for AccountReportRow {
    fn from(report: AccountReport) -> Self {
        Self {
            path: format!("{}/{}", super::QUEUE, report.host),
            host: report.host.to_string(),
            reason: report.reason,
            at: Moment(report.at),
            is_open: report.is_open,
        }
    }
}
