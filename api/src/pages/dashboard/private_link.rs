//! A new link for a private page. The old one stops working.

use domain::{Artifact, Visibility};
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
    let page = path_of(&dashboard.frame, &artifact);
    match question(&dashboard.frame, &artifact) {
        Some(question) => question.render(request, &service, &dashboard.frame, &page),
        None => Ok(found_at(&page)),
    }
}

#[handler]
pub async fn rotate(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let slug = slug_of(request)?;
    service.rotate_private_link(&dashboard.caller, &slug).await?;
    Ok(found_at(&dashboard.path(&format!("/pages/{slug}?done=link-replaced"))))
}

/// `None` if the page is not private, and so has no such link.
pub fn question(frame: &Frame, artifact: &Artifact) -> Option<Question> {
    (artifact.visibility == Visibility::Private).then(|| Question {
        id: "private-link".to_owned(),
        path: format!("{}/private-link", path_of(frame, artifact)),
        verb: "Replace link",
        subject: format!("of {}", artifact.slug),
        title: format!("Replace the signed link of {}?", artifact.slug),
        text: "The page gets a new signed link, and so do its versions. The old links stop working at once. \
               This cannot be undone."
            .to_owned(),
        keep: "Cancel",
        option: None,
    })
}
