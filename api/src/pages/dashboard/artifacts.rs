//! The pages of an account, in one list.

use askama::Template;
use domain::{Artifact, Host, ModerationStatus, Time, Visibility};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{RecentViews, Service};

use super::list_query::ListQuery;
use super::page::{DashboardPage, Frame, Tab, kept_alive, to_sign_in};
use super::pager::{Pager, page_of_rows};
use crate::html::ago::Ago;
use crate::html::figures::{Count, Size};
use crate::html::{framing_page, sparkline};
use crate::http::refusal::RefusedCall;

/// The rows of a page of the list. More would make the page too large for a phone.
const ROWS: u32 = 50;
/// The days of a row's line of views. They include every month from its first day.
const VIEW_DAYS: u16 = 31;

#[derive(Template)]
#[template(path = "dashboard/artifacts.html")]
pub struct ArtifactsPage<'a> {
    pub frame: &'a Frame,
    pub query: &'a ListQuery,
    pub rows: Vec<ArtifactRow>,
    /// How many pages the search finds, in words.
    pub found: String,
    pub pager: Option<Pager>,
    pub base_url: &'a str,
}

pub struct ArtifactRow {
    pub slug: String,
    pub title: Option<String>,
    /// The path of its page on the dashboard.
    pub path: String,
    /// The published page's URL, signed if the page is private.
    pub url: String,
    pub visibility: Visibility,
    /// `None` while no version is live.
    pub live: Option<LiveRow>,
    pub updated: Ago,
    /// Views this month.
    pub views: Count,
    /// The line of the last days' views.
    pub line: Option<String>,
}

pub struct LiveRow {
    pub seq: u32,
    pub size: Size,
    pub moderation: ModerationStatus,
    /// The version's own address, at which views are not counted.
    pub preview: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let query = ListQuery::of(request);
    let page = page_of_rows(request, query.filter.order.list(), ROWS)?;
    let artifacts = service.search_artifacts(&dashboard.caller, &query.filter, &page).await?;
    let hosts: Vec<Host> = artifacts.rows.iter().map(|artifact| artifact.host.clone()).collect();
    let views = service.recent_views(&dashboard.caller, &hosts, VIEW_DAYS).await?;
    let pager = Pager::of(&page, &artifacts, &query.path(&dashboard.path("")), "pages");
    let now = service.clock().now();
    let row = |artifact| ArtifactRow::new(artifact, &views, &dashboard.frame, &service, now);
    let template = ArtifactsPage {
        frame: &dashboard.frame,
        rows: artifacts.rows.iter().map(row).collect(),
        found: found(artifacts.total.unwrap_or_default()),
        query: &query,
        pager,
        base_url: &service.addresses().base_url,
    };
    let answer = framing_page(StatusCode::OK, &template, service.addresses())?;
    Ok(kept_alive(request, &service, answer))
}

impl ArtifactsPage<'_> {
    fn can_publish(&self) -> bool {
        self.frame.suspension.is_none() && self.frame.arrears.is_none()
    }

    fn has_lines(&self) -> bool {
        self.rows.iter().any(|row| row.line.is_some())
    }
}

/// `1 page`, `1,205 pages`.
pub fn found(count: u64) -> String {
    if count == 1 { "1 page".to_owned() } else { format!("{} pages", Count(count)) }
}

impl ArtifactRow {
    /// What visitors do not get, or may soon not get. `None` for a page that is simply live.
    fn badge(&self) -> Option<&'static str> {
        match self.live.as_ref().map(|live| live.moderation) {
            None => Some("not live"),
            Some(ModerationStatus::Review) => Some("in review"),
            Some(ModerationStatus::Blocked) => Some("blocked"),
            Some(ModerationStatus::Pass | ModerationStatus::Pending) => None,
        }
    }

    fn new(artifact: &Artifact, views: &RecentViews, frame: &Frame, service: &Service, now: Time) -> Self {
        let live = artifact.live.map(|live| LiveRow {
            seq: live.seq,
            size: Size(live.total_bytes),
            moderation: live.moderation,
            preview: service.member_version_url(artifact, live.seq),
        });
        Self {
            slug: artifact.slug.to_string(),
            title: artifact.title.as_ref().map(ToString::to_string),
            path: frame.path(&format!("/pages/{}", artifact.slug)),
            url: service.member_url(artifact),
            visibility: artifact.visibility,
            live,
            updated: Ago::new(artifact.updated_at, now),
            views: Count(views.this_month(&artifact.host)),
            line: sparkline::points(&views.by_day(&artifact.host)),
        }
    }
}
