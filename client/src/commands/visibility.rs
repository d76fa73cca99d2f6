//! `handbill visibility`, `handbill private-link`, and the visibility of a page that `handbill publish
//! --private` publishes.

use domain::{Micro, Slug, Tariff};
use reqwest::{Method, Url};
use serde_json::json;

use super::artifacts::{PRIVATE, PUBLIC, demand, path_of};
use super::confirm;
use crate::command::Visibility;
use crate::context::Context;
use crate::failure::{Failure, INSUFFICIENT_SCOPE, NOT_FOUND};
use crate::payment::{Purse, call_paying, confirm_beforehand, credit_of};
use crate::reply::Reply;
use crate::request::Request;
use crate::server::Server;
use crate::show::{dollars, usd};
use crate::wire::{Artifact, Published};

pub async fn set_visibility(context: &Context, slug: &Slug, visibility: Visibility) -> Result<(), Failure> {
    let wanted = match visibility {
        Visibility::Public => PUBLIC,
        Visibility::Unlisted => "unlisted",
        Visibility::Private => PRIVATE,
    };
    let server = context.server()?;
    let may_cost = visibility != Visibility::Public && may_be_public(&server, slug).await?;
    let mut purse = Purse::of(&context.options);
    if may_cost {
        confirm_month(context, &format!("this changes {slug}"), &mut purse).await?;
    }
    let reply = change(context, &server, slug, wanted, &mut purse).await?;
    context.console.print_reply(&reply, |artifact: Artifact| artifact.link().to_owned())
}

/// Replaces the link of a private page.
pub async fn replace_link(context: &Context, slug: &Slug) -> Result<(), Failure> {
    let server = context.server()?;
    if !context.options.yes {
        demand(&server, slug).await?;
    }
    confirm(context, &format!("Replace the link of {slug}? The old link stops working at once.")).await?;
    let reply = server.call(&Request::make(format!("{}/private-link", path_of(slug)))).await?;
    context.console.print_reply(&reply, |artifact: Artifact| artifact.link().to_owned())?;
    context.console.note(&format!("The old link of {slug} no longer works."));
    Ok(())
}

/// Changes the visibility, and notes what it cost.
async fn change(
    context: &Context,
    server: &Server,
    slug: &Slug,
    wanted: &str,
    purse: &mut Purse,
) -> Result<Reply, Failure> {
    let prints_spent = wanted != PUBLIC && context.console.prints_notes();
    let credit_before = if prints_spent { credit_of(server).await } else { None };
    let mut request = Request::set(Method::PATCH, path_of(slug)).json(json!({ "visibility": wanted }));
    let reply = call_paying(context, server, &mut request, purse).await?;
    context.console.note(&format!("{slug} is now {wanted}."));
    let artifact: Artifact = reply.read()?;
    if let Some(receipt) = artifact.receipt {
        let amount = usd(receipt.amount_usd);
        context.console.note(&format!("Paid {amount} by {}, receipt {}.", receipt.rail, receipt.id));
    } else if let Some(before) = credit_before {
        print_spent(context, before, credit_of(server).await);
    }
    Ok(reply)
}

/// Whether the page is public. True if the token may not read it.
async fn may_be_public(server: &Server, slug: &Slug) -> Result<bool, Failure> {
    match server.get(&path_of(slug)).await {
        Ok(reply) => Ok(reply.read::<Artifact>()?.visibility == PUBLIC),
        Err(failure) if failure.api_error.code == INSUFFICIENT_SCOPE => Ok(true),
        Err(failure) => Err(failure),
    }
}

/// Credit would pay the month without confirmation, so the price is confirmed before the call. No call
/// returns the price in advance, so it is the documented one. If the server asks for more, its 402 needs
/// confirmation again.
async fn confirm_month(context: &Context, what_for: &str, purse: &mut Purse) -> Result<(), Failure> {
    let price = Tariff::default().visibility_price;
    let what = format!("an unlisted or private page costs {} a month; {what_for}", dollars(price));
    confirm_beforehand(context, &what, price, purse).await
}

fn print_spent(context: &Context, before: Micro, after: Option<Micro>) {
    let Some(after) = after.filter(|after| *after < before) else { return };
    let (spent, left) = (dollars(before - after), dollars(after));
    context.console.note(&format!("Spent {spent} of credit, {left} left."));
}

/// What is left to do once a private page is stored.
pub enum Privacy {
    /// The page is private already, or may stay as it is.
    Settled,
    /// The page is new. It is staged, becomes private, and then goes live. The price is confirmed before.
    ForNewPage(Purse),
}

/// Prepares the publish of a private page. An existing page becomes private before, so that the new version
/// is never public.
pub async fn prepare_private(
    context: &Context,
    server: &Server,
    slug: Option<&Slug>,
    purse: &mut Purse,
) -> Result<Privacy, Failure> {
    let existing = match slug {
        Some(slug) => existing_page(server, slug).await?,
        None => None,
    };
    let (Some(slug), Some(artifact)) = (slug, existing) else {
        let mut month = purse.for_another_price();
        confirm_month(context, "this publishes one", &mut month).await?;
        return Ok(Privacy::ForNewPage(month));
    };
    if artifact.visibility == PUBLIC {
        confirm_month(context, &format!("this changes {slug}"), purse).await?;
    }
    if artifact.visibility != PRIVATE {
        change(context, server, slug, PRIVATE, purse).await?;
    }
    Ok(Privacy::Settled)
}

async fn existing_page(server: &Server, slug: &Slug) -> Result<Option<Artifact>, Failure> {
    match server.get(&path_of(slug)).await {
        Ok(reply) => reply.read().map(Some),
        Err(failure) if failure.api_error.code == NOT_FOUND => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Makes a new page private that is not live yet. If that fails, the page is deleted, because it would be
/// public as soon as somebody made it live.
pub async fn hide_new_page(
    context: &Context,
    server: &Server,
    slug: &Slug,
    month: &mut Purse,
) -> Result<Reply, Failure> {
    let failure = match change(context, server, slug, PRIVATE, month).await {
        Ok(reply) => return Ok(reply),
        Err(failure) => failure,
    };
    let deleted = server.call(&Request::set(Method::DELETE, path_of(slug))).await;
    let message = &failure.api_error.message;
    Err(match deleted {
        Ok(_) => {
            let message = format!("{slug} could not be made private, so it was deleted: {message}");
            failure.explained(message, "solve this, then publish again")
        }
        Err(_) => {
            let message = format!("{slug} is stored, but could not be made private: {message}");
            let hint = format!("delete it with `handbill delete {slug}`; it would be public once it is live");
            failure.explained(message, hint)
        }
    })
}

/// The response to a publish, with the private link that the page has since, and the credit that is left.
pub fn hidden_publish(published: &Reply, hidden: &Reply, credit: Option<Micro>) -> Result<Reply, Failure> {
    let (mut body, artifact) = (published.json()?, hidden.json()?);
    let entry_url = published.read::<Published>()?.entry_url;
    for field in ["visibility", "signed_url"] {
        body[field] = artifact[field].clone();
    }
    if let Some(credit) = credit {
        body["account"]["credits_usd"] = credit.usd().into();
    }
    if let (Some(entry_url), Some(signed_url)) = (entry_url, artifact["signed_url"].as_str()) {
        body["entry_url"] = signed(&entry_url, signed_url).into();
    }
    Ok(Reply { body: body.to_string(), ..published.clone() })
}

/// A URL of the same page with the signature of its signed link.
fn signed(url: &str, signed_url: &str) -> String {
    let (Ok(mut url), Ok(signed_url)) = (url.parse::<Url>(), signed_url.parse::<Url>()) else {
        return url.to_owned();
    };
    url.set_query(signed_url.query());
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_private_page_is_reported_with_links_that_open_it() {
        let reply = |body: serde_json::Value| Reply {
            status: 201,
            body: body.to_string(),
            retry_after: None,
            location: None,
        };
        let published = reply(json!({
            "url": "http://a/", "entry_url": "http://a/b%20c.html", "host": "a-b1c2", "version": 1,
            "account": { "free_publishes_left": 4, "credits_usd": 0.0, "expires_at": null },
        }));
        let hidden = reply(json!({ "visibility": "private", "signed_url": "http://a/?sig=0a1b" }));
        let credit = Some(Micro::new(1_250_000));
        let merged = hidden_publish(&published, &hidden, credit).unwrap().json().unwrap();
        assert_eq!(merged["account"]["credits_usd"], 1.25);
        assert_eq!(merged["visibility"], "private");
        assert_eq!(merged["signed_url"], "http://a/?sig=0a1b");
        assert_eq!(merged["entry_url"], "http://a/b%20c.html?sig=0a1b");
        assert_eq!(merged["version"], 1);
    }
}
