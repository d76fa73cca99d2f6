//! `handbill migrate-data`: copies an installation into another one that is empty, such as from one machine's
//! directory to PostgreSQL and a bucket. Both must be stopped. The source is only read.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use config::{Secret, Settings, Storage};
use domain::{BlobHash, Chance, Micro};
use futures::TryStreamExt;
use serde_json::{Map, Value, json};
use service::Board;
use store::{Blobs, Copied, Harmed, LedgerTotals, ObjectKind, Store, TableCount};
use workers::{CopiedJobs, Opening, Queues};

use crate::contents::{self, CopiedContents, IfThere};
use crate::data_lock::{DataLock, Tenant};
use crate::output::Form;
use crate::parts;
use crate::progress::{Progress, count, size};
use crate::scrub;

const LOST_SHOWN_MAX: usize = 20;
const LINKS_KEPT: &str = "Private links keep working: both sides sign with the same secret.";
/// The advice after an interrupted copy.
const START_OVER: &str = "drop the target's database and its queue, run `handbill migrate` with its settings and start over \
    (contents that are already copied are kept)";

pub(crate) async fn execute(from: &Path, to: &Path, form: Form) -> anyhow::Result<ExitCode> {
    let from = Side::open("the source", from).await?;
    let to = Side::open("the target", to).await?;
    from.ensure_separate(&to)?;
    from.ensure_stopped().await?;
    to.ensure_stopped().await?;
    // From here on no process can start on the files of either.
    let _locks =
        [DataLock::take(&from.settings, Tenant::Alone)?, DataLock::take(&to.settings, Tenant::Alone)?];
    to.ensure_empty().await?;
    let moved = copy_all(&from, &to, form)
        .await
        .with_context(|| format!("{} is incomplete: {START_OVER}", to.name))?;
    for side in [&from, &to] {
        side.ensure_stopped()
            .await
            .with_context(|| format!("it was started during the copy: {START_OVER}"))?;
    }
    let code = report(form, &from, &to, &moved).await?;
    from.store.close().await?;
    to.store.close().await?;
    Ok(code)
}

/// An installation, by its settings.
struct Side {
    /// How messages refer to it.
    name: String,
    settings: Settings,
    store: Store,
    queues: Queues,
    blobs: Blobs,
}

struct Moved {
    /// The rows of each table.
    tables: Map<String, Value>,
    jobs: CopiedJobs,
    contents: CopiedContents,
    uploads: u64,
}

impl Side {
    async fn open(which: &str, settings: &Path) -> anyhow::Result<Self> {
        let name = format!("{which} ({})", settings.display());
        let settings = config::load_apart(settings).map_err(|faults| anyhow!("{name}:\n{faults}"))?;
        // Opening would create a missing database, and an empty source would be copied.
        for url in [&settings.database.url, &settings.queue.url] {
            if let Some(file) = store::sqlite_file(url.reveal())? {
                ensure!(
                    file.is_file(),
                    "{name} has no database at {}: for a target, run `handbill migrate` with its settings first",
                    file.display()
                );
            }
        }
        let store = parts::open_store(&settings).await.with_context(|| name.clone())?;
        let queues = open_queues(&settings).await.with_context(|| name.clone())?;
        ensure!(
            store.is_current().await? && queues.is_current().await?,
            "the schema of {name} is out of date: run `handbill migrate` with its settings first"
        );
        let blobs = parts::open_blobs(&settings).with_context(|| name.clone())?;
        Ok(Self { name, settings, store, queues, blobs })
    }

    fn ensure_separate(&self, to: &Side) -> anyhow::Result<()> {
        let (ours, theirs) = (&self.settings, &to.settings);
        ensure!(ours.database.url != theirs.database.url, "the source and the target have the same database");
        ensure!(ours.queue.url != theirs.queue.url, "the source and the target have the same queue");
        let is_same = match (&ours.storage, &theirs.storage) {
            (Storage::Folder(one), Storage::Folder(other)) => one == other,
            (Storage::Bucket(one), Storage::Bucket(other)) => {
                (&one.name, &one.prefix, &one.endpoint) == (&other.name, &other.prefix, &other.endpoint)
            }
            _ => false,
        };
        ensure!(!is_same, "the source and the target have the same storage");
        Ok(())
    }

    /// Data that is written during the copy would be missing in the target.
    async fn ensure_stopped(&self) -> anyhow::Result<()> {
        let board = self.queues.figures().await?;
        let Some(running) = board.processes.iter().find(|process| !process.is_lost) else { return Ok(()) };
        bail!(
            "{} is running: `handbill {}` on {} (process {}) sent a heartbeat just now; stop all of its processes first",
            self.name,
            running.role,
            running.host,
            running.process_id
        )
    }

    /// The data may be in use, so the advice says when dropping it is safe.
    async fn ensure_empty(&self) -> anyhow::Result<()> {
        let context = || {
            format!(
                "{} is not empty: choose another target. If its data is only the rest of an interrupted migrate-data, {START_OVER}",
                self.name
            )
        };
        self.store.tables().require_empty().await.with_context(context)?;
        self.queues.demand_no_jobs().await.with_context(context)
    }
}

async fn open_queues(settings: &Settings) -> anyhow::Result<Queues> {
    Queues::open(Opening {
        url: settings.queue.url.reveal(),
        connections_max: settings.queue.connections_max,
        instance: "migrate-data",
        clock: parts::clock(),
        chance: Chance::from_system(),
        on_pushed: Arc::new(|_| {}),
    })
    .await
}

/// Contents come before the rows that refer to them. Jobs come last, because from then on there is work to
/// do.
async fn copy_all(from: &Side, to: &Side, form: Form) -> anyhow::Result<Moved> {
    let contents = contents::copy(&from.store, &from.blobs, &to.blobs, IfThere::Keep).await?;
    let uploads = copy_uploads(from, to).await?;
    let mut tables = Map::new();
    from.store
        .tables()
        .copy_to(&to.store, |TableCount { table, rows }| {
            if rows > 0 {
                form.say(|| format!("{table:<22}{rows:>12}"));
            }
            tables.insert(table.to_owned(), json!(rows));
        })
        .await?;
    // Lost contents that nothing refers to are not missed, but no publish must rely on them.
    to.store.blob_index().forget_unreferenced().await?;
    let jobs = from.queues.copy_unfinished(&to.queues).await?;
    Ok(Moved { tables, jobs, contents, uploads })
}

/// The spool and the staged uploads.
async fn copy_uploads(from: &Side, to: &Side) -> anyhow::Result<u64> {
    let (mut objects, mut copied, mut progress) = (from.blobs.listed(), 0, Progress::begin());
    while let Some(object) = objects.try_next().await? {
        let there = match object.kind {
            ObjectKind::Spool(version) => from.blobs.copy_spooled(version, &to.blobs).await?,
            ObjectKind::Upload(ticket) => from.blobs.copy_upload(ticket, &to.blobs).await?,
            ObjectKind::Deploy(deploy, part) => from.blobs.copy_deploy_part(deploy, part, &to.blobs).await?,
            ObjectKind::Blob(_) | ObjectKind::Bundle(_) | ObjectKind::Unknown => continue,
        };
        ensure!(
            matches!(there, Copied::Whole { .. }),
            "{} cannot be read, or was deleted during the copy",
            object.name
        );
        copied += 1;
        progress.print(|| count(copied, "upload", "uploads"));
    }
    Ok(copied)
}

/// A content that is lost and that a version contains.
struct Lost {
    hash: BlobHash,
    harmed: Vec<Harmed>,
}

async fn report(form: Form, from: &Side, to: &Side, moved: &Moved) -> anyhow::Result<ExitCode> {
    let ledger = compare(from, to).await?;
    let lost = lost_in(to, &moved.contents).await?;
    let keeps_links = have_one_secret(from, to)?;
    let lines = || {
        let advice = if keeps_links { LINKS_KEPT.to_owned() } else { secret_advice(from) };
        let next = "Next: start the target's processes with its settings, and run `handbill scrub` to verify the copy.";
        let matches = format!("The target matches the source: {}", sums(&ledger));
        let lines = [copied_text(moved), matches, advice, next.to_owned()];
        lines.into_iter().chain(lost_texts(&lost)).collect::<Vec<_>>().join("\n")
    };
    form.print(lines, || moved_json(moved, &ledger, keeps_links, &lost));
    Ok(if lost.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn copied_text(Moved { jobs, contents, uploads, .. }: &Moved) -> String {
    format!(
        "{} ({}), {}; jobs: {} waiting, {} failed, {} dead",
        count(contents.contents, "content", "contents"),
        size(contents.bytes),
        count(*uploads, "upload", "uploads"),
        jobs.waiting,
        jobs.failed,
        jobs.dead,
    )
}

fn moved_json(moved: &Moved, ledger: &LedgerTotals, keeps_links: bool, lost: &[Lost]) -> Value {
    let Moved { tables, jobs, contents, uploads } = moved;
    let each =
        |lost: &Lost| json!({ "content": lost.hash.to_string(), "affects": scrub::harm_json(&lost.harmed) });
    json!({
        "tables": tables,
        "contents": contents.contents,
        "size_bytes": contents.bytes,
        "uploads": uploads,
        "jobs": { "waiting": jobs.waiting, "failed": jobs.failed, "dead": jobs.dead },
        "balances_usd": Micro::new(ledger.balance_micro).usd(),
        "entries_usd": Micro::new(ledger.moved_micro).usd(),
        "private_links_keep_working": keeps_links,
        "lost": lost.iter().map(each).collect::<Vec<_>>(),
    })
}

/// Compares the rows of every table and the sums of the ledger.
async fn compare(from: &Side, to: &Side) -> anyhow::Result<LedgerTotals> {
    let (ours, theirs) = (from.store.tables().count_rows().await?, to.store.tables().count_rows().await?);
    for (one, other) in ours.iter().zip(&theirs) {
        // Unreferenced contents are not copied.
        let may_shrink = ["blobs", "bundles"].contains(&one.table);
        let is_same = one.rows == other.rows || (may_shrink && one.rows > other.rows);
        ensure!(
            is_same,
            "the table {} has {} rows in the source and {} in the target",
            one.table,
            one.rows,
            other.rows
        );
    }
    let (ours, theirs) = (from.store.ledger().totals().await?, to.store.ledger().totals().await?);
    ensure!(
        ours == theirs,
        "the ledgers differ: {} in the source, {} in the target",
        sums(&ours),
        sums(&theirs)
    );
    Ok(theirs)
}

fn sums(totals: &LedgerTotals) -> String {
    let dollars = Micro::new;
    format!(
        "{}, {}, balances of ${} in total, which the entries add up to {}",
        count(totals.accounts, "account", "accounts"),
        count(totals.entries, "ledger entry", "ledger entries"),
        dollars(totals.balance_micro),
        if totals.balance_micro == totals.moved_micro {
            "exactly".to_owned()
        } else {
            format!("differently, to ${}: run `handbill ledger check`", dollars(totals.moved_micro))
        },
    )
}

/// Private links are signed: with another secret they stop working.
fn have_one_secret(from: &Side, to: &Side) -> anyhow::Result<bool> {
    let (ours, theirs) = (known_secret(&from.settings)?, known_secret(&to.settings)?);
    Ok(ours.is_some() && ours == theirs)
}

fn secret_advice(from: &Side) -> String {
    let file = from.settings.secret_file();
    let ours = if file.is_file() {
        format!("the secret in {}", file.display())
    } else {
        "the source's secret".to_owned()
    };
    format!(
        "The signing secret is not copied. Set the target's HANDBILL_SECRETS__SIGNING to {ours}, or all existing private \
         links stop working."
    )
}

/// The secret of private links, as far as these settings contain it. Nothing is created.
fn known_secret(settings: &Settings) -> anyhow::Result<Option<Secret>> {
    let secrets = &settings.secrets;
    if secrets.links.is_none() && secrets.signing.is_none() && !settings.secret_file().is_file() {
        return Ok(None);
    }
    settings.link_secret(&Chance::from_system()).map(Some)
}

async fn lost_in(to: &Side, contents: &CopiedContents) -> anyhow::Result<Vec<Lost>> {
    let mut lost = Vec::new();
    for hash in &contents.lost {
        let harmed = to.store.integrity().list_harmed_by(*hash).await?;
        if !harmed.is_empty() {
            lost.push(Lost { hash: *hash, harmed });
        }
    }
    Ok(lost)
}

fn lost_texts(lost: &[Lost]) -> Vec<String> {
    let mut lines = Vec::new();
    for Lost { hash, harmed } in lost.iter().take(LOST_SHOWN_MAX) {
        let affected = scrub::harm_text(harmed);
        lines.push(format!(
            "DAMAGE content {hash}: missing or damaged in the source\n       affects {affected}"
        ));
    }
    if !lost.is_empty() {
        lines.push(format!(
            "{} were missing or damaged in the source. Restore them there from a backup, then copy these objects by name.",
            count(lost.len() as u64, "content", "contents")
        ));
    }
    lines
}
