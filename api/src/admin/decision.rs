//! A moderator's word, from the form beside a page.

use std::str::FromStr;

use domain::{Host, MalformedReason, Refusal, Ruling, RulingNote};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{DecisionRequest, ELSEWHERE_MAX, Seen, Service};

use super::case::{DecisionShownAgain, host_of, shown};
use super::frame::{at_desk, path_after};
use crate::pages::faults::Faults;
use crate::pages::fields::Fields;
use crate::pages::{accepts_html, found_at};
use crate::refusal::{RefusedCall, status_of};

const FIELDS: &[&str] = &["note"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct DecisionForm {
    action: String,
    note: String,
    version: String,
    /// The newest decision, report and appeal that were shown; empty where there was none.
    decision: Option<String>,
    report: Option<String>,
    appeal: Option<String>,
    elsewhere: Option<String>,
    /// The hosts that the tick is about.
    listed: String,
}

/// Leads on to the queue; what was refused is told on the page as it is now.
#[handler]
pub async fn decide(
    request: &Request,
    Fields(form): Fields<DecisionForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let decided = match form.read(request) {
        Ok(decision) => service.decide(&at_desk(request)?.name, decision).await.map_err(RefusedCall::from),
        Err(refusal) => Err(refusal.into()),
    };
    match decided {
        Ok(made) => Ok(found_at(&path_after(&made))),
        Err(RefusedCall(refusal)) if accepts_html(request) && is_told_beside(&refusal) => {
            let faults = Faults::of(&refusal, FIELDS, request.uri().path());
            // Other pages may be listed now than those that were ticked.
            let elsewhere = form.elsewhere.is_some() && !has_changed(&refusal);
            let again = DecisionShownAgain { note: form.note, elsewhere, faults, ..Default::default() };
            shown(request, &service, status_of(&refusal), again).await
        }
        Err(refused) => Err(refused),
    }
}

/// Where the page is gone, there is nothing to tell it beside.
fn is_told_beside(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::InvalidRequest { .. }) || has_changed(refusal)
}

fn has_changed(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::VersionChanged { .. } | Refusal::DecidedMeanwhile { .. })
}

impl DecisionForm {
    fn read(&self, request: &Request) -> Result<DecisionRequest, Refusal> {
        let host = host_of(request)?;
        let ruling = match self.action.as_str() {
            "pass" => Ruling::Pass,
            "block" => Ruling::Block,
            _ => return Err(Refusal::invalid("action", "is pass or block")),
        };
        let told = |fault: MalformedReason| Refusal::invalid("note", fault.to_string());
        let note = RulingNote::written(&self.note).map_err(told)?;
        let seq = self.version.parse().map_err(|_| Refusal::invalid("version", "is no number"))?;
        // The tick stands beside both buttons and means one.
        let elsewhere = match ruling {
            Ruling::Block if self.elsewhere.is_some() => self.listed()?,
            _ => Vec::new(),
        };
        Ok(DecisionRequest { host, ruling, note, looked_at: Some(seq), seen: self.seen()?, elsewhere })
    }

    /// What the page has shown. A program that sends none of it means whatever there is.
    fn seen(&self) -> Result<Option<Seen>, Refusal> {
        let (Some(decision), Some(report)) = (&self.decision, &self.report) else { return Ok(None) };
        let decision = id_of(decision).map_err(|_| Refusal::invalid("decision", "is no id of a decision"))?;
        let report = id_of(report).map_err(|_| Refusal::invalid("report", "is no id of a report"))?;
        let appeal = id_of(self.appeal.as_deref().unwrap_or_default());
        let appeal = appeal.map_err(|_| Refusal::invalid("appeal", "is no id of an appeal"))?;
        Ok(Some(Seen { decision, report, appeal }))
    }

    fn listed(&self) -> Result<Vec<Host>, Refusal> {
        let hosts = self.listed.split_whitespace().take(ELSEWHERE_MAX).map(str::parse);
        hosts
            .collect::<Result<_, _>>()
            .map_err(|_| Refusal::invalid("listed", "has what is no host of a page"))
    }
}

/// An id that may be none.
fn id_of<T: FromStr>(text: &str) -> Result<Option<T>, T::Err> {
    if text.is_empty() { Ok(None) } else { text.parse().map(Some) }
}
