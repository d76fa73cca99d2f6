//! The queue: which pages wait for a moderator, the next one first.

use askama::Template;
use domain::{ModerationStatus, Refusal, Visibility};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{Service, WaitingFor, WaitingShown};

use super::frame::{Frame, Tab};
use super::words::rule_in_words;
use crate::pages::figures::{Count, Moment};
use crate::pages::page;
use crate::refusal::RefusedCall;

#[derive(Template)]
#[template(path = "admin/queue.html")]
pub struct QueuePage<'a> {
    pub frame: &'a Frame,
    pub shelf: Shelf,
    pub rows: Vec<WaitingRow>,
    /// The address of the next list, if there is one.
    pub next: Option<String>,
    /// Whether this is no first list.
    pub goes_on: bool,
}

/// Which pages are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shelf {
    #[default]
    Review,
    Blocked,
    Pending,
}

pub struct WaitingRow {
    pub host: String,
    pub path: String,
    pub account: String,
    pub visibility: Visibility,
    pub status: ModerationStatus,
    pub reports: Count,
    pub is_appealed: bool,
    pub since: Moment,
    pub rules: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Asked {
    status: Shelf,
    after: Option<String>,
}

#[handler]
pub async fn show(
    request: &Request,
    Query(asked): Query<Asked>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let frame = Frame::begin(request, Tab::Moderation)?;
    let unknown = |()| Refusal::invalid("after", "is no place in the queue");
    let after = asked.after.as_deref().map(str::parse).transpose().map_err(unknown)?;
    let queue = service.queue(asked.status.into(), after.as_ref()).await?;
    let template = QueuePage {
        frame: &frame,
        shelf: asked.status,
        rows: queue.waiting.into_iter().map(WaitingRow::from).collect(),
        next: queue.next.map(|place| format!("{}&after={place}", asked.status.path())),
        goes_on: after.is_some(),
    };
    page(StatusCode::OK, &template)
}

impl Shelf {
    pub const ALL: [Shelf; 3] = [Shelf::Review, Shelf::Blocked, Shelf::Pending];

    pub fn name(self) -> &'static str {
        match self {
            Shelf::Review => "To look at",
            Shelf::Blocked => "Blocked",
            Shelf::Pending => "Not scanned yet",
        }
    }

    pub fn path(self) -> &'static str {
        match self {
            Shelf::Review => "/admin/moderation?status=review",
            Shelf::Blocked => "/admin/moderation?status=blocked",
            Shelf::Pending => "/admin/moderation?status=pending",
        }
    }
}

impl From<Shelf> for WaitingFor {
    fn from(shelf: Shelf) -> Self {
        match shelf {
            Shelf::Review => WaitingFor::Review,
            Shelf::Blocked => WaitingFor::BlockedAlready,
            Shelf::Pending => WaitingFor::Scan,
        }
    }
}

impl From<WaitingShown> for WaitingRow {
    fn from(waiting: WaitingShown) -> Self {
        Self {
            path: format!("{}/{}", super::QUEUE, waiting.host),
            host: waiting.host.to_string(),
            account: waiting.account_handle,
            visibility: waiting.visibility,
            status: waiting.status,
            reports: Count(waiting.open_reports),
            is_appealed: waiting.appealed_at.is_some(),
            since: Moment(waiting.since),
            rules: waiting.rules.iter().map(|rule| rule_in_words(rule)).collect(),
        }
    }
}
