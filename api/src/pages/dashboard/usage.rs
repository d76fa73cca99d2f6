//! The account's usage this month, in total and by day, as a small chart with a table of the same numbers.
//! Prices come from the tariff and are never calculated here.

use askama::Template;
use domain::{AccountSummary, Day, DayUse, Tariff};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use super::page::{DashboardPage, Frame, Tab, render_page, to_sign_in};
use crate::html::figures::{Count, DayOfMonth, Dollars, MonthName, Size};
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "dashboard/usage.html")]
pub struct UsagePage<'a> {
    pub frame: &'a Frame,
    pub month: MonthName,
    pub figures: Vec<Figure>,
    pub charts: [Chart; 2],
    /// The days of the month so far, newest first.
    pub days: Vec<DayRow>,
}

/// A number for the month, with a note on limits and prices.
pub struct Figure {
    pub name: &'static str,
    pub value: String,
    pub note: String,
}

/// One bar for each day.
pub struct Chart {
    pub name: &'static str,
    /// The number of days.
    pub days: usize,
    pub bars: Vec<Bar>,
    /// The chart's data as text.
    pub text: String,
}

/// The chart is one unit wide for each day, and 100 units high.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bar {
    pub day: usize,
    pub top: u64,
    pub height: u64,
}

pub struct DayRow {
    pub day: DayOfMonth,
    pub date: String,
    pub views: Count,
    pub publishes: Count,
}

const CHART_HEIGHT: u64 = 100;
/// Keeps a day with few events visible beside one with many.
const BAR_HEIGHT_MIN: u64 = 2;

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Usage).await? else {
        return Ok(to_sign_in(request));
    };
    let summary = service.account(&dashboard.caller).await?;
    let days = service.days(&dashboard.caller).await?;
    let today = service.clock().now().day();
    let template = UsagePage::new(&dashboard.frame, &summary, service.tariff(), &days, today);
    render_page(request, &service, None, &template)
}

impl<'a> UsagePage<'a> {
    pub fn new(
        frame: &'a Frame,
        summary: &AccountSummary,
        tariff: &Tariff,
        days: &[DayUse],
        today: Day,
    ) -> Self {
        let so_far = days.iter().filter(|one| one.day <= today);
        Self {
            frame,
            month: MonthName(summary.month),
            figures: figures(summary, tariff),
            charts: [
                Chart::new("Views", days, |one| one.views),
                Chart::new("Publishes", days, |one| one.publishes),
            ],
            days: so_far.rev().map(DayRow::new).collect(),
        }
    }
}

fn figures(summary: &AccountSummary, tariff: &Tariff) -> Vec<Figure> {
    let (account, standing) = (&summary.account, summary.standing());
    let hidden = summary.restricted_artifacts;
    vec![
        Figure {
            name: "Publishes",
            value: Count(standing.publishes_used).to_string(),
            note: format!(
                "of {} free, then {} each",
                Count(tariff.free_publishes(account.status)),
                Dollars(tariff.publish_price)
            ),
        },
        Figure {
            name: "Views",
            value: Count(summary.used.views).to_string(),
            note: format!(
                "of {} free, then {} per million",
                Count(tariff.free_views),
                Dollars(tariff.traffic_price_per_million)
            ),
        },
        Figure {
            name: "Storage",
            value: Size(account.storage_bytes).to_string(),
            note: format!(
                "{} this month. {} free, then {} per GB.",
                Dollars(tariff.storage_charge(summary.stored)),
                Size(tariff.free_storage_left(summary.stored)),
                Dollars(tariff.storage_price_per_gb)
            ),
        },
        Figure {
            name: "Unlisted and private pages",
            value: Count(hidden).to_string(),
            note: format!("{} a month", Dollars(tariff.visibility_charge(hidden))),
        },
        Figure {
            name: "Credit",
            value: Dollars(account.balance).to_string(),
            note: "pays for the charges above".to_owned(),
        },
    ]
}

impl Chart {
    fn new(name: &'static str, days: &[DayUse], count: impl Fn(&DayUse) -> u64) -> Self {
        let most = days.iter().max_by_key(|one| count(one)).filter(|one| count(one) > 0);
        let total: u64 = days.iter().map(&count).sum();
        let text = match most {
            Some(day) => {
                format!("{} in total, most on {}: {}", Count(total), DayOfMonth(day.day), Count(count(day)))
            }
            None => "none yet".to_owned(),
        };
        let max = most.map_or(0, &count);
        let bars = days.iter().enumerate().filter_map(|(at, one)| Bar::new(at, count(one), max)).collect();
        Self { name, days: days.len(), bars, text }
    }
}

impl Bar {
    fn new(day: usize, count: u64, max: u64) -> Option<Self> {
        let part = u128::from(count) * u128::from(CHART_HEIGHT) / u128::from(max.max(1));
        let height = u64::try_from(part).unwrap_or(CHART_HEIGHT).max(BAR_HEIGHT_MIN);
        (count > 0).then_some(Self { day, top: CHART_HEIGHT - height, height })
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
    fn the_highest_bar_fills_the_chart_and_the_lowest_can_be_seen() {
        let days: Vec<_> = [0, 1, 1_000, 500]
            .into_iter()
            .enumerate()
            .map(|(at, views)| DayUse { day: Day::from_number(at as i64), publishes: 0, views })
            .collect();
        let chart = Chart::new("Views", &days, |one| one.views);
        let bar = |day, top| Bar { day, top, height: 100 - top };
        assert_eq!(chart.bars, [bar(1, 98), bar(2, 0), bar(3, 50)]);
        assert_eq!((chart.days, chart.text.as_str()), (4, "1,501 in total, most on 3 Jan: 1,000"));
        assert_eq!(Chart::new("Publishes", &days, |one| one.publishes).text, "none yet");
    }
}
