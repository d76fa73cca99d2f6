//! The pages for people: rendered on the server, usable without scripts, and without resources from other
//! sites.
//!
//! A page does what an endpoint does: parse, authenticate, call `service` once, render. Text written by users
//! must reach a page only through a template, which escapes it.

pub mod assets;
pub mod claim;
pub mod dashboard;
pub mod home;
pub mod invite;
pub mod oauth;
pub mod published;
pub mod report;
mod result_notes;
#[cfg(test)]
mod samples;
pub mod signin;
pub mod styleguide;
mod time_left;
mod visitor;
pub mod welcome;
pub mod you;

use domain::{Artifact, Paged};
use service::Service;

/// A link to a published page.
pub struct PageLink {
    pub slug: String,
    pub url: String,
}

/// Links to the pages of an account, for its members.
pub fn links_of(artifacts: &[Artifact], service: &Service) -> Vec<PageLink> {
    let link =
        |artifact: &Artifact| PageLink { slug: artifact.slug.to_string(), url: service.member_url(artifact) };
    artifacts.iter().map(link).collect()
}

/// The pages of an account by name, such as `demo-deck and 1 more`. Empty if it has none.
pub fn names_of(artifacts: &Paged<Artifact>) -> String {
    let Some(newest) = artifacts.rows.first() else { return String::new() };
    match artifacts.total.unwrap_or_default() {
        0 | 1 => newest.slug.to_string(),
        total => format!("{} and {} more", newest.slug, total - 1),
    }
}
