//! The review queue: the pages that wait for a moderator, by priority.

use askama::Template;
use domain::{ModerationStatus, Refusal, Visibility};
use poem::http::StatusCode;
use poem::web::Data;
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{ReviewQueuePage, Service, WaitingCursor, WaitingPages};

use super::frame::{Frame, Tab};
use super::labels::rule_description;
use super::list::{List, ReviewStatusFilter};
use super::reasons::REASONS;
use super::seen::ticked;
use crate::html::again;
use crate::html::faults::Faults;
use crate::html::figures::{Count, Moment};
use crate::html::page;
use crate::http::refusal::RefusedCall;

/// The filters that can be malformed.
const FIELDS: &[&str] = &["account"];

#[derive(Template)]
#[template(path = "admin/queue.html")]
pub struct QueuePage<'a> {
    pub frame: &'a Frame,
    pub list: List,
    /// The faults of the filters.
    pub faults: Faults,
    pub rows: Vec<WaitingRow>,
    /// The path of the next page of the list, if there is one.
    pub next: Option<String>,
    /// Whether this is a later page of the list.
    pub goes_on: bool,
    pub form: BulkShownAgain,
}

/// The contents of a bulk decision that was refused.
#[derive(Default)]
pub struct BulkShownAgain {
    pub note: String,
    pub standard_reason: String,
    pub faults: Faults,
}

pub struct WaitingRow {
    pub host: String,
    pub path: String,
    /// The value of its checkbox.
    pub ticked: String,
    pub account: String,
    /// The path of the list of this account's pages.
    pub account_path: String,
    pub visibility: Visibility,
    pub status: ModerationStatus,
    pub reports: Count,
    pub is_appealed: bool,
    pub since: Moment,
    pub rules: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReviewQuery {
    after: Option<String>,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    render(request, &service, StatusCode::OK, BulkShownAgain::default()).await
}

/// The current list, with the refused bulk decision if there is one.
pub async fn render(
    request: &Request,
    service: &Service,
    status: StatusCode,
    form: BulkShownAgain,
) -> Result<Response, RefusedCall> {
    let frame = Frame::begin(request, Tab::Moderation)?;
    let list: List =
        request.params().map_err(|_| Refusal::invalid("status", "is not a list of the queue"))?;
    let after = cursor_in(request)?;
    let wanted = match list.wanted() {
        Ok(wanted) => wanted,
        Err(refusal) => {
            let faults = Faults::of(&refusal, FIELDS, super::QUEUE);
            let nothing = ReviewQueuePage { waiting: Vec::new(), next: None };
            return again(
                &refusal,
                &QueuePage { faults, ..QueuePage::new(&frame, list, nothing, None, form) },
            );
        }
    };
    let queue = service.queue(&wanted, after.as_ref(), None).await?;
    page(status, &QueuePage::new(&frame, list, queue, after.as_ref(), form))
}

fn cursor_in(request: &Request) -> Result<Option<WaitingCursor>, Refusal> {
    let query: ReviewQuery = request.params().unwrap_or_default();
    let unknown = |()| Refusal::invalid("after", "is not a position in the queue");
    query.after.as_deref().map(str::parse).transpose().map_err(unknown)
}

impl<'a> QueuePage<'a> {
    pub fn new(
        frame: &'a Frame,
        list: List,
        queue: ReviewQueuePage,
        after: Option<&WaitingCursor>,
        form: BulkShownAgain,
    ) -> Self {
        Self {
            frame,
            faults: Faults::default(),
            rows: queue.waiting.into_iter().map(|waiting| WaitingRow::new(waiting, &list)).collect(),
            next: queue.next.map(|after| list.path_with(&format!("after={after}"))),
            goes_on: after.is_some(),
            form,
            list,
        }
    }
}

impl WaitingRow {
    pub fn new(waiting: WaitingPages, list: &List) -> Self {
        let of_account = List { account: waiting.account_handle.clone(), ..list.clone() };
        Self {
            path: list.case(&waiting.host),
            ticked: ticked(&waiting),
            host: waiting.host.to_string(),
            account: waiting.account_handle,
            account_path: of_account.path(),
            visibility: waiting.visibility,
            status: waiting.status,
            reports: Count(waiting.open_reports),
            is_appealed: waiting.appealed_at.is_some(),
            since: Moment(waiting.since),
            rules: waiting.rules.iter().map(|rule| rule_description(rule)).collect(),
        }
    }
}
