//! One page: a preview, its versions and files, its views, its visibility, and its deletion. Making another
//! version live is free and can be undone. A change that costs money shows the price.

use askama::Template;
use domain::{
    AppealMessage, Artifact, List, ModerationStatus, Page, Refusal, Time, VersionChoice, Visibility,
};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{ArtifactDetail, Caller, DayViews, Service, VersionFiles};

use super::artifact_rows::{DayRow, FileRow, LiveFacts, Notice, VersionRow, file_rows, version_rows};
use super::chart::{Chart, OnDay};
use super::deleted::purged_flash;
use super::page::{DashboardPage, Frame, Tab, kept_alive, slug_of, to_show, to_sign_in};
use super::pager::{Pager, page_of};
use super::private_link;
use super::question::{Question, QuestionOption};
use super::visibility::{Price, VisibilityControl};
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::figures::Count;
use crate::html::{found_at, framing_page};
use crate::http::refusal::{RefusedCall, status_of};
use crate::wire::read_appeal;

#[derive(Template)]
#[template(path = "dashboard/artifact.html")]
pub struct ArtifactPage<'a> {
    pub frame: &'a Frame,
    pub slug: String,
    pub title: Option<String>,
    /// The path of this page on the dashboard.
    pub path: String,
    /// The published page's URL, signed if the page is private.
    pub url: String,
    /// The address of the live version for the preview, unless it is blocked. Views of it are not counted.
    pub preview: Option<String>,
    pub live: Option<LiveFacts>,
    pub is_private: bool,
    /// Whether to replace the link of a private page.
    pub replace_link: Option<Question>,
    pub visibility: Visibility,
    pub moderation: Option<ModerationStatus>,
    pub notice: Option<Notice>,
    pub appeal: AppealForm,
    /// Views this month.
    pub views: Count,
    pub versions: Vec<VersionRow>,
    pub pager: Option<Pager>,
    /// The files of the live version.
    pub files: Vec<FileRow>,
    pub chart: Chart,
    /// The days of the chart, newest first.
    pub days: Vec<DayRow>,
    pub visibility_control: VisibilityControl,
    pub delete: Question,
}

/// What the page shows beside the artifact and its versions.
pub struct Beside {
    /// The published page's URL, signed if the page is private.
    pub url: String,
    /// The files of the live version.
    pub files: Option<VersionFiles>,
    pub views_this_month: u64,
    pub views: Vec<DayViews>,
    pub price: Price,
    pub now: Time,
}

/// The text of an appeal that was refused.
#[derive(Default)]
pub struct AppealForm {
    pub message: String,
    pub faults: Faults,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    render(request, &service, &dashboard, StatusCode::OK, AppealForm::default()).await
}

/// The current page, with the refused appeal if there is one.
async fn render(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    status: StatusCode,
    appeal: AppealForm,
) -> Result<Response, RefusedCall> {
    let page = page_of(request, List::Versions)?;
    let detail = service.artifact(&dashboard.caller, &slug_of(request)?, &page).await?;
    let before_last = seq_on_next_page(service, &dashboard.caller, &detail).await?;
    let beside = beside(service, &dashboard.caller, &detail.artifact).await?;
    let pager = Pager::of(&page, &detail.versions, &path_of(&dashboard.frame, &detail.artifact), "versions");
    let mut template =
        ArtifactPage { pager, appeal, ..ArtifactPage::new(&dashboard.frame, &detail, &beside) };
    if let Some(last) = template.versions.last_mut() {
        last.before = before_last;
    }
    let answer = framing_page(status, &template, service.addresses())?;
    Ok(kept_alive(request, service, answer))
}

async fn beside(service: &Service, caller: &Caller, artifact: &Artifact) -> Result<Beside, RefusedCall> {
    let files = match artifact.live {
        Some(live) => {
            let live = VersionChoice::Numbered(live.seq);
            Some(service.version_files(caller, &artifact.slug, live).await?)
        }
        None => None,
    };
    let host = &artifact.host;
    let views = service.views_by_host(caller, std::slice::from_ref(host)).await?;
    let due = service.visibility_price(caller, artifact).await?;
    Ok(Beside {
        url: service.member_url(artifact),
        files,
        views_this_month: views.get(host).copied().unwrap_or_default(),
        views: service.page_views(caller, artifact).await?,
        price: Price { due, month: service.tariff().visibility_price },
        now: service.clock().now(),
    })
}

/// The first version of the next page of the list, with which the last one of this page is compared.
async fn seq_on_next_page(
    service: &Service,
    caller: &Caller,
    detail: &ArtifactDetail,
) -> Result<Option<u32>, RefusedCall> {
    let Some(next) = &detail.versions.next else { return Ok(None) };
    let page = Page::after(next.clone(), 1);
    let following = service.versions(caller, detail.artifact.id, &page).await?;
    Ok(following.rows.first().map(|version| version.seq))
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AppealFields {
    message: String,
}

#[handler]
pub async fn send_appeal(
    request: &Request,
    Fields(form): Fields<AppealFields>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let slug = slug_of(request)?;
    let appealed = match read_appeal(&form.message) {
        Ok(message) => service.appeal(&dashboard.caller, &slug, message).await.map_err(RefusedCall::from),
        Err(refusal) => Err(refusal.into()),
    };
    match appealed {
        Ok(_) => Ok(found_at(&dashboard.path(&format!("/pages/{slug}?done=appealed")))),
        Err(refused) => {
            let refusal = to_show(refused, request)?;
            let faults = Faults::of(&refusal, &["message"], request.uri().path());
            let again = AppealForm { message: form.message, faults };
            render(request, &service, &dashboard, status_of(&refusal), again).await
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct ActivateForm {
    version: String,
}

#[handler]
pub async fn activate(
    request: &Request,
    Fields(form): Fields<ActivateForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let slug = slug_of(request)?;
    let seq = form.version.parse().map_err(|_| Refusal::invalid("version", "is not a number"))?;
    service.activate(&dashboard.caller, &slug, seq).await?;
    Ok(found_at(&dashboard.path(&format!("/pages/{slug}?done=live"))))
}

#[handler]
pub async fn ask_to_delete(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let artifact = service.artifact_alone(&dashboard.caller, &slug_of(request)?).await?;
    let back = path_of(&dashboard.frame, &artifact);
    question(&dashboard.frame, &artifact).render(request, &service, &dashboard.frame, &back)
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct DeleteForm {
    purge: bool,
}

#[handler]
pub async fn delete(
    request: &Request,
    Fields(form): Fields<DeleteForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let slug = slug_of(request)?;
    if form.purge {
        let artifact = service.artifact_alone(&dashboard.caller, &slug).await?;
        let purged = service.purge_by_id(&dashboard.caller, artifact.id).await?;
        return Ok(found_at(&dashboard.path(&format!("?done={}", purged_flash(&purged.held)))));
    }
    service.delete(&dashboard.caller, &slug).await?;
    Ok(found_at(&dashboard.path("?done=deleted")))
}

pub fn path_of(frame: &Frame, artifact: &Artifact) -> String {
    frame.path(&format!("/pages/{}", artifact.slug))
}

impl<'a> ArtifactPage<'a> {
    const APPEAL_LENGTH_MAX: usize = AppealMessage::LENGTH_MAX;
    /// More files than these are shown on request.
    const FILES_OPEN_MAX: usize = 10;

    pub fn new(frame: &'a Frame, detail: &ArtifactDetail, beside: &Beside) -> Self {
        let artifact = &detail.artifact;
        let today = beside.now.day();
        let counts: Vec<_> = beside.views.iter().map(|on| OnDay { day: on.day, count: on.views }).collect();
        let shown = artifact.live.filter(|live| live.moderation != ModerationStatus::Blocked);
        Self {
            frame,
            slug: artifact.slug.to_string(),
            title: artifact.title.as_ref().map(ToString::to_string),
            path: path_of(frame, artifact),
            preview: shown.map(|live| detail.version_links.link(live.seq)),
            live: LiveFacts::of(detail, beside.now),
            url: beside.url.clone(),
            is_private: artifact.visibility == Visibility::Private,
            replace_link: private_link::question(frame, artifact),
            visibility: artifact.visibility,
            moderation: artifact.live.map(|live| live.moderation),
            notice: artifact.live.and(Notice::of(&detail.moderation)),
            appeal: AppealForm::default(),
            views: Count(beside.views_this_month),
            versions: version_rows(detail, beside.now),
            pager: None,
            files: beside
                .files
                .as_ref()
                .map_or_else(Vec::new, |files| file_rows(files, &detail.version_links)),
            chart: Chart::new("Views", &counts, today),
            days: beside.views.iter().rev().map(DayRow::from).collect(),
            visibility_control: VisibilityControl::new(artifact.visibility, beside.price),
            delete: question(frame, artifact),
        }
    }
}

pub fn question(frame: &Frame, artifact: &Artifact) -> Question {
    let slug = &artifact.slug;
    Question {
        id: "delete".to_owned(),
        path: format!("{}/delete", path_of(frame, artifact)),
        verb: "Delete",
        subject: format!("{slug}"),
        title: format!("Delete {slug}?"),
        text: format!(
            "The URL stops working at once. You can restore the page with its URL for 30 days. If you \
             publish {slug} again in the meantime, that page gets a new URL."
        ),
        keep: "Cancel",
        option: Some(QuestionOption {
            field: "purge",
            label: "Delete it forever, with all of its versions. This cannot be undone.",
            is_checked: false,
        }),
    }
}
