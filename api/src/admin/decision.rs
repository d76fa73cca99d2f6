//! A moderator's decision on one page.

use domain::{Host, ModerationDecision, Refusal};
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{DecisionRequest, ELSEWHERE_MAX, Seen, Service};

use super::case::{DecisionShownAgain, host_of, render};
use super::frame::{operator, path_after};
use super::list::List;
use super::reasons::note_of;
use super::seen::id_of;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{accepts_html, found_at};
use crate::http::refusal::{RefusedCall, status_of};

const FIELDS: &[&str] = &["note"];

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct DecisionForm {
    action: String,
    note: String,
    standard_reason: String,
    version: String,
    /// The newest decision, report and appeal that the page showed; empty where there was none.
    decision: Option<String>,
    report: Option<String>,
    appeal: Option<String>,
    elsewhere: Option<String>,
    /// The hosts that the checkbox also blocks.
    listed: String,
}

/// Redirects to the next case of the list in the query. A refusal is shown on the current page.
#[handler]
pub async fn decide(
    request: &Request,
    Fields(form): Fields<DecisionForm>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let decided = match form.read(request) {
        Ok(decision) => decide_and_go_on(request, &service, decision).await,
        Err(refusal) => Err(refusal.into()),
    };
    match decided {
        Ok(path) => Ok(found_at(&path)),
        Err(RefusedCall(refusal)) if accepts_html(request) && is_shown_on_page(&refusal) => {
            let faults = Faults::of(&refusal, FIELDS, request.uri().path());
            // The page may now list other hosts than the moderator saw next to the checkbox.
            let elsewhere = form.elsewhere.is_some() && !has_changed(&refusal);
            let (note, standard_reason) = (form.note, form.standard_reason);
            let again = DecisionShownAgain { note, standard_reason, elsewhere, faults, ..Default::default() };
            render(request, &service, status_of(&refusal), again).await
        }
        Err(refused) => Err(refused),
    }
}

/// The path to go to after the decision.
async fn decide_and_go_on(
    request: &Request,
    service: &Service,
    decision: DecisionRequest,
) -> Result<String, RefusedCall> {
    let list = List::of(request);
    let wanted = list.wanted_for_case();
    // The decision takes the page out of the queue, so its position is read first.
    let position = service.place_in_queue(&wanted, &decision.host).await?;
    let made = service.decide(&operator(request)?.name, decision).await?;
    let next = match service.case_after(&wanted, position.as_ref(), &made.host).await {
        Ok(next) => next,
        // The decision is already made, so this must not fail the request.
        Err(failure) => {
            tracing::warn!(error = format!("{failure:?}"), "the next case could not be read");
            None
        }
    };
    Ok(path_after(&made, &list, next.as_ref()))
}

/// A page that no longer exists cannot show the refusal.
fn is_shown_on_page(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::InvalidRequest { .. }) || has_changed(refusal)
}

fn has_changed(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::VersionChanged { .. } | Refusal::DecidedMeanwhile { .. })
}

impl DecisionForm {
    fn read(&self, request: &Request) -> Result<DecisionRequest, Refusal> {
        let host = host_of(request)?;
        let ruling = ruling_of(&self.action)?;
        let note = note_of(&self.standard_reason, &self.note)?;
        let seq = self.version.parse().map_err(|_| Refusal::invalid("version", "is not a number"))?;
        // The checkbox is next to both buttons, but it only applies to blocking.
        let elsewhere = match ruling {
            ModerationDecision::Block if self.elsewhere.is_some() => self.listed()?,
            _ => Vec::new(),
        };
        Ok(DecisionRequest { host, ruling, note, looked_at: Some(seq), seen: self.seen()?, elsewhere })
    }

    /// What the moderator has seen. A program that omits it decides on the current state.
    fn seen(&self) -> Result<Option<Seen>, Refusal> {
        let (Some(decision), Some(report)) = (&self.decision, &self.report) else { return Ok(None) };
        let decision =
            id_of(decision).map_err(|_| Refusal::invalid("decision", "is not the id of a decision"))?;
        let report = id_of(report).map_err(|_| Refusal::invalid("report", "is not the id of a report"))?;
        let appeal = id_of(self.appeal.as_deref().unwrap_or_default());
        let appeal = appeal.map_err(|_| Refusal::invalid("appeal", "is not the id of an appeal"))?;
        Ok(Some(Seen { decision, report, appeal }))
    }

    fn listed(&self) -> Result<Vec<Host>, Refusal> {
        let hosts = self.listed.split_whitespace().take(ELSEWHERE_MAX).map(str::parse);
        hosts
            .collect::<Result<_, _>>()
            .map_err(|_| Refusal::invalid("listed", "contains something that is not the host of a page"))
    }
}

/// The decision of a button.
pub fn ruling_of(action: &str) -> Result<ModerationDecision, Refusal> {
    match action {
        "pass" => Ok(ModerationDecision::Pass),
        "block" => Ok(ModerationDecision::Block),
        _ => Err(Refusal::invalid("action", "must be pass or block")),
    }
}
