//! The suspension of the account behind a page and its lift, from the form beside that page.

use domain::{MalformedReason, Origin, Refusal, Via};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::Service;

use super::case::{DecisionShownAgain, host_of, shown};
use super::frame::operator;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{accepts_html, found_at};
use crate::http::client_ip::client_of;
use crate::http::refusal::{RefusedCall, status_of};

const FIELDS: &[&str] = &["reason"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct SuspensionForm {
    action: String,
    /// The account that the page showed.
    account: String,
    reason: String,
}

/// Leads back to the page; a malformed reason is reported on it.
#[handler]
pub async fn decide(
    request: &Request,
    Fields(form): Fields<SuspensionForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let host = host_of(request)?;
    match form.carry_out(request, &service).await {
        Ok(done) => Ok(found_at(&format!("{}/{host}?done={done}&host={host}", super::QUEUE))),
        Err(RefusedCall(refusal))
            if accepts_html(request) && matches!(*refusal, Refusal::InvalidRequest { .. }) =>
        {
            let faults = Faults::of(&refusal, FIELDS, request.uri().path());
            let again = DecisionShownAgain { reason: form.reason, faults, ..DecisionShownAgain::default() };
            shown(request, &service, status_of(&refusal), again).await
        }
        Err(refused) => Err(refused),
    }
}

impl SuspensionForm {
    /// What the page reports as done.
    async fn carry_out(&self, request: &Request, service: &Service) -> Result<&'static str, RefusedCall> {
        let by = &operator(request)?.name;
        let origin = Origin { via: Via::Operator, address: Some(client_of(request)) };
        match self.action.as_str() {
            "suspend" => {
                let told = |fault: MalformedReason| Refusal::invalid("reason", fault.to_string());
                let reason = self.reason.parse().map_err(told)?;
                service.suspend(by, origin, &self.account, reason).await?;
                Ok("suspended")
            }
            "lift" => {
                service.lift_suspension(by, origin, &self.account).await?;
                Ok("lifted")
            }
            _ => Err(Refusal::invalid("action", "is suspend or lift").into()),
        }
    }
}
