//! What stands around every page of the operator's people.

use domain::{Host, OperatorName};
use poem::Request;
use serde::Deserialize;

use super::guard::AtDesk;
use super::queues::done::Done;
use crate::refusal::RefusedCall;

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
            Tab::Contents => "Blocked contents",
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
        let AtDesk { name, has_session } = at_desk(request)?.clone();
        let done = match tab {
            Tab::Moderation | Tab::Audit | Tab::Contents => done(request),
            Tab::Queues => Done::told_in(request).map(|done| done.words()),
        };
        Ok(Self { name, has_session, tab, done })
    }
}

/// Who was let in by the guard.
pub fn at_desk(request: &Request) -> Result<&AtDesk, RefusedCall> {
    let missing =
        || service::Failure::Bug(anyhow::anyhow!("a page of the operator's stands behind no guard"));
    request.data::<AtDesk>().ok_or_else(|| missing().into())
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Told {
    done: String,
    host: String,
    elsewhere: u64,
    more: bool,
}

/// What a redirect says has been done, in words of ours alone.
fn done(request: &Request) -> Option<String> {
    let told: Told = request.params().unwrap_or_default();
    if told.done == "unblocked" {
        return Some(
            "The content is off the list. Pages that only it has blocked are scanned again.".to_owned(),
        );
    }
    let host: Host = told.host.parse().ok()?;
    let what = match told.done.as_str() {
        "passed" => format!("Done: {host} passes and is served."),
        "blocked" => format!("Done: {host} is blocked; visitors see a page that says so."),
        "suspended" => format!("Done: the account of {host} is suspended. Visitors no longer see its pages."),
        "lifted" => {
            format!("Done: the account of {host} is no longer suspended. Visitors see its pages again.")
        }
        _ => return None,
    };
    let elsewhere = match told.elsewhere {
        0 => String::new(),
        1 => " 1 other page with the same content is blocked too.".to_owned(),
        count => format!(" {count} other pages with the same content are blocked too."),
    };
    let more = if told.more { " There are more: block it once more to go on with them." } else { "" };
    Some(format!("{what}{elsewhere}{more}"))
}

/// The address to which a decision leads on.
pub fn path_after(made: &service::DecisionMade) -> String {
    let done = match made.moderation {
        domain::ModerationStatus::Blocked => "blocked",
        _ => "passed",
    };
    let mut path = format!("{}?done={done}&host={}", super::QUEUE, made.host);
    if !made.blocked_elsewhere.is_empty() {
        path.push_str(&format!("&elsewhere={}", made.blocked_elsewhere.len()));
    }
    if made.has_more {
        path.push_str("&more=true");
    }
    path
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
            Some("Done: my-page-a1b2 passes and is served.")
        );
        let made = service::DecisionMade {
            host: "my-page-a1b2".parse().unwrap(),
            slug: "my-page".parse().unwrap(),
            moderation: domain::ModerationStatus::Blocked,
            seq: 1,
            blocked_elsewhere: vec!["other-a1b2".parse().unwrap(); 2],
            has_more: true,
        };
        let path = path_after(&made);
        let words = told(path.split_once('?').unwrap().1).unwrap();
        assert!(words.contains("2 other pages") && words.contains("once more"), "{words}");
        for nothing in ["", "done=burnt&host=my-page-a1b2", "done=passed&host=%3Cb%3E", "done=passed"] {
            assert_eq!(told(nothing), None, "{nothing}");
        }
    }
}
