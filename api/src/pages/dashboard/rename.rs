//! Another name for a page. Its URL stays.

use askama::Template;
use domain::{Refusal, Slug};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::Service;

use super::page::{DashboardPage, Frame, Tab, render_page, slug_of, to_show, to_sign_in};
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::found_at;
use crate::http::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "dashboard/rename.html")]
pub struct RenamePage<'a> {
    pub frame: &'a Frame,
    pub of: &'a str,
    pub url: String,
    /// The new name, as it was typed.
    pub slug: String,
    pub faults: Faults,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct RenameForm {
    slug: String,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let slug = slug_of(request)?.to_string();
    render(request, &service, &dashboard, slug, None).await
}

#[handler]
pub async fn rename(
    request: &Request,
    Fields(form): Fields<RenameForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let dashboard = DashboardPage::change(request, &service, Tab::Pages).await?;
    let typed = form.slug.trim();
    let renamed = match slug_typed(typed) {
        Ok(to) => service.rename(&dashboard.caller, &slug_of(request)?, &to).await.map_err(RefusedCall::from),
        Err(refusal) => Err(refusal.into()),
    };
    match renamed {
        Ok(artifact) => Ok(found_at(&dashboard.path(&format!("/pages/{}?done=renamed", artifact.slug)))),
        Err(refused) => {
            let refusal = to_show(refused, request)?;
            render(request, &service, &dashboard, typed.to_owned(), Some(&refusal)).await
        }
    }
}

/// A slug as people type it.
pub fn slug_typed(typed: &str) -> Result<Slug, Refusal> {
    let rule = "must be 3 to 40 lowercase letters, digits or dashes";
    typed.parse().map_err(|_| Refusal::invalid("slug", rule))
}

async fn render(
    request: &Request,
    service: &Service,
    dashboard: &DashboardPage,
    slug: String,
    refusal: Option<&Refusal>,
) -> Result<Response, RefusedCall> {
    let artifact = service.artifact_alone(&dashboard.caller, &slug_of(request)?).await?;
    let faults = refusal.map(|refusal| Faults::of(refusal, &["slug"], request.uri().path()));
    let template = RenamePage {
        frame: &dashboard.frame,
        of: artifact.slug.as_str(),
        url: service.addresses().page(&artifact.host),
        slug,
        faults: faults.unwrap_or_default(),
    };
    render_page(request, service, refusal, &template)
}
