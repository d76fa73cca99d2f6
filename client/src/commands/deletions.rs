//! Deletes pages and versions for good, and restores deleted pages.

use domain::Slug;
use reqwest::Method;

use super::artifacts::{demand, link_of, path_of};
use super::confirm;
use crate::context::Context;
use crate::failure::Failure;
use crate::request::Request;
use crate::wire::{Artifact, Deleted};

pub async fn delete_version(context: &Context, slug: &Slug, version: u32) -> Result<(), Failure> {
    let server = context.server()?;
    if !context.options.yes
        && let Some(detail) = demand(&server, slug).await?
        && detail.versions.iter().all(|listed| listed.seq != version)
    {
        let hint = format!("`handbill versions {slug}` lists the versions");
        return Err(Failure::missing(format!("{slug} has no version {version}"), hint));
    }
    confirm(context, &format!("Delete version {version} of {slug}? This cannot be undone.")).await?;
    let path = format!("{}/versions/{version}", path_of(slug));
    let reply = server.call(&Request::set(Method::DELETE, path)).await?;
    context
        .console
        .print_reply(&reply, |deleted: Deleted| format!("Deleted version {version} of {}", deleted.slug))
}

pub async fn purge(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let server = context.server()?;
    let what = format!(
        "Delete {slug} with all of its versions, or the deleted page with that name? This cannot be undone."
    );
    confirm(context, &what).await?;
    let path = format!("{}?purge=true", path_of(slug));
    let reply = server.call(&Request::set(Method::DELETE, path)).await?;
    context.console.print_reply(&reply, |deleted: Deleted| match deleted.message {
        Some(message) => format!("Deleted {}: {message}", deleted.slug),
        None => format!("Deleted {} for good", deleted.slug),
    })
}

pub async fn restore(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let server = context.server()?;
    let reply = server.call(&Request::set(Method::POST, format!("{}/restore", path_of(slug)))).await?;
    let link = link_of(&server, slug, reply.read()?).await;
    context.console.print_reply(&reply, |_: Artifact| link)?;
    context.console.note(&format!("{slug} is restored."));
    Ok(())
}
