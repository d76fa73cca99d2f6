//! The pages of an account, in one list.

use std::collections::HashMap;

use askama::Template;
use domain::{Artifact, Host, List, ModerationStatus, Visibility};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use super::page::{DashboardPage, Frame, Tab, render_page, to_sign_in};
use super::pager::{Pager, page_of};
use crate::html::figures::{Count, Size};
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "dashboard/artifacts.html")]
pub struct ArtifactsPage<'a> {
    pub frame: &'a Frame,
    pub rows: Vec<ArtifactRow>,
    pub pager: Option<Pager>,
    pub base_url: &'a str,
}

pub struct ArtifactRow {
    pub slug: String,
    /// The path of its page on the dashboard.
    pub path: String,
    /// The published page's URL, signed if the page is private.
    pub url: String,
    pub visibility: Visibility,
    /// `None` while no version is live.
    pub live: Option<LiveRow>,
    pub views: Count,
}

pub struct LiveRow {
    pub seq: u32,
    pub size: Size,
    pub moderation: ModerationStatus,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let page = page_of(request, List::Artifacts)?;
    let artifacts = service.artifacts(&dashboard.caller, &page).await?;
    let hosts: Vec<Host> = artifacts.rows.iter().map(|artifact| artifact.host.clone()).collect();
    let views = service.views_by_host(&dashboard.caller, &hosts).await?;
    let pager = Pager::of(&page, &artifacts, &dashboard.path(""), "pages");
    let row = |artifact| ArtifactRow::new(artifact, &views, &dashboard.frame, &service);
    let rows = artifacts.rows.iter().map(row).collect();
    let base_url = &service.addresses().base_url;
    let template = ArtifactsPage { frame: &dashboard.frame, rows, pager, base_url };
    render_page(request, &service, None, &template)
}

impl ArtifactRow {
    fn new(artifact: &Artifact, views: &HashMap<Host, u64>, frame: &Frame, service: &Service) -> Self {
        let live = artifact.live.map(|live| LiveRow {
            seq: live.seq,
            size: Size(live.total_bytes),
            moderation: live.moderation,
        });
        Self {
            slug: artifact.slug.to_string(),
            path: frame.path(&format!("/pages/{}", artifact.slug)),
            url: service.member_url(artifact),
            visibility: artifact.visibility,
            live,
            views: Count(views.get(&artifact.host).copied().unwrap_or_default()),
        }
    }
}
