//! The account's usage in a month: against the free amounts, by day, by page, and what it costs. Prices come
//! from the tariff and the ledger and are never calculated here.

use askama::Template;
use domain::{AccountSummary, Day, DayUse, Micro, Month, MonthCharges, Refusal, Tariff, Time};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{MonthReport, PageViews, Service};

use super::chart::{Chart, OnDay};
use super::page::{DashboardPage, Frame, Tab, render_page, to_sign_in};
use crate::html::figures::{Count, DayOfMonth, Dollars, MonthName, Size};
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "dashboard/usage.html")]
pub struct UsagePage<'a> {
    pub frame: &'a Frame,
    pub month: MonthName,
    pub months: Vec<MonthChoice>,
    /// The amount that the month will probably cost; `None` for a month that has ended.
    pub expected: Option<Dollars>,
    pub figures: Vec<Figure>,
    pub bill: Vec<BillRow>,
    /// What was charged for the month so far.
    pub charged: Dollars,
    pub charts: [Chart; 2],
    /// The days of the month so far, newest first.
    pub days: Vec<DayRow>,
    pub top_pages: Vec<PageRow>,
}

pub struct MonthChoice {
    /// `YYYY-MM`
    pub value: String,
    pub name: MonthName,
    pub is_chosen: bool,
}

/// A number for the month, with a note on limits and prices.
pub struct Figure {
    pub name: &'static str,
    pub value: String,
    pub note: String,
    pub gauge: Option<Gauge>,
}

/// How much of a free amount is used.
pub struct Gauge {
    /// In percent, at most 100.
    pub filled: u64,
    /// What is above the free amount, as text.
    pub overage: Option<String>,
}

pub struct BillRow {
    pub name: &'static str,
    pub charged: Dollars,
    /// Until the end of the month. Only for the current one.
    pub expected: Option<Dollars>,
}

pub struct PageRow {
    /// The page's name and path on the dashboard. `None` if it has been deleted.
    pub page: Option<(String, String)>,
    pub host: String,
    pub views: Count,
}

pub struct DayRow {
    pub day: DayOfMonth,
    pub date: String,
    pub views: Count,
    pub publishes: Count,
}

/// What the page is made of.
pub struct UsageData<'a> {
    pub summary: &'a AccountSummary,
    pub tariff: &'a Tariff,
    pub months: &'a [Month],
    pub report: &'a MonthReport,
    pub now: Time,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct UsageQuery {
    month: Option<String>,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Usage).await? else {
        return Ok(to_sign_in(request));
    };
    let months = service.reported_months(&dashboard.caller).await?;
    let now = service.clock().now();
    let month = month_of(request, &months, now.month())?;
    let summary = service.account(&dashboard.caller).await?;
    let report = service.month_report(&dashboard.caller, month).await?;
    let data =
        UsageData { summary: &summary, tariff: service.tariff(), months: &months, report: &report, now };
    render_page(request, &service, None, &UsagePage::new(&dashboard.frame, &data))
}

/// The month in the query, which must be one with a report. By default the current one.
fn month_of(request: &Request, months: &[Month], current: Month) -> Result<Month, Refusal> {
    let query: UsageQuery = request.params().unwrap_or_default();
    let Some(text) = query.month else { return Ok(current) };
    let month = text.parse().map_err(|()| Refusal::invalid("month", "must look like 2026-11"))?;
    if months.contains(&month) {
        return Ok(month);
    }
    Err(Refusal::invalid("month", "must be a month in which the account was used"))
}

impl<'a> UsagePage<'a> {
    pub fn new(frame: &'a Frame, data: &UsageData<'_>) -> Self {
        let UsageData { summary, tariff, report, now, .. } = data;
        let is_current = report.month == now.month();
        let expected = is_current.then(|| tariff.expected_charges(summary, report.charged, *now));
        let days = &report.days;
        let so_far = days.iter().filter(|one| one.day <= now.day());
        Self {
            frame,
            month: MonthName(report.month),
            months: data.months.iter().map(|month| MonthChoice::new(*month, report.month)).collect(),
            expected: expected.map(|expected| Dollars::estimate(expected.total())),
            figures: if is_current { current_figures(data) } else { past_figures(report) },
            bill: bill(report.charged, expected),
            charged: Dollars(report.charged.total()),
            charts: [
                chart("Views", days, now.day(), |one| one.views),
                chart("Publishes", days, now.day(), |one| one.publishes),
            ],
            days: so_far.rev().map(DayRow::new).collect(),
            top_pages: report.top_pages.iter().map(|page| PageRow::new(page, frame)).collect(),
        }
    }
}

impl MonthChoice {
    fn new(month: Month, chosen: Month) -> Self {
        Self { value: month.to_string(), name: MonthName(month), is_chosen: month == chosen }
    }
}

fn chart(name: &'static str, days: &[DayUse], today: Day, count: impl Fn(&DayUse) -> u64) -> Chart {
    let counts: Vec<_> = days.iter().map(|one| OnDay { day: one.day, count: count(one) }).collect();
    Chart::new(name, &counts, today)
}

fn current_figures(data: &UsageData<'_>) -> Vec<Figure> {
    let UsageData { summary, tariff, report, .. } = data;
    let account = &summary.account;
    let hidden = summary.restricted_artifacts;
    vec![
        publishes_figure(data),
        views_figure(data),
        storage_figure(summary, tariff),
        Figure {
            name: "Unlisted and private pages",
            value: Count(hidden).to_string(),
            note: format!(
                "{} a month for each. {} charged for this month.",
                Dollars(tariff.visibility_price),
                Dollars(report.charged.visibility)
            ),
            gauge: None,
        },
        Figure {
            name: "Credit",
            value: Dollars(account.balance).to_string(),
            note: "pays for the charges".to_owned(),
            gauge: None,
        },
    ]
}

fn publishes_figure(data: &UsageData<'_>) -> Figure {
    let UsageData { summary, tariff, report, .. } = data;
    let (used, free) = (summary.publishes_used(), tariff.free_publishes(summary.account.status));
    let above = Count(used.saturating_sub(free));
    Figure {
        name: "Publishes",
        value: Count(used).to_string(),
        note: format!("of {} free, then {} each", Count(free), Dollars(tariff.publish_price)),
        gauge: Some(Gauge::new(used, free, || {
            format!("{above} above the free amount: {} so far", Dollars(report.charged.publishes))
        })),
    }
}

fn views_figure(data: &UsageData<'_>) -> Figure {
    let UsageData { summary, tariff, .. } = data;
    let used = summary.used.views;
    Figure {
        name: "Views",
        value: Count(used).to_string(),
        note: format!(
            "of {} free, then {} per million",
            Count(tariff.free_views),
            Dollars(tariff.traffic_price_per_million)
        ),
        gauge: Some(Gauge::new(used, tariff.free_views, || {
            let cost = Dollars(tariff.traffic_charge(used));
            format!("{} above the free amount: {cost} so far", Count(tariff.overage_views(used)))
        })),
    }
}

fn storage_figure(summary: &AccountSummary, tariff: &Tariff) -> Figure {
    let (used, free) = (summary.account.storage_bytes, tariff.free_storage_left(summary.stored));
    Figure {
        name: "Storage",
        value: Size(used).to_string(),
        note: format!("of {} free, then {} per GB", Size(free), Dollars(tariff.storage_price_per_gb)),
        gauge: Some(Gauge::new(used, free, || {
            let cost = Dollars(tariff.storage_charge(summary.stored));
            format!("{} above the free amount: {cost} this month", Size(used.saturating_sub(free)))
        })),
    }
}

/// The free amounts of a past month may have been others, so only its numbers and charges are shown.
fn past_figures(report: &MonthReport) -> Vec<Figure> {
    let figure = |name, count, charged| Figure {
        name,
        value: Count(count).to_string(),
        note: format!("{} charged", Dollars(charged)),
        gauge: None,
    };
    vec![
        figure("Publishes", report.used.publishes, report.charged.publishes),
        figure("Views", report.used.views, report.charged.views),
    ]
}

fn bill(charged: MonthCharges, expected: Option<MonthCharges>) -> Vec<BillRow> {
    let row = |name, part: fn(&MonthCharges) -> Micro| BillRow {
        name,
        charged: Dollars(part(&charged)),
        expected: expected.as_ref().map(|expected| Dollars::estimate(part(expected))),
    };
    vec![
        row("Publishes above the free amount", |charges| charges.publishes),
        row("Views above the free amount", |charges| charges.views),
        row("Storage above the free amount", |charges| charges.storage),
        row("Unlisted and private pages", |charges| charges.visibility),
    ]
}

impl Gauge {
    fn new(used: u64, free: u64, overage: impl Fn() -> String) -> Self {
        let percent = u128::from(used) * 100 / u128::from(free.max(1));
        Self { filled: u64::try_from(percent).unwrap_or(100).min(100), overage: (used > free).then(overage) }
    }
}

impl PageRow {
    fn new(page: &PageViews, frame: &Frame) -> Self {
        let link = |slug: &domain::Slug| (slug.to_string(), frame.path(&format!("/pages/{slug}")));
        Self { page: page.slug.as_ref().map(link), host: page.host.to_string(), views: Count(page.views) }
    }
}

impl DayRow {
    fn new(one: &DayUse) -> Self {
        Self {
            day: DayOfMonth(one.day),
            date: one.day.to_string(),
            views: Count(one.views),
            publishes: Count(one.publishes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_months_with_a_report_are_shown() {
        let months = ["2026-11", "2026-09"].map(|month| month.parse().unwrap());
        let chosen = |query: &str| {
            let request = Request::builder().uri_str(format!("/dashboard/x/usage?{query}")).finish();
            month_of(&request, &months, months[0]).map(|month| month.to_string())
        };
        assert_eq!(chosen(""), Ok("2026-11".into()));
        assert_eq!(chosen("month=2026-09"), Ok("2026-09".into()));
        for bad in ["2026-10", "2026-12", "2026-9", "", "%3Cb%3E"] {
            assert_eq!(chosen(&format!("month={bad}")).unwrap_err().code(), "invalid_request", "{bad}");
        }
    }

    #[test]
    fn gauge_is_full_at_the_free_amount_and_names_what_is_above() {
        let gauge = |used, free| {
            let gauge = Gauge::new(used, free, || "above".to_owned());
            (gauge.filled, gauge.overage.is_some())
        };
        assert_eq!([gauge(0, 100), gauge(99, 100), gauge(100, 100)], [(0, false), (99, false), (100, false)]);
        assert_eq!([gauge(101, 100), gauge(1, 0), gauge(0, 0)], [(100, true), (100, true), (0, false)]);
        assert_eq!(gauge(u64::MAX, 1), (100, true));
    }
}
