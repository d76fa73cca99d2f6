//! Suspends the account of a page, or lifts the suspension.

use domain::{MalformedReason, Origin, Refusal, Via};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::Service;

use super::case::{DecisionShownAgain, host_of, render};
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

/// Redirects to the page. A malformed reason is reported on it.
#[handler]
pub async fn decide(
    request: &Request,
    Fields(form): Fields<SuspensionForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let host = host_of(request)?;
    match form.execute(request, &service).await {
        Ok(done) => Ok(found_at(&format!("{}/{host}?done={done}&host={host}", super::QUEUE))),
        Err(RefusedCall(refusal))
            if accepts_html(request) && matches!(*refusal, Refusal::InvalidRequest { .. }) =>
        {
            let faults = Faults::of(&refusal, FIELDS, request.uri().path());
            let again = DecisionShownAgain { reason: form.reason, faults, ..DecisionShownAgain::default() };
            render(request, &service, status_of(&refusal), again).await
        }
        Err(refused) => Err(refused),
    }
}

impl SuspensionForm {
    /// Returns the value of the redirect's `done` parameter.
    async fn execute(&self, request: &Request, service: &Service) -> Result<&'static str, RefusedCall> {
        let by = &operator(request)?.name;
        let origin = Origin { via: Via::Operator, address: Some(client_of(request)) };
        match self.action.as_str() {
            "suspend" => {
                let malformed = |fault: MalformedReason| Refusal::invalid("reason", fault.to_string());
                let reason = self.reason.parse().map_err(malformed)?;
                service.suspend(by, origin, &self.account, reason).await?;
                Ok("suspended")
            }
            "lift" => {
                service.lift_suspension(by, origin, &self.account).await?;
                Ok("lifted")
            }
            _ => Err(Refusal::invalid("action", "must be suspend or lift").into()),
        }
    }
}
