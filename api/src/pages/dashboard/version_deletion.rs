//! Deletes one version of a page. The version must not be live.

use domain::{Artifact, Missing, Refusal};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::Service;

use super::artifact_page::path_of;
use super::page::{DashboardPage, Frame, Tab, slug_of, to_sign_in};
use super::question::Question;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;

#[handler]
pub async fn ask(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let artifact = service.artifact_alone(&dashboard.caller, &slug_of(request)?).await?;
    let back = path_of(&dashboard.frame, &artifact);
    let question = question(&dashboard.frame, &artifact, seq_of(request)?);
    question.render(request, &service, &dashboard.frame, &back)
}

#[handler]
pub async fn delete(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let slug = slug_of(request)?;
    service.delete_version(&dashboard.caller, &slug, seq_of(request)?).await?;
    Ok(found_at(&dashboard.path(&format!("/pages/{slug}?done=version-deleted"))))
}

fn seq_of(request: &Request) -> Result<u32, Refusal> {
    let seq = request.raw_path_param("seq").unwrap_or_default();
    seq.parse().map_err(|_| Refusal::NotFound(Missing::Version))
}

pub fn question(frame: &Frame, artifact: &Artifact, seq: u32) -> Question {
    Question {
        id: format!("delete-{seq}"),
        path: format!("{}/delete/{seq}", path_of(frame, artifact)),
        verb: "Delete",
        subject: format!("version {seq}"),
        title: format!("Delete version {seq} of {}?", artifact.slug),
        text: "The version and its files are deleted and no longer count as storage. This cannot be undone."
            .to_owned(),
        keep: "Cancel",
        option: None,
    }
}
