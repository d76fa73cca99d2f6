//! The commands on pages and sites.

use domain::{Slug, Time};
use reqwest::Method;
use serde_json::json;

use super::confirm;
use crate::browser;
use crate::context::Context;
use crate::failure::{Failure, INSUFFICIENT_SCOPE};
use crate::reply::Reply;
use crate::request::Request;
use crate::server::Server;
use crate::show::{Fit, bytes, facts, or_nothing, table, when};
use crate::wire::{Artifact, ArtifactDetail, Deleted, Version};

const ARTIFACTS: &str = "/v1/artifacts";
pub(super) const PUBLIC: &str = "public";
pub(super) const PRIVATE: &str = "private";

pub async fn list(context: &Context) -> Result<(), Failure> {
    let reply = context.server()?.get(ARTIFACTS).await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |artifacts: Vec<Artifact>| {
        let rows = artifacts.into_iter().map(|artifact| {
            let link = link_in_list(&artifact);
            let updated = or_nothing(artifact.updated_at.map(|moment| when(&moment, now)));
            let Artifact { slug, title, visibility, moderation_status, version, .. } = artifact;
            let (title, views) = (or_nothing(title), or_nothing(artifact.views_month));
            [slug, title, updated, views, or_nothing(version), visibility, moderation_status, link]
        });
        let names = ["SLUG", "TITLE", "UPDATED", "VIEWS", "LIVE", "VISIBILITY", "MODERATION", "URL"];
        let fit = Fit {
            shortened: Some("TITLE"),
            // A URL that is cut cannot be copied.
            left_out: &["LIVE", "MODERATION", "VISIBILITY", "TITLE", "URL", "VIEWS", "UPDATED"],
        };
        let empty = "No pages yet. Publish one with `handbill publish PATH`.";
        table(names, fit, rows, empty)
    })
}

/// The plain URL of a private page is refused, and a list does not include the signed one.
fn link_in_list(artifact: &Artifact) -> String {
    if artifact.visibility == PRIVATE && artifact.signed_url.is_none() {
        return "see `handbill show`".to_owned();
    }
    artifact.link().to_owned()
}

pub async fn show(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let reply = context.server()?.get(&path_of(slug)).await?;
    let now = context.clock.now();
    context.console.print_reply(&reply, |detail: ArtifactDetail| {
        let artifact = &detail.artifact;
        let detail_text = facts([
            ("slug", artifact.slug.clone()),
            ("url", artifact.link().to_owned()),
            ("host", artifact.host.clone()),
            ("id", detail.id.clone()),
            ("visibility", artifact.visibility.clone()),
            ("moderation", artifact.moderation_status.clone()),
            ("live version", or_nothing(artifact.version)),
            ("versions", detail.versions.len().to_string()),
            ("created", when(&detail.created_at, now)),
            ("changed", when(&detail.updated_at, now)),
        ]);
        format!("{detail_text}\n\n{}", versions_table(&detail.versions, now))
    })
}

pub async fn versions(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let reply = context.server()?.get(&path_of(slug)).await?;
    let detail = reply.json()?;
    let typed: ArtifactDetail = reply.read()?;
    context
        .console
        .print_result(&detail["versions"], || versions_table(&typed.versions, context.clock.now()));
    Ok(())
}

fn versions_table(versions: &[Version], now: Time) -> String {
    let rows = versions.iter().map(|version| {
        [
            version.seq.to_string(),
            if version.live { "live".to_owned() } else { String::new() },
            when(&version.created_at, now),
            version.file_count.to_string(),
            bytes(version.total_bytes),
            version.created_via.clone(),
            version.moderation_status.clone(),
            version.message.clone().unwrap_or_default(),
            version.link(),
        ]
    });
    let names = ["VERSION", "", "CREATED", "FILES", "SIZE", "BY", "MODERATION", "MESSAGE", "URL"];
    let fit = Fit {
        shortened: Some("MESSAGE"),
        // The longest first, which makes room for all others. A URL that is cut cannot be copied.
        left_out: &["URL", "BY", "SIZE", "FILES", "MODERATION", "MESSAGE"],
    };
    table(names, fit, rows, "No versions.")
}

/// Rolls back to the given version, or to the newest one before the live one.
pub async fn rollback(context: &Context, slug: &Slug, version: Option<u32>) -> Result<(), Failure> {
    let version = match version {
        Some(version) => version,
        None => {
            let detail = detail_of(&context.server()?, slug).await?;
            version_before(&detail).ok_or_else(|| {
                let hint = format!(
                    "`handbill versions {slug}` lists the versions; `handbill activate {slug} VERSION` makes one live"
                );
                Failure::usage(format!("{slug} has no version before the live one"), hint)
            })?
        }
    };
    activate(context, slug, version).await
}

pub(super) async fn detail_of(server: &Server, slug: &Slug) -> Result<ArtifactDetail, Failure> {
    server.get(&path_of(slug)).await?.read()
}

/// The newest version before the live one.
pub(super) fn version_before(detail: &ArtifactDetail) -> Option<u32> {
    let live = detail.artifact.version?;
    detail.versions.iter().map(|version| version.seq).filter(|seq| *seq < live).max()
}

pub async fn activate(context: &Context, slug: &Slug, version: u32) -> Result<(), Failure> {
    let server = context.server()?;
    let reply = make_live(&server, slug, version).await?;
    let link = link_of(&server, slug, reply.read()?).await;
    context.console.print_reply(&reply, |_: Artifact| link)?;
    context.console.note(&format!("Version {version} of {slug} is live."));
    Ok(())
}

pub(super) async fn make_live(server: &Server, slug: &Slug, version: u32) -> Result<Reply, Failure> {
    let request = Request::set(Method::POST, format!("{}/activate", path_of(slug)));
    server.call(&request.json(json!({ "version": version }))).await
}

/// The link that opens a page, even after a call whose response lacks the signed link of a private page.
pub(super) async fn link_of(server: &Server, slug: &Slug, artifact: Artifact) -> String {
    if artifact.visibility != PRIVATE || artifact.signed_url.is_some() {
        return artifact.link().to_owned();
    }
    let detail = server.get(&path_of(slug)).await;
    // The version is live, so a missing link is not an error.
    detail.and_then(|reply| reply.read()).unwrap_or(artifact).link().to_owned()
}

pub async fn delete(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let server = context.server()?;
    if !context.options.yes {
        demand(&server, slug).await?;
    }
    confirm(context, &format!("Delete {slug}? Its URL stops working at once.")).await?;
    let reply = server.call(&Request::set(Method::DELETE, path_of(slug))).await?;
    context.console.print_reply(&reply, |deleted: Deleted| format!("Deleted {}", deleted.slug))
}

/// Checks that the page exists before somebody is asked about it. A token that may not read it is believed.
pub(super) async fn demand(server: &Server, slug: &Slug) -> Result<Option<ArtifactDetail>, Failure> {
    match detail_of(server, slug).await {
        Ok(detail) => Ok(Some(detail)),
        Err(failure) if failure.api_error.code == INSUFFICIENT_SCOPE => Ok(None),
        Err(failure) => Err(failure),
    }
}

pub async fn open(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let reply: Reply = context.server()?.get(&path_of(slug)).await?;
    let artifact: Artifact = reply.read()?;
    let url = artifact.link().to_owned();
    browser::open(&url)?;
    context.console.print_result(&json!({ "slug": artifact.slug, "opened": url.clone() }), || url.clone());
    Ok(())
}

pub(super) fn path_of(slug: &Slug) -> String {
    format!("{ARTIFACTS}/{slug}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(live: Option<u32>, seqs: &[u32]) -> ArtifactDetail {
        let versions: Vec<_> = seqs
            .iter()
            .map(|seq| {
                json!({
                    "seq": seq, "total_bytes": 1, "file_count": 1, "created_via": "api", "live": Some(*seq) == live,
                    "created_at": "2026-01-31T12:00:00Z", "moderation_status": "pass", "message": null,
                })
            })
            .collect();
        serde_json::from_value(json!({
            "id": "1", "slug": "my-page", "host": "my-page-a1b2", "url": "http://a/", "visibility": "public",
            "moderation_status": "pass", "version": live, "created_at": "", "updated_at": "", "versions": versions,
        }))
        .unwrap()
    }

    #[test]
    fn list_shows_no_unsigned_link_of_a_private_page() {
        let listed = |visibility: &str, signed_url: Option<&str>| {
            let mut artifact = detail(Some(1), &[1]).artifact;
            artifact.visibility = visibility.to_owned();
            artifact.signed_url = signed_url.map(str::to_owned);
            link_in_list(&artifact)
        };
        assert_eq!(listed("unlisted", None), "http://a/");
        assert_eq!(listed("private", None), "see `handbill show`");
        assert_eq!(
            listed("private", Some("http://a/?sig=0123456789abcdef")),
            "http://a/?sig=0123456789abcdef"
        );
    }

    #[test]
    fn a_rollback_goes_to_the_newest_version_before_the_live_one() {
        assert_eq!(version_before(&detail(Some(3), &[4, 3, 2, 1])), Some(2));
        assert_eq!(version_before(&detail(Some(1), &[2, 1])), None);
        assert_eq!(version_before(&detail(None, &[1])), None);
    }
}
