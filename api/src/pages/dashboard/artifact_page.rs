//! One page: its versions, its visibility, and its deletion. Rolling back and forward is free and can be
//! undone. A button for a change that costs money shows the price.

use askama::Template;
use domain::{
    AppealMessage, Artifact, CreatedVia, List, ModerationStatus, Page, Refusal, Version, Visibility,
};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{ArtifactDetail, Caller, ModerationNotice, Service};

use super::deleted::purged_flash;
use super::page::{DashboardPage, Frame, Tab, kept_alive, slug_of, to_show, to_sign_in};
use super::pager::{Pager, page_of};
use super::question::{Question, QuestionOption};
use super::visibility::{Price, VisibilityChoice, choices};
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::figures::{Count, Dollars, Moment, Size};
use crate::html::{found_at, framing_page};
use crate::http::refusal::{RefusedCall, status_of};
use crate::wire::read_appeal;

#[derive(Template)]
#[template(path = "dashboard/artifact.html")]
pub struct ArtifactPage<'a> {
    pub frame: &'a Frame,
    pub slug: String,
    /// The path of this page on the dashboard.
    pub path: String,
    /// The published page's URL, signed if the page is private.
    pub url: String,
    /// The URL for the preview, while a version is live.
    pub preview: Option<String>,
    pub is_private: bool,
    pub visibility: Visibility,
    pub moderation: Option<ModerationStatus>,
    pub notice: ModerationNotice,
    pub appeal: AppealForm,
    pub views: Count,
    pub versions: Vec<VersionRow>,
    pub pager: Option<Pager>,
    pub choices: Vec<VisibilityChoice>,
    /// The monthly price of an unlisted or private page.
    pub price: Dollars,
    pub delete: Question,
}

pub struct VersionRow {
    pub seq: u32,
    pub made_at: Moment,
    pub size: Size,
    pub files: Count,
    pub via: &'static str,
    pub message: Option<String>,
    pub moderation: ModerationStatus,
    pub state: VersionState,
    /// The `seq` of the version before it, with which it is compared. `None` for the first one.
    pub before: Option<u32>,
    /// The version's own address, signed if the page is private.
    pub url: String,
}

/// A version's position relative to the live one, which decides its button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VersionState {
    Live,
    Before,
    After,
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
    let host = &detail.artifact.host;
    let views = service.views_by_host(&dashboard.caller, std::slice::from_ref(host)).await?;
    let views = views.get(host).copied().unwrap_or_default();
    let due = service.visibility_price(&dashboard.caller, &detail.artifact).await?;
    let price = Price { due, month: service.tariff().visibility_price };
    let url = service.member_url(&detail.artifact);
    let pager = Pager::of(&page, &detail.versions, &path_of(&dashboard.frame, &detail.artifact), "versions");
    let mut template =
        ArtifactPage { pager, appeal, ..ArtifactPage::new(&dashboard.frame, &detail, url, views, price) };
    if let Some(last) = template.versions.last_mut() {
        last.before = before_last;
    }
    let answer = framing_page(status, &template, service.addresses())?;
    Ok(kept_alive(request, service, answer))
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

    pub fn new(frame: &'a Frame, detail: &ArtifactDetail, url: String, views: u64, price: Price) -> Self {
        let artifact = &detail.artifact;
        let live_seq = artifact.live.map(|live| live.seq);
        Self {
            frame,
            slug: artifact.slug.to_string(),
            path: path_of(frame, artifact),
            preview: live_seq.map(|seq| preview(&url, seq)),
            url,
            is_private: artifact.visibility == Visibility::Private,
            visibility: artifact.visibility,
            moderation: artifact.live.map(|live| live.moderation),
            notice: detail.moderation.clone(),
            appeal: AppealForm::default(),
            views: Count(views),
            versions: version_rows(detail, live_seq),
            pager: None,
            choices: choices(artifact.visibility, price),
            price: Dollars(price.month),
            delete: question(frame, artifact),
        }
    }
}

fn version_rows(detail: &ArtifactDetail, live_seq: Option<u32>) -> Vec<VersionRow> {
    let rows = &detail.versions.rows;
    let row = |(at, version): (usize, &Version)| {
        let before = rows.get(at + 1).map(|row| row.seq);
        VersionRow::new(version, live_seq, before, detail.version_links.link(version.seq))
    };
    rows.iter().enumerate().map(row).collect()
}

impl VersionRow {
    fn new(version: &Version, live_seq: Option<u32>, before: Option<u32>, url: String) -> Self {
        Self {
            seq: version.seq,
            made_at: Moment(version.created_at),
            size: Size(version.total_bytes),
            files: Count(version.file_count.into()),
            via: created_via_label(version.created_via),
            message: version.message.as_ref().map(ToString::to_string),
            moderation: version.moderation,
            state: VersionState::of(version.seq, live_seq),
            before,
            url,
        }
    }
}

impl VersionState {
    fn of(seq: u32, live_seq: Option<u32>) -> Self {
        match live_seq {
            Some(live) if live == seq => VersionState::Live,
            Some(live) if seq < live => VersionState::Before,
            _ => VersionState::After,
        }
    }
}

/// Browsers cache a page for a minute. The version in the URL makes them load the live one.
fn preview(url: &str, live_seq: u32) -> String {
    let separator = if url.contains('?') { '&' } else { '?' };
    format!("{url}{separator}version={live_seq}")
}

fn created_via_label(created_via: CreatedVia) -> &'static str {
    match created_via {
        CreatedVia::Api => "API",
        CreatedVia::Mcp => "MCP",
        CreatedVia::Web => "website",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_button_says_roll_back_or_roll_forward() {
        assert_eq!(
            [1, 2, 3].map(|seq| VersionState::of(seq, Some(2))),
            [VersionState::Before, VersionState::Live, VersionState::After]
        );
        assert_eq!(VersionState::of(1, None), VersionState::After);
    }
}
