//! The audit log of decisions on pages, newest first. It is read-only.

use askama::Template;
use domain::{Host, ModerationStatus, Refusal};
use poem::http::StatusCode;
use poem::web::{Data, Query};
use poem::{Request, Response, handler};
use serde::Deserialize;
use service::{DecisionFilter, Service};

use super::frame::{Frame, Tab};
use super::log::DecisionRow;
use crate::html::again;
use crate::html::faults::Faults;
use crate::html::page;
use crate::http::refusal::RefusedCall;

const PATH: &str = "/admin/audit";

#[derive(Template)]
#[template(path = "admin/audit.html")]
pub struct AuditPage<'a> {
    pub frame: &'a Frame,
    /// The host to filter by, as it was typed.
    pub host: String,
    pub who: AuditActor,
    pub rows: Vec<DecisionRow>,
    pub next: Option<String>,
    pub faults: Faults,
}

/// Whose decisions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AuditActor {
    #[default]
    People,
    /// People, scans and reports.
    All,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub struct AuditQuery {
    host: String,
    who: AuditActor,
    before: Option<String>,
}

#[handler]
pub async fn show(
    request: &Request,
    Query(query): Query<AuditQuery>,
    service: Data<&Service>,
) -> Result<Response, RefusedCall> {
    let frame = Frame::begin(request, Tab::Audit)?;
    let who = query.who;
    let wanted = match query.wanted() {
        Ok(wanted) => wanted,
        Err(refusal) => {
            let faults = Faults::of(&refusal, &["host"], PATH);
            let (host, rows) = (query.host, Vec::new());
            let template = AuditPage { frame: &frame, host, who, rows, next: None, faults };
            return again(&refusal, &template);
        }
    };
    let log = service.decisions(&wanted, None).await?;
    let host = wanted.host.map(String::from).unwrap_or_default();
    let template = AuditPage {
        frame: &frame,
        who,
        rows: log.decisions.into_iter().map(DecisionRow::from).collect(),
        next: log.next.map(|id| format!("{PATH}?host={host}&who={}&before={id}", who.value())),
        host,
        faults: Faults::default(),
    };
    page(StatusCode::OK, &template)
}

impl AuditActor {
    pub const ALL: [AuditActor; 2] = [AuditActor::People, AuditActor::All];

    pub fn value(self) -> &'static str {
        match self {
            AuditActor::People => "people",
            AuditActor::All => "all",
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            AuditActor::People => "People",
            AuditActor::All => "Everyone, including scans",
        }
    }
}

impl AuditQuery {
    fn wanted(&self) -> Result<DecisionFilter, Refusal> {
        let host = Some(self.host.trim()).filter(|host| !host.is_empty()).map(str::parse::<Host>);
        let host = host.transpose().map_err(|_| Refusal::invalid("host", "is not the host of a page"))?;
        let before = self.before.as_deref().map(str::parse).transpose();
        let before = before.map_err(|_| Refusal::invalid("before", "is not a position in the log"))?;
        Ok(DecisionFilter { host, by_moderators: self.who == AuditActor::People, before })
    }
}
