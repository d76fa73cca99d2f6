//! `/docs`: the guides, the reference, the errors and the search, for people. The reference is made from the
//! OpenAPI document, so that it cannot go stale.
//!
//! The pages are the same for everybody and never contain a token, so that caches may keep them. The commands
//! name a variable; the script of the pages can put a token into them that stays in the browser's memory.

mod errors_page;
mod guides;
mod markdown;
mod reference_page;
mod search;

use std::collections::BTreeMap;

use askama::Template;
use bytes::Bytes;
use domain::{Missing, Refusal};
use poem::http::StatusCode;
use poem::{Request, Response};
use serde::Deserialize;

use self::guides::Guide;
use self::search::{Entry, SearchPage};
use super::reference::Group;
use super::skill::Skill;
use super::{Facts, errors};
use crate::html;
use crate::http::refusal::RefusedCall;

/// All pages, rendered.
#[derive(Debug)]
pub struct Manual {
    pages: BTreeMap<String, Bytes>,
    navigation: Navigation,
    entries: Vec<Entry>,
    index: Bytes,
}

/// The list of all pages, on every page.
#[derive(Clone, Debug, Default)]
pub struct Navigation {
    pub guides: Vec<PageLink>,
    pub reference: Vec<PageLink>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageLink {
    pub path: String,
    pub title: String,
    /// What the page is about, in one sentence.
    pub summary: String,
}

/// What surrounds the content of a page.
pub struct Frame<'a> {
    pub navigation: &'a Navigation,
    /// The path of this page.
    pub path: &'a str,
    /// What was searched for.
    pub query: &'a str,
}

#[derive(Template)]
#[template(path = "docs/index.html")]
struct IndexPage<'a> {
    frame: Frame<'a>,
}

#[derive(Template)]
#[template(path = "docs/guide.html")]
struct GuidePage<'a> {
    frame: Frame<'a>,
    guide: &'a Guide,
}

#[derive(Deserialize)]
struct SearchQuery {
    #[serde(default)]
    q: String,
}

/// The path of the skill, which people can read as a page.
pub const SKILL: &str = "/skill";

impl Manual {
    pub fn of(facts: &Facts, openapi: &str) -> Self {
        let (guides, groups) = (guides::all(facts), Group::all_of(openapi));
        let navigation = Navigation {
            guides: guides.iter().map(Guide::link).collect(),
            reference: groups.iter().map(reference_page::link).collect(),
        };
        let errors = errors::sections();
        let entries = search::entries(&guides, &groups, &errors);
        let index = serde_json::to_vec(&entries).unwrap_or_default().into();
        let mut manual = Self { pages: BTreeMap::new(), navigation, entries, index };
        manual.add("/docs", |frame| IndexPage { frame }.render());
        for guide in &guides {
            manual.add(&guide.path, |frame| GuidePage { frame, guide }.render());
        }
        let skill = Guide::of(SKILL, &skill_for_people(facts));
        manual.add(SKILL, |frame| GuidePage { frame, guide: &skill }.render());
        manual.add(reference_page::PATH, |frame| reference_page::overview(frame, &groups));
        for group in &groups {
            manual.add(&reference_page::link(group).path, |frame| reference_page::page(frame, group));
        }
        manual.add(errors_page::PATH, |frame| errors_page::page(frame, &errors));
        manual
    }

    /// A template that cannot be rendered makes no page. A test renders all of them.
    fn add(&mut self, path: &str, render: impl FnOnce(Frame<'_>) -> askama::Result<String>) {
        let navigation = self.navigation.clone();
        let rendered = render(Frame { navigation: &navigation, path, query: "" });
        if let Ok(text) = rendered {
            self.pages.insert(path.to_owned(), text.into());
        }
    }

    /// The page at the path of the request.
    pub fn respond(&self, request: &Request) -> Result<Response, RefusedCall> {
        self.page(request.uri().path())
    }

    pub fn page(&self, path: &str) -> Result<Response, RefusedCall> {
        let page = self.pages.get(path).ok_or(Refusal::NotFound(Missing::Endpoint))?;
        Ok(html::public_page(page.clone()))
    }

    /// What the script of the pages searches.
    pub fn index(&self) -> Bytes {
        self.index.clone()
    }

    /// The results of a search, for browsers without scripts.
    pub fn search(&self, request: &Request) -> Result<Response, RefusedCall> {
        let query = request.params::<SearchQuery>().map(|query| query.q).unwrap_or_default();
        let query = search::shortened(&query);
        let frame = Frame { navigation: &self.navigation, path: "/docs/search", query };
        html::live_page(StatusCode::OK, &SearchPage { frame, found: search::find(&self.entries, query) })
    }
}

/// The skill under a heading that tells people what it is, and without what only programs read.
fn skill_for_people(facts: &Facts) -> String {
    let skill = Skill::new(facts.clone()).render().unwrap_or_default();
    let text =
        skill.split_once("\n# ").and_then(|(_, rest)| rest.split_once('\n')).map_or("", |(_, text)| text);
    let base_url = &facts.base_url;
    format!(
        "# Skill for agents\n\nAgents read this page. To use it, tell yours: “Read {base_url}/skill”.\n{text}"
    )
}

#[cfg(test)]
pub mod tests;
