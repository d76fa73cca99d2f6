//! Everything of an account as a download.

use poem::web::Data;
use poem::{IntoResponse, Request, Response, handler};
use service::Service;

use super::page::{DashboardPage, Tab, to_sign_in};
use crate::http::account_archive::account_archive;
use crate::http::refusal::RefusedCall;

#[handler]
pub async fn download(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Team).await? else {
        return Ok(to_sign_in(request));
    };
    Ok(account_archive(&service, &dashboard.caller, request).await?.into_response())
}
