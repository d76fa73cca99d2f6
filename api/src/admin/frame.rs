//! What stands around every page of the operator's people.

use domain::{Host, ModerationStatus, OperatorName};
use poem::Request;
use serde::Deserialize;
use service::DecisionMade;

use super::guard::SignedInOperator;
use super::list::List;
use super::queues::done::Done;
use crate::http::refusal::RefusedCall;

/// Who looks, where, and what they have just done.
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
            Tab::Queues => Done::told_in(request).map(|done| done.words()),
        };
        Ok(Self { name, has_session, tab, done })
    }
}

/// Who was let in by the guard.
pub fn operator(request: &Request) -> Result<&SignedInOperator, RefusedCall> {
    let missing =
        || service::Failure::Bug(anyhow::anyhow!("a page of the operator's stands behind no guard"));
    request.data::<SignedInOperator>().ok_or_else(|| missing().into())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct FlashMessage {
    done: String,
    host: String,
    elsewhere: u64,
    more: bool,
    /// How many pages a bulk decision was made on.
    pages: u64,
}

/// What a redirect says has been done, in words of ours alone.
fn done(request: &Request) -> Option<String> {
    let told: FlashMessage = request.params().unwrap_or_default();
    match told.done.as_str() {
        "unblocked" => {
            let done = "File removed from the list. Pages that were blocked only because of it are scanned \
                 again.";
            return Some(done.to_owned());
        }
        "blocked-all" => return Some(format!("Blocked: {}.", pages_in_words(told.pages))),
        "passed-all" => return Some(format!("Passed: {}.", pages_in_words(told.pages))),
        _ => {}
    }
    let host: Host = told.host.parse().ok()?;
    let what = match told.done.as_str() {
        "passed" => format!("{host} passed and is served."),
        "blocked" => format!("{host} is blocked. Visitors see a notice."),
        "suspended" => format!("The account of {host} is suspended. Visitors no longer see its pages."),
        "lifted" => {
            format!("The account of {host} is no longer suspended. Visitors see its pages again.")
        }
        _ => return None,
    };
    let elsewhere = match told.elsewhere {
        0 => String::new(),
        1 => " 1 other page with the same content is blocked too.".to_owned(),
        count => format!(" {count} other pages with the same content are blocked too."),
    };
    let more = if told.more { " There are more. Block it again to continue." } else { "" };
    Some(format!("{what}{elsewhere}{more}"))
}

fn pages_in_words(pages: u64) -> String {
    if pages == 1 { "1 page".to_owned() } else { format!("{pages} pages") }
}

/// The address that a decision leads to: the next case of the list, or the list when none is left.
pub fn path_after(made: &DecisionMade, list: &List, next: Option<&Host>) -> String {
    let done = match made.moderation {
        ModerationStatus::Blocked => "blocked",
        _ => "passed",
    };
    let mut told = format!("done={done}&host={}", made.host);
    if !made.blocked_elsewhere.is_empty() {
        told.push_str(&format!("&elsewhere={}", made.blocked_elsewhere.len()));
    }
    if made.has_more {
        told.push_str("&more=true");
    }
    // What is left of this decision comes before the next case.
    let next = if made.has_more { Some(&made.host) } else { next };
    match next {
        Some(host) => list.case_with(host, &told),
        None => list.path_with(&told),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(query: &str) -> Option<String> {
        done(&Request::builder().uri_str(format!("/admin/moderation?{query}")).finish())
    }

    #[test]
    fn what_was_done_is_told_in_our_own_words() {
        assert_eq!(
            told("done=passed&host=my-page-a1b2").as_deref(),
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
        let words = told(path.split_once('?').unwrap().1).unwrap();
        assert!(words.contains("2 other pages") && words.contains("There are more"), "{words}");
        assert_eq!(told("done=blocked-all&pages=1").as_deref(), Some("Blocked: 1 page."));
        assert_eq!(told("done=passed-all&pages=7").as_deref(), Some("Passed: 7 pages."));
        let done = service::DecisionMade { has_more: false, ..made };
        assert!(path_after(&done, &list, Some(&next)).starts_with("/admin/moderation/next-a1b2?"));
        assert!(path_after(&done, &list, None).starts_with("/admin/moderation?done=blocked&"));
        for nothing in ["", "done=burnt&host=my-page-a1b2", "done=passed&host=%3Cb%3E", "done=passed"] {
            assert_eq!(told(nothing), None, "{nothing}");
        }
    }
}
