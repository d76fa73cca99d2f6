//! `handbill publish`: lists the files before they are sent, prints only the URL to standard output, and
//! notes such as what is left of the allowance to standard error.

use std::path::PathBuf;

use domain::{SitePath, Slug, Tariff};
use indicatif::ProgressBar;

use crate::browser::address_of;
use crate::command::Publish;
use crate::context::Context;
use crate::failure::Failure;
use crate::payment::{Purse, call_paying};
use crate::reply::Reply;
use crate::request::{Condition, Request};
use crate::server::Server;
use crate::show::{bytes, count, dollars, harmless, usd, when};
use crate::upload::{ArchiveUpload, Content, Gathered, SiteFile, Upload, bar, read};
use crate::wire::{AccountDetail, Published, Rehearsed, Usage};

/// The length of the suffix of a host after its slug: a dash and four characters.
const HOST_TAIL_LENGTH: usize = 5;
/// The files of a new page are sent at once up to this size. A second request would take longer.
const SENT_AT_ONCE_BYTES_MAX: u64 = 64 * 1024;

pub async fn publish(context: &Context, args: Publish) -> Result<(), Failure> {
    // A missing token is reported before any file is read.
    let server = context.server()?;
    let content = read_on_thread(args.path.clone()).await?;
    show_content(context, &content);
    let paths = paths_in(&content);
    let mut request = request_of(context, &args, content);
    if args.dry_run {
        let reply = server.send_with_missing(&mut request).await?.succeeded()?;
        return print_rehearsal(context, &reply);
    }
    let reply = call_paying(context, &server, &mut request, Purse::of(&context.options)).await?;
    if let Some(files) = request.sent_files().filter(|files| files.total > 1) {
        context.console.note(&files.to_string());
    }
    print_published(context, &args, &paths, &reply)?;
    if context.console.prints_notes() {
        print_account(context, &server, &reply.read()?).await;
    }
    Ok(())
}

/// Reads the files on another thread, so that Ctrl-C works while standard input is open.
pub async fn read_on_thread(path: PathBuf) -> Result<Content, Failure> {
    let content = tokio::task::spawn_blocking(move || read(&path)).await;
    content.map_err(|error| Failure::of_this_machine(format!("could not read the files: {error}")))?
}

/// The paths of the files, as far as they are known before an archive is unpacked.
fn paths_in(content: &Content) -> Vec<SitePath> {
    match content {
        Content::Files(gathered) => gathered.files.iter().map(|file| file.path.clone()).collect(),
        Content::Archive(_) => Vec::new(),
    }
}

fn show_content(context: &Context, content: &Content) {
    match content {
        Content::Files(gathered) => show_files(context, gathered),
        Content::Archive(archive) => {
            context.console.note(&format!("  {:>9}  in an archive", bytes(archive.bytes.len() as u64)));
        }
    }
}

fn show_files(context: &Context, gathered: &Gathered) {
    let total: u64 = gathered.files.iter().map(|file| file.bytes.len() as u64).sum();
    for SiteFile { path, bytes: content, .. } in &gathered.files {
        context.console.note(&format!("  {:>9}  {path}", bytes(content.len() as u64)));
    }
    if gathered.files.len() > 1 {
        let files = count(gathered.files.len() as u64, "file", "files");
        context.console.note(&format!("  {:>9}  in {files}", bytes(total)));
    }
    for left_out in &gathered.left_out {
        context.console.warn(&format!("skipped: {left_out}"));
    }
}

fn request_of(context: &Context, args: &Publish, content: Content) -> Request {
    let own_key = || context.chance.ulid(context.clock.now()).to_string();
    let key = args.idempotency_key.clone().unwrap_or_else(own_key);
    let (mut path, slug) = match &args.slug {
        Some(slug) if args.stage => (format!("/v1/artifacts/{slug}/versions"), None),
        slug => ("/v1/publish".to_owned(), slug.clone()),
    };
    let parameters =
        [(args.stage, "activate=false"), (args.dry_run, "dry_run=true"), (args.wait, "wait=scan")];
    let chosen = parameters.into_iter().filter(|(is_chosen, _)| *is_chosen);
    for (number, (_, parameter)) in chosen.enumerate() {
        path.push(if number == 0 { '?' } else { '&' });
        path.push_str(parameter);
    }
    let condition = match args.if_version {
        Some(seq) => Some(Condition::LiveVersion(seq)),
        None => args.new.then_some(Condition::SlugIsNew),
    };
    let (request, message) = (Request::make_once(path, key).only_if(condition), args.message.clone());
    let bar = |total| if context.console.prints_notes() { bar(total) } else { ProgressBar::hidden() };
    match content {
        Content::Archive(archive) => {
            let bar = bar(archive.bytes.len() as u64);
            request.archive(ArchiveUpload { slug, message, archive, bar })
        }
        Content::Files(Gathered { files, .. }) => {
            let total_bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
            let may_be_update = args.slug.is_some() && !args.new;
            let is_hashed_first = files.len() > 1 && (may_be_update || total_bytes > SENT_AT_ONCE_BYTES_MAX);
            let upload = Upload::new(slug, message, files, bar(total_bytes));
            request.upload(if is_hashed_first { upload.by_hash() } else { upload })
        }
    }
}

fn print_published(
    context: &Context,
    args: &Publish,
    paths: &[SitePath],
    reply: &Reply,
) -> Result<(), Failure> {
    context.console.print_reply(reply, |published: Published| {
        published.entry_url.clone().unwrap_or_else(|| address_of(published.link(), paths))
    })?;
    let published: Published = reply.read()?;
    let slug = args.slug.as_ref().map_or_else(|| slug_of(&published.host), Slug::to_string);
    let version = published.version;
    context.console.note(&if args.stage {
        format!(
            "Stored as version {version} of {slug}. Make it live with `handbill activate {slug} {version}`."
        )
    } else {
        format!("Published version {version} of {slug}. Update it with --slug {slug}.")
    });
    if args.stage
        && let Some(link) = published.version_link()
    {
        context.console.note(&format!("Look at it first: {link}"));
    }
    for warning in &published.warnings {
        context.console.warn(&warning.text());
    }
    match (published.moderation_status.as_deref(), &published.reason) {
        (Some(status), Some(reason)) => context.console.warn(&format!("scan: {status}. {reason}")),
        (Some(status), None) => context.console.note(&format!("Scan: {status}.")),
        (None, _) => {}
    }
    if let Some(receipt) = &published.receipt {
        let amount = usd(receipt.amount_usd);
        context.console.note(&format!("Paid {amount} by {}, receipt {}.", receipt.rail, receipt.id));
    }
    Ok(())
}

/// Prints each changed file with a sign, as `diff` does for lines.
fn print_rehearsal(context: &Context, reply: &Reply) -> Result<(), Failure> {
    context.console.print_reply(reply, |rehearsed: Rehearsed| {
        let Rehearsed { added, changed, removed, .. } = &rehearsed;
        let signed = [("+", added), ("~", changed), ("-", removed)];
        let lines = signed
            .into_iter()
            .flat_map(|(sign, paths)| paths.iter().map(move |path| format!("{sign} {}", harmless(path))));
        lines.collect::<Vec<_>>().join("\n")
    })?;
    let rehearsed: Rehearsed = reply.read()?;
    let unchanged = count(rehearsed.unchanged, "file is", "files are");
    let price = if rehearsed.price_usd == 0.0 { "nothing".to_owned() } else { usd(rehearsed.price_usd) };
    context.console.note(&format!("Nothing was published. {unchanged} unchanged. It would cost {price}."));
    for warning in &rehearsed.warnings {
        context.console.warn(&warning.text());
    }
    Ok(())
}

/// Prints what is left of the allowance and, for a provisional account, when it expires.
async fn print_account(context: &Context, server: &Server, published: &Published) {
    let left = &published.account;
    if published.receipt.is_none() && left.free_publishes_left == 0 && is_past_allowance(server).await {
        // The response does not say what credit paid. This is the documented price.
        let price = dollars(Tariff::default().publish_price);
        context
            .console
            .note(&format!("The free allowance is used up. This publish spent {price} of credit."));
    }
    let free = count(left.free_publishes_left, "free publish", "free publishes");
    context.console.note(&format!("{free} left, {} credit.", usd(left.credits_usd)));
    let Some(expires_at) = &left.expires_at else { return };
    let expires = when(expires_at, context.clock.now());
    // The page is published, so a missing link is not an error.
    let link = match server.get("/v1/account").await.and_then(|reply| reply.read::<AccountDetail>()) {
        Ok(AccountDetail { claim_url: Some(link), .. }) => link,
        _ => "`handbill account` shows the link".to_owned(),
    };
    context.console.note(&format!("The account expires {expires} unless a person claims it: {link}"));
}

/// Whether the last publish was beyond the free allowance.
async fn is_past_allowance(server: &Server) -> bool {
    let usage = server.get("/v1/usage").await.and_then(|reply| reply.read::<Usage>());
    usage.is_ok_and(|usage| usage.publishes.used > usage.publishes.free_limit)
}

fn slug_of(host: &str) -> String {
    host.get(..host.len().saturating_sub(HOST_TAIL_LENGTH)).unwrap_or(host).to_owned()
}
