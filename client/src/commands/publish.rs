//! `handbill publish`: what is sent is shown before it is, the URL alone goes to standard output, and what one wants to
//! know next goes beside it.

use domain::{SitePath, Slug, Tariff};
use indicatif::ProgressBar;

use crate::browser::address_of;
use crate::command::Publish;
use crate::context::Context;
use crate::failure::Failure;
use crate::payment::{Purse, call_paying};
use crate::reply::Reply;
use crate::request::Request;
use crate::server::Server;
use crate::show::{bytes, count, dollars, usd, when};
use crate::upload::{Gathered, SiteFile, Upload, bar, gather};
use crate::wire::{AccountDetail, Published, Usage};

/// What stands behind the slug in a host: a dash and four characters.
const HOST_TAIL_LENGTH: usize = 5;

pub async fn publish(context: &Context, asked: Publish) -> Result<(), Failure> {
    // A token that is missing is told before anything is read.
    let server = context.server()?;
    let gathered = gather_aside(&asked).await?;
    show_files(context, &gathered);
    let paths: Vec<SitePath> = gathered.files.iter().map(|file| file.path.clone()).collect();
    let request = request_of(context, &asked, gathered.files);
    let reply = call_paying(context, &server, request, Purse::of(&context.options)).await?;
    tell(context, &asked, &paths, &reply)?;
    if context.console.takes_notes() {
        tell_what_is_left(context, &server, &reply.read()?).await;
    }
    Ok(())
}

/// Files are read beside the runtime, so that Ctrl-C is heard while standard input is open.
async fn gather_aside(asked: &Publish) -> Result<Gathered, Failure> {
    let path = asked.path.clone();
    let gathered = tokio::task::spawn_blocking(move || gather(&path)).await;
    gathered.map_err(|error| Failure::of_this_machine(format!("the files were not read: {error}")))?
}

fn show_files(context: &Context, gathered: &Gathered) {
    let total: u64 = gathered.files.iter().map(|file| file.bytes.len() as u64).sum();
    for SiteFile { path, bytes: content } in &gathered.files {
        context.console.note(&format!("  {:>9}  {path}", bytes(content.len() as u64)));
    }
    if gathered.files.len() > 1 {
        let files = count(gathered.files.len() as u64, "file", "files");
        context.console.note(&format!("  {:>9}  in {files}", bytes(total)));
    }
    for left_out in &gathered.left_out {
        context.console.warn(&format!("left out: {left_out}"));
    }
}

fn request_of(context: &Context, asked: &Publish, files: Vec<SiteFile>) -> Request {
    let total = files.iter().map(|file| file.bytes.len() as u64).sum();
    let bar = if context.console.takes_notes() { bar(total) } else { ProgressBar::hidden() };
    let own_key = || context.chance.ulid(context.clock.now()).to_string();
    let key = asked.idempotency_key.clone().unwrap_or_else(own_key);
    let (path, slug) = match &asked.slug {
        Some(slug) if asked.stage => (format!("/v1/artifacts/{slug}/versions?activate=false"), None),
        slug => ("/v1/publish".to_owned(), slug.clone()),
    };
    let upload = Upload::new(slug, asked.message.clone(), files, bar);
    Request::make_once(path, key).upload(upload)
}

fn tell(context: &Context, asked: &Publish, paths: &[SitePath], reply: &Reply) -> Result<(), Failure> {
    context.console.answer(reply, |published: Published| address_of(published.link(), paths))?;
    let published: Published = reply.read()?;
    let slug = asked.slug.as_ref().map_or_else(|| slug_of(&published.host), Slug::to_string);
    let version = published.version;
    context.console.note(&if asked.stage {
        format!("stored as version {version} of {slug}; `handbill activate {slug} {version}` makes it live")
    } else {
        format!("version {version} of {slug}; publish with --slug {slug} to change it")
    });
    if !paths.contains(&SitePath::index()) && paths.len() > 1 {
        context.console.warn("there is no index.html, so the URL itself shows nothing");
    }
    for warning in &published.warnings {
        let line = warning.line.map(|line| format!(":{line}")).unwrap_or_default();
        context.console.warn(&format!("{}{line}: {}; {}", warning.path, warning.message, warning.hint));
    }
    if let Some(receipt) = &published.receipt {
        let amount = usd(receipt.amount_usd);
        context.console.note(&format!("paid {amount} by {}, receipt {}", receipt.rail, receipt.id));
    }
    Ok(())
}

/// What is left of the allowance and, while the account is provisional, of its time.
async fn tell_what_is_left(context: &Context, server: &Server, published: &Published) {
    let left = &published.account;
    if published.receipt.is_none() && left.free_publishes_left == 0 && is_past_allowance(server).await {
        // The answer does not tell what credit paid; the price is the documented one.
        let price = dollars(Tariff::default().publish_price);
        context.console.note(&format!("past the free allowance: it spent {price} of credit"));
    }
    let free = count(left.free_publishes_left, "free publish", "free publishes");
    context.console.note(&format!("{free} left, {} credit", usd(left.credits_usd)));
    let Some(expires_at) = &left.expires_at else { return };
    let expires = when(expires_at, context.clock.now());
    // The page is published, so a link that cannot be had is no failure.
    let link = match server.get("/v1/account").await.and_then(|reply| reply.read::<AccountDetail>()) {
        Ok(AccountDetail { claim_url: Some(link), .. }) => link,
        _ => "`handbill account` shows the link".to_owned(),
    };
    context.console.note(&format!("expires {expires} unless a person claims the account: {link}"));
}

/// Whether the last publish was no free one any more.
async fn is_past_allowance(server: &Server) -> bool {
    let usage = server.get("/v1/usage").await.and_then(|reply| reply.read::<Usage>());
    usage.is_ok_and(|usage| usage.publishes.used > usage.publishes.free_limit)
}

fn slug_of(host: &str) -> String {
    host.get(..host.len().saturating_sub(HOST_TAIL_LENGTH)).unwrap_or(host).to_owned()
}
