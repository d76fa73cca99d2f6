//! The frame of the operator's pages.

use domain::{Host, ModerationStatus, OperatorName};
use poem::Request;
use serde::Deserialize;
use service::DecisionMade;

use super::guard::SignedInOperator;
use super::list::List;
use super::queues::done::Done;
use crate::http::refusal::RefusedCall;

/// Who is signed in, on which tab, and a message about what they have just done.
#[derive(Clone, Debug)]
pub struct Frame {
    pub name: OperatorName,
    pub has_session: bool,
    pub tab: Tab,
    pub done: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tab {
    Moderation,
    Audit,
    Queues,
    Contents,
}

impl Tab {
    pub const ALL: [Tab; 4] = [Tab::Moderation, Tab::Audit, Tab::Queues, Tab::Contents];

    pub fn name(self) -> &'static str {
        match self {
            Tab::Moderation => "Moderation",
            Tab::Audit => "Audit",
            Tab::Queues => "Queues",
            Tab::Contents => "Blocked files",
        }
    }

    pub fn path(self) -> &'static str {
        match self {
            Tab::Moderation => super::QUEUE,
            Tab::Audit => "/admin/audit",
            Tab::Queues => super::queues::BOARD,
            Tab::Contents => super::contents::PATH,
        }
    }
}

impl Frame {
    pub fn begin(request: &Request, tab: Tab) -> Result<Self, RefusedCall> {
        let SignedInOperator { name, has_session } = operator(request)?.clone();
        let done = match tab {
            Tab::Moderation | Tab::Audit | Tab::Contents => done(request),
            Tab::Queues => Done::of(request).map(|done| done.text()),
        };
        Ok(Self { name, has_session, tab, done })
    }
}

/// The person that the guard has authenticated.
pub fn operator(request: &Request) -> Result<&SignedInOperator, RefusedCall> {
    let missing = || service::Failure::Bug(anyhow::anyhow!("an operator's page has no guard"));
    request.data::<SignedInOperator>().ok_or_else(|| missing().into())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FlashMessage {
    done: String,
    host: String,
    elsewhere: u64,
    more: bool,
    /// The number of pages of a bulk decision.
    pages: u64,
}

/// The message for a redirect's `done` parameter. Only these fixed texts are shown, whatever the URL
/// contains.
fn done(request: &Request) -> Option<String> {
    let flash: FlashMessage = request.params().unwrap_or_default();
    match flash.done.as_str() {
        "unblocked" => {
            let done = "File removed from the list. Pages that were blocked only because of it are scanned \
                 again.";
            return Some(done.to_owned());
        }
        "blocked-all" => return Some(format!("Blocked: {}.", page_count(flash.pages))),
        "passed-all" => return Some(format!("Passed: {}.", page_count(flash.pages))),
        _ => {}
    }
    let host: Host = flash.host.parse().ok()?;
    let what = match flash.done.as_str() {
        "passed" => format!("{host} passed and is served."),
        "blocked" => format!("{host} is blocked. Visitors see a notice."),
        "suspended" => format!("The account of {host} is suspended. Visitors no longer see its pages."),
        "lifted" => {
            format!("The account of {host} is no longer suspended. Visitors see its pages again.")
        }
        _ => return None,
    };
    let elsewhere = match flash.elsewhere {
        0 => String::new(),
        1 => " 1 other page with the same content is blocked too.".to_owned(),
        count => format!(" {count} other pages with the same content are blocked too."),
    };
    let more = if flash.more { " More pages have this content. Block it again to continue." } else { "" };
    Some(format!("{what}{elsewhere}{more}"))
}

fn page_count(pages: u64) -> String {
    if pages == 1 { "1 page".to_owned() } else { format!("{pages} pages") }
}

/// The path to go to after a decision: the next case of the list, or the list when there is none.
pub fn path_after(made: &DecisionMade, list: &List, next: Option<&Host>) -> String {
    let done = match made.moderation {
        ModerationStatus::Blocked => "blocked",
        _ => "passed",
    };
    let mut query = format!("done={done}&host={}", made.host);
    if !made.blocked_elsewhere.is_empty() {
        query.push_str(&format!("&elsewhere={}", made.blocked_elsewhere.len()));
    }
    if made.has_more {
        query.push_str("&more=true");
    }
    // A block that has more pages to cover leads back to the same case first.
    let next = if made.has_more { Some(&made.host) } else { next };
    match next {
        Some(host) => list.case_with(host, &query),
        None => list.path_with(&query),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(query: &str) -> Option<String> {
        done(&Request::builder().uri_str(format!("/admin/moderation?{query}")).finish())
    }

    #[test]
    fn moderation_result_is_reported_in_fixed_messages() {
        assert_eq!(
            message("done=passed&host=my-page-a1b2").as_deref(),
            Some("my-page-a1b2 passed and is served.")
        );
        let made = service::DecisionMade {
            host: "my-page-a1b2".parse().unwrap(),
            slug: "my-page".parse().unwrap(),
            moderation: domain::ModerationStatus::Blocked,
            seq: 1,
            blocked_elsewhere: vec!["other-a1b2".parse().unwrap(); 2],
            has_more: true,
        };
        let (list, next) = (List::default(), "next-a1b2".parse().unwrap());
        let path = path_after(&made, &list, Some(&next));
        assert!(path.starts_with("/admin/moderation/my-page-a1b2?"), "{path}");
        let text = message(path.split_once('?').unwrap().1).unwrap();
        assert!(text.contains("2 other pages") && text.contains("More pages"), "{text}");
        assert_eq!(message("done=blocked-all&pages=1").as_deref(), Some("Blocked: 1 page."));
        assert_eq!(message("done=passed-all&pages=7").as_deref(), Some("Passed: 7 pages."));
        let done = service::DecisionMade { has_more: false, ..made };
        assert!(path_after(&done, &list, Some(&next)).starts_with("/admin/moderation/next-a1b2?"));
        assert!(path_after(&done, &list, None).starts_with("/admin/moderation?done=blocked&"));
        for nothing in ["", "done=burnt&host=my-page-a1b2", "done=passed&host=%3Cb%3E", "done=passed"] {
            assert_eq!(message(nothing), None, "{nothing}");
        }
    }
}
