//! One decision on several pages of the queue.

use askama::Template;
use domain::{ModerationStatus, Refusal};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{BULK_MAX, BulkOutcome, DecisionRequest, Service};

use super::decision::ruling_of;
use super::frame::{Frame, Tab, operator};
use super::list::List;
use super::queue::{BulkShownAgain, render};
use super::reasons::note_of;
use super::seen::read_ticked;
use crate::html::faults::Faults;
use crate::html::fields::Fields;
use crate::html::{accepts_html, found_at, page};
use crate::http::refusal::{RefusedCall, status_of};

const FIELDS: &[&str] = &["note"];

/// The outcome for each page, shown when a page could not be decided on.
#[derive(Template)]
#[template(path = "admin/bulk.html")]
pub struct BulkPage<'a> {
    pub frame: &'a Frame,
    pub list: List,
    pub decided: usize,
    pub rows: Vec<OutcomeRow>,
}

pub struct OutcomeRow {
    pub host: String,
    pub path: String,
    /// `None` when no decision was made.
    pub status: Option<ModerationStatus>,
    pub note: Option<String>,
}

/// Redirects to the list. When a page could not be decided on, the outcome for each page is shown instead.
#[handler]
pub async fn decide(
    request: &Request,
    Fields(form): Fields<Vec<(String, String)>>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let form = BulkForm::from(form);
    let requests = match form.read() {
        Ok(requests) => requests,
        Err(refusal) if accepts_html(request) => {
            let faults = form.faults(&refusal, request.uri().path());
            let again = BulkShownAgain { note: form.note, standard_reason: form.standard_reason, faults };
            return render(request, &service, status_of(&refusal), again).await;
        }
        Err(refusal) => return Err(refusal.into()),
    };
    let list = List::of(request);
    let done = if form.action == "block" { "blocked-all" } else { "passed-all" };
    let outcomes = service.decide_each(&operator(request)?.name, requests).await;
    if outcomes.iter().all(|one| one.result.as_ref().is_ok_and(|made| !made.has_more)) {
        return Ok(found_at(&list.path_with(&format!("done={done}&pages={}", outcomes.len()))));
    }
    let frame = Frame::begin(request, Tab::Moderation)?;
    page(StatusCode::OK, &BulkPage::new(&frame, list, outcomes))
}

/// The form's fields. `page` occurs once for each selected page.
#[derive(Default)]
struct BulkForm {
    action: String,
    note: String,
    standard_reason: String,
    pages: Vec<String>,
}

impl From<Vec<(String, String)>> for BulkForm {
    fn from(fields: Vec<(String, String)>) -> Self {
        let mut form = Self::default();
        for (name, value) in fields {
            match name.as_str() {
                "action" => form.action = value,
                "note" => form.note = value,
                "standard_reason" => form.standard_reason = value,
                "page" => form.pages.push(value),
                _ => {}
            }
        }
        form
    }
}

impl BulkForm {
    fn read(&self) -> Result<Vec<DecisionRequest>, Refusal> {
        let ruling = ruling_of(&self.action)?;
        let note = note_of(&self.standard_reason, &self.note)?;
        if self.pages.is_empty() || self.pages.len() > BULK_MAX {
            return Err(Refusal::invalid("page", format!("must be sent 1 to {BULK_MAX} times")));
        }
        let mut requests: Vec<DecisionRequest> = Vec::new();
        for ticked in &self.pages {
            let malformed =
                || Refusal::invalid("page", "must have the value that the queue's checkbox sends");
            let (host, seq, seen) = read_ticked(ticked).ok_or_else(malformed)?;
            if requests.iter().any(|request| request.host == host) {
                continue;
            }
            let (looked_at, elsewhere) = (Some(seq), Vec::new());
            requests.push(DecisionRequest {
                host,
                ruling,
                note: note.clone(),
                looked_at,
                seen: Some(seen),
                elsewhere,
            });
        }
        Ok(requests)
    }

    fn faults(&self, refusal: &Refusal, path: &str) -> Faults {
        if self.pages.is_empty() {
            return Faults::beside_field("page", "Select at least one page.");
        }
        Faults::of(refusal, FIELDS, path)
    }
}

impl<'a> BulkPage<'a> {
    pub fn new(frame: &'a Frame, list: List, outcomes: Vec<BulkOutcome>) -> Self {
        let decided = outcomes.iter().filter(|one| one.result.is_ok()).count();
        let rows = outcomes.into_iter().map(|one| OutcomeRow::new(one, &list)).collect();
        Self { frame, decided, rows, list }
    }
}

impl OutcomeRow {
    fn new(outcome: BulkOutcome, list: &List) -> Self {
        let path = list.case(&outcome.host);
        let (status, note) = match outcome.result {
            Ok(made) => {
                let more = "More versions have the same content. Open the page and block it again.";
                (Some(made.moderation), made.has_more.then(|| more.to_owned()))
            }
            Err(failure) => {
                let RefusedCall(refusal) = RefusedCall::from(failure);
                let faults = Faults::of(&refusal, &[], &path);
                (None, faults.whole().map(|text| text.what.clone()))
            }
        };
        Self { host: outcome.host.to_string(), path, status, note }
    }
}

#[cfg(test)]
mod tests {
    use service::Seen;

    use super::*;

    fn form(fields: &[(&str, &str)]) -> BulkForm {
        let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        BulkForm::from(fields.collect::<Vec<_>>())
    }

    #[test]
    fn each_selected_page_is_decided_on_once_and_only_in_its_listed_state() {
        let ticked = ("page", "my-page-a1b2 3 - - -");
        let read =
            form(&[("action", "block"), ticked, ticked, ("page", "other-a1b2 1 - - -")]).read().unwrap();
        let pages: Vec<_> = read.iter().map(|one| (one.host.as_str(), one.looked_at, one.seen)).collect();
        let seen = Some(Seen::default());
        assert_eq!(pages, [("my-page-a1b2", Some(3), seen), ("other-a1b2", Some(1), seen)]);
    }

    #[test]
    fn a_malformed_form_decides_nothing() {
        for page in ["", "my-page-a1b2", "my-page-a1b2 x - - -", "my-page-a1b2 1 x - -", "<b> 1 - - -"] {
            assert!(form(&[("action", "block"), ("page", page)]).read().is_err(), "{page}");
        }
        assert!(form(&[("action", "block")]).read().is_err());
        assert!(form(&[("action", "burn"), ("page", "my-page-a1b2 1 - - -")]).read().is_err());
    }
}
