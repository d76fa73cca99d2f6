//! The pages that were deleted in the last 30 days: a person restores them, or deletes them for good. Several
//! may have had the same slug, so each row shows its host, and forms name it by its id.

use askama::Template;
use domain::{ArtifactId, Missing, Refusal, Time};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{DeletedArtifact, Service};

use super::page::{DashboardPage, Frame, Tab, render_page, to_sign_in};
use super::question::Question;
use crate::html::ago::Ago;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "dashboard/deleted.html")]
pub struct DeletedPage<'a> {
    pub frame: &'a Frame,
    pub rows: Vec<DeletedRow>,
}

pub struct DeletedRow {
    pub slug: String,
    pub host: String,
    pub deleted_at: Ago,
    pub restorable_until: Ago,
    /// The path of the form that restores it.
    pub restore: String,
    pub purge: Question,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let deleted = service.deleted_artifacts(&dashboard.caller).await?;
    let now = service.clock().now();
    let rows = deleted.iter().map(|one| DeletedRow::new(one, &dashboard.frame, now)).collect();
    render_page(request, &service, None, &DeletedPage { frame: &dashboard.frame, rows })
}

#[handler]
pub async fn restore(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let artifact = service.restore_by_id(&dashboard.caller, id_of(request)?).await?;
    Ok(found_at(&dashboard.path(&format!("/pages/{}?done=restored", artifact.slug))))
}

#[handler]
pub async fn ask_to_purge(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let id = id_of(request)?;
    let deleted = service.deleted_artifacts(&dashboard.caller).await?;
    let found = deleted.iter().find(|one| one.artifact.id == id);
    let found = found.ok_or(Refusal::NotFound(Missing::DeletedArtifact))?;
    question(&dashboard.frame, found).render(request, &service, &dashboard.frame, &list(&dashboard.frame))
}

#[handler]
pub async fn purge(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let purged = service.purge_by_id(&dashboard.caller, id_of(request)?).await?;
    Ok(found_at(&format!("{}?done={}", list(&dashboard.frame), purged_flash(&purged.held))))
}

/// The name of the message after a purge.
pub fn purged_flash(held: &[u32]) -> &'static str {
    if held.is_empty() { "purged" } else { "purged-with-evidence" }
}

fn list(frame: &Frame) -> String {
    frame.path("/deleted")
}

fn id_of(request: &Request) -> Result<ArtifactId, Refusal> {
    let id = request.raw_path_param("id").unwrap_or_default();
    id.parse().map_err(|_| Refusal::NotFound(Missing::DeletedArtifact))
}

pub fn question(frame: &Frame, deleted: &DeletedArtifact) -> Question {
    let DeletedArtifact { artifact, .. } = deleted;
    let slug = &artifact.slug;
    Question {
        id: format!("purge-{}", artifact.id),
        path: format!("{}/{}/purge", list(frame), artifact.id),
        verb: "Delete forever",
        subject: format!("{slug}"),
        title: format!("Delete {slug} forever?"),
        text:
            "All versions and their files are deleted and no longer count as storage. This cannot be undone."
                .to_owned(),
        keep: "Cancel",
        option: None,
    }
}

impl DeletedRow {
    pub fn new(deleted: &DeletedArtifact, frame: &Frame, now: Time) -> Self {
        Self {
            slug: deleted.artifact.slug.to_string(),
            host: deleted.artifact.host.to_string(),
            deleted_at: Ago::new(deleted.deleted_at, now),
            restorable_until: Ago::new(deleted.restorable_until, now),
            restore: format!("{}/{}/restore", list(frame), deleted.artifact.id),
            purge: question(frame, deleted),
        }
    }
}
