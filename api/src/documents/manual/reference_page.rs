//! The pages of the reference: an overview, and a page for each group of endpoints.

use askama::Template;

use super::markdown::{block, inline};
use super::{Frame, PageLink};
use crate::documents::reference::{Group, Operation};

pub const PATH: &str = "/docs/reference";

/// The operations that a new reader needs, in the order of their use.
const START: [(&str, &str); 6] = [
    ("sign_up", "Get an account and its token."),
    ("publish", "Publish a page or a site, or a new version of it."),
    ("create_claim_link", "Get a link with which a person keeps the account."),
    ("activate_version", "Make another version live."),
    ("set_visibility", "Choose who can open a page."),
    ("create_invite", "Let other people and agents into the account."),
];

#[derive(Template)]
#[template(path = "docs/reference.html")]
struct OverviewPage<'a> {
    frame: Frame<'a>,
    start: Vec<Step<'a>>,
    groups: &'a [Group],
}

/// A step of the list for beginners.
struct Step<'a> {
    operation: &'a Operation,
    path: String,
    text: &'static str,
}

#[derive(Template)]
#[template(path = "docs/group.html")]
struct GroupPage<'a> {
    frame: Frame<'a>,
    group: &'a Group,
}

pub fn link(group: &Group) -> PageLink {
    PageLink {
        path: format!("{PATH}/{}", group.page()),
        title: group.section.name.clone(),
        summary: group.section.text.clone(),
    }
}

/// The address of an operation. It stays the same when its path changes.
pub fn path_of(group: &Group, operation: &Operation) -> String {
    format!("{PATH}/{}#{}", group.page(), operation.id)
}

pub fn overview(frame: Frame<'_>, groups: &[Group]) -> askama::Result<String> {
    let start = START.iter().filter_map(|&(id, text)| {
        let in_group = |group: &Group| group.section.operations.iter().position(|it| it.id == id);
        let group = groups.iter().find(|group| in_group(group).is_some())?;
        let operation = &group.section.operations[in_group(group)?];
        Some(Step { operation, path: path_of(group, operation), text })
    });
    OverviewPage { frame, start: start.collect(), groups }.render()
}

pub fn page(frame: Frame<'_>, group: &Group) -> askama::Result<String> {
    GroupPage { frame, group }.render()
}
