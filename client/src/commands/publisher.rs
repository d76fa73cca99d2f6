//! Sends a publish, prints only the URL to standard output, and notes such as what is left of the allowance
//! to standard error.

use std::mem;

use domain::{SitePath, Slug, Tariff};
use indicatif::ProgressBar;

use super::artifacts::make_live;
use super::content::{paths_in, read_on_thread, snapshot_on_thread};
use super::folder::Target;
use super::visibility::{Privacy, hidden_publish, hide_new_page, prepare_private};
use crate::browser::{self, address_of};
use crate::command::Publish;
use crate::context::Context;
use crate::failure::{ApiError, Failure};
use crate::payment::{Purse, call_paying, credit_of};
use crate::reply::Reply;
use crate::request::{Condition, Request};
use crate::server::Server;
use crate::show::{count, dollars, harmless, usd, when};
use crate::upload::{ArchiveUpload, Content, Gathered, Selection, SentFiles, Snapshot, Upload, bar};
use crate::wire::{AccountDetail, Published, Rehearsed, Usage};

/// The length of the suffix of a host after its slug: a dash and four characters.
const HOST_TAIL_LENGTH: usize = 5;
/// The files of a new page are sent at once up to this size. A second request would take longer.
const SENT_AT_ONCE_BYTES_MAX: u64 = 64 * 1024;

/// One run of `handbill publish`, which publishes several times with `--watch`.
pub struct Publisher<'a> {
    pub context: &'a Context,
    pub target: Target,
    server: Server,
    args: Publish,
    purse: Purse,
}

/// A publish that succeeded.
struct Done {
    reply: Reply,
    published: Published,
    files: Option<SentFiles>,
    /// The URL to open.
    link: String,
}

impl<'a> Publisher<'a> {
    pub fn new(context: &'a Context, target: Target, server: Server, args: Publish) -> Self {
        let purse = Purse::of(&context.options);
        Self { context, target, server, args, purse }
    }

    pub async fn read(&self) -> Result<Content, Failure> {
        read_on_thread(self.target.path.clone(), self.selection()).await
    }

    pub async fn snapshot(&self) -> Result<Snapshot, Failure> {
        snapshot_on_thread(&self.target.path, self.selection()).await
    }

    /// A publish after a change, which prints one line.
    pub async fn publish_again(&mut self, content: Content) -> Result<(), Failure> {
        let done = self.send(content).await?;
        let version = done.published.version;
        self.context
            .console
            .print_reply(&done.reply, |_: Published| format!("{} (version {version})", done.link))?;
        self.print_findings(&done.published);
        Ok(())
    }

    /// Shows what a publish would change.
    pub async fn rehearse(&self, content: Content) -> Result<(), Failure> {
        let mut request = self.request(content);
        let reply = self.server.send_with_missing(&mut request).await?.succeeded()?;
        print_rehearsal(self.context, &reply)
    }

    /// The first publish of the command, which prints everything about it.
    pub async fn publish_first(&mut self, content: Content) -> Result<(), Failure> {
        let done =
            if self.args.private { self.send_private(content).await? } else { self.send(content).await? };
        let slug = match &self.target.slug {
            Some(slug) => slug.clone(),
            None => slug_of(&done.published.host)?,
        };
        self.print_published(&done, &slug)?;
        self.target.save(self.context, &self.server, &slug, &done.published.host);
        if self.context.console.prints_notes() {
            print_account(self.context, &self.server, &done.published).await;
        }
        if self.args.open
            && let Err(failure) = browser::open(&done.link)
        {
            let ApiError { message, hint, .. } = failure.api_error;
            self.context.console.warn(&format!("{message}; {hint}"));
        }
        // The next publishes update this page.
        self.target.slug = Some(slug);
        self.args.new = false;
        Ok(())
    }

    async fn send(&mut self, content: Content) -> Result<Done, Failure> {
        let paths = paths_in(&content);
        let mut request = self.request(content);
        let reply = call_paying(self.context, &self.server, &mut request, &mut self.purse).await?;
        self.done(reply, request.sent_files(), &paths)
    }

    async fn send_private(&mut self, content: Content) -> Result<Done, Failure> {
        let slug = self.target.slug.as_ref();
        let privacy = prepare_private(self.context, &self.server, slug, &mut self.purse).await?;
        let Privacy::ForNewPage(mut month) = privacy else { return self.send(content).await };
        let paths = paths_in(&content);
        // A page that somebody else makes meanwhile must not become private, or be deleted.
        self.args.new = true;
        // It goes live once it is private.
        let is_only_staged = mem::replace(&mut self.args.stage, true);
        let done = self.send(content).await;
        self.args.stage = is_only_staged;
        let done = done?;
        let slug = slug_of(&done.published.host)?;
        month.take_over(&self.purse);
        let hidden = hide_new_page(self.context, &self.server, &slug, &mut month).await?;
        self.purse.take_over(&month);
        if !is_only_staged {
            make_live(&self.server, &slug, done.published.version).await?;
        }
        let credit = credit_of(&self.server).await;
        self.done(hidden_publish(&done.reply, &hidden, credit)?, done.files, &paths)
    }

    fn done(&self, reply: Reply, files: Option<SentFiles>, paths: &[SitePath]) -> Result<Done, Failure> {
        let published: Published = reply.read()?;
        let link = published.entry_url.clone().unwrap_or_else(|| address_of(published.link(), paths));
        Ok(Done { reply, published, files, link })
    }

    fn selection(&self) -> Selection {
        Selection::of(self.args.all_files)
    }

    fn request(&self, content: Content) -> Request {
        let (context, args) = (self.context, &self.args);
        let own_key = || context.chance.ulid(context.clock.now()).to_string();
        let key = args.idempotency_key.clone().unwrap_or_else(own_key);
        let (path, slug) = match &self.target.slug {
            Some(slug) if args.stage && !args.new => (format!("/v1/artifacts/{slug}/versions"), None),
            slug => ("/v1/publish".to_owned(), slug.clone()),
        };
        let condition = match args.if_version {
            Some(seq) => Some(Condition::LiveVersion(seq)),
            None => (args.new && slug.is_some()).then_some(Condition::SlugIsNew),
        };
        let request = Request::make_once(path + &query_of(args), key).only_if(condition);
        let message = args.message.clone();
        let bar = |total| if context.console.prints_notes() { bar(total) } else { ProgressBar::hidden() };
        match content {
            Content::Archive(archive) => {
                let bar = bar(archive.bytes.len() as u64);
                request.archive(ArchiveUpload { slug, message, archive, bar })
            }
            Content::Files(Gathered { files, .. }) => {
                let total_bytes = files.iter().map(|file| file.bytes.len() as u64).sum();
                let may_be_update = self.target.slug.is_some() && !args.new;
                let is_hashed_first =
                    files.len() > 1 && (may_be_update || total_bytes > SENT_AT_ONCE_BYTES_MAX);
                let upload = Upload::new(slug, message, files, bar(total_bytes));
                request.upload(if is_hashed_first { upload.by_hash() } else { upload })
            }
        }
    }

    fn print_published(&self, done: &Done, slug: &Slug) -> Result<(), Failure> {
        let Done { reply, published, files, link } = done;
        let console = &self.context.console;
        if let Some(files) = files.filter(|files| files.total > 1) {
            console.note(&files.to_string());
        }
        console.print_reply(reply, |_: Published| link.clone())?;
        let version = published.version;
        console.note(&if self.args.stage {
            format!(
                "Stored as version {version} of {slug}. Make it live with `handbill activate {slug} {version}`."
            )
        } else {
            format!("Published version {version} of {slug}. Update it with --slug {slug}.")
        });
        if self.args.stage
            && let Some(link) = published.version_link()
        {
            console.note(&format!("Preview: {link}"));
        }
        self.print_findings(published);
        if let Some(receipt) = &published.receipt {
            let amount = usd(receipt.amount_usd);
            console.note(&format!("Paid {amount} by {}, receipt {}.", receipt.rail, receipt.id));
        }
        Ok(())
    }

    /// The warnings, and the verdict of the scan.
    fn print_findings(&self, published: &Published) {
        let console = &self.context.console;
        for warning in &published.warnings {
            console.warn(&warning.text());
        }
        match (published.moderation_status.as_deref(), &published.reason) {
            (Some(status), Some(reason)) => console.warn(&format!("scan: {status}. {reason}")),
            (Some(status), None) => console.note(&format!("Scan: {status}.")),
            (None, _) => {}
        }
    }
}

fn query_of(args: &Publish) -> String {
    let parameters =
        [(args.stage, "activate=false"), (args.dry_run, "dry_run=true"), (args.wait, "wait=scan")];
    let chosen: Vec<_> =
        parameters.into_iter().filter_map(|(is_chosen, parameter)| is_chosen.then_some(parameter)).collect();
    if chosen.is_empty() { String::new() } else { format!("?{}", chosen.join("&")) }
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

fn slug_of(host: &str) -> Result<Slug, Failure> {
    let slug = host.get(..host.len().saturating_sub(HOST_TAIL_LENGTH)).unwrap_or(host);
    slug.parse().map_err(|_| {
        let hint = "`handbill list` shows the page; check that --url points to a Handbill server";
        Failure::unreachable(format!("the page is published at the unknown host {host}"), hint)
    })
}
