//! The pages for people: made on the server, usable without script, asking nobody else for anything.
//!
//! A page does what an endpoint does: parse, find who calls, one call of `service`, render. What people have written
//! must reach a page through a template only, which escapes it.

pub mod assets;
pub mod claim;
pub mod dashboard;
pub mod home;
pub mod invite;
pub mod report;
pub mod signin;
mod time_left;
pub mod you;

use domain::Artifact;
use service::Service;

/// A published page, as a list shows it.
pub struct PageLink {
    pub slug: String,
    pub url: String,
}

/// Links to the pages of an account, for those who belong to it.
pub fn links_of(artifacts: &[Artifact], service: &Service) -> Vec<PageLink> {
    let link =
        |artifact: &Artifact| PageLink { slug: artifact.slug.to_string(), url: service.member_url(artifact) };
    artifacts.iter().map(link).collect()
}
