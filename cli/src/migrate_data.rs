//! `handbill migrate-data`: everything of one installation into another that is empty, such as from one machine's folder
//! to PostgreSQL and a bucket. Nobody may work with either while it goes on; and the source is only read.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail, ensure};
use config::{Secret, Settings, Storage};
use domain::Chance;
use futures::TryStreamExt;
use service::Board;
use store::{Blobs, Copied, LedgerTotals, ObjectKind, Store, TableCount};
use workers::{CopiedJobs, Opening, Queues};

use crate::contents::{self, CopiedContents, IfThere};
use crate::data_lock::{DataLock, Tenant};
use crate::progress::{Progress, count, size};
use crate::{parts, say};

const LOST_SHOWN_MAX: usize = 20;
/// What helps when a target has a part.
const ANEW: &str = "drop the target's database and its queue, run `handbill migrate` with its settings and begin anew \
    (contents that were copied already are kept)";

pub(crate) async fn execute(from: &Path, to: &Path) -> anyhow::Result<ExitCode> {
    let from = Side::open("the source", from).await?;
    let to = Side::open("the target", to).await?;
    from.demand_its_own_place(&to)?;
    from.demand_at_rest().await?;
    to.demand_at_rest().await?;
    // From here on no process can start on the files of either.
    let _locks =
        [DataLock::take(&from.settings, Tenant::Alone)?, DataLock::take(&to.settings, Tenant::Alone)?];
    to.demand_empty().await?;
    let moved =
        carry(&from, &to).await.with_context(|| format!("not everything is in {} now: {ANEW}", to.place))?;
    for side in [&from, &to] {
        side.demand_at_rest()
            .await
            .with_context(|| format!("it began while everything was copied: {ANEW}"))?;
    }
    let code = report(&from, &to, &moved).await?;
    from.store.close().await?;
    to.store.close().await?;
    Ok(code)
}

/// An installation, by its settings.
struct Side {
    /// How the messages call it.
    place: String,
    settings: Settings,
    store: Store,
    queues: Queues,
    blobs: Blobs,
}

struct Moved {
    jobs: CopiedJobs,
    contents: CopiedContents,
    uploads: u64,
}

impl Side {
    async fn open(which: &str, settings: &Path) -> anyhow::Result<Self> {
        let place = format!("{which} ({})", settings.display());
        let settings = config::load_apart(settings).map_err(|faults| anyhow!("{place}:\n{faults}"))?;
        // A database that is not there would be made, and an empty source be copied.
        for url in [&settings.database.url, &settings.queue.url] {
            if let Some(file) = store::sqlite_file(url.reveal())? {
                ensure!(
                    file.is_file(),
                    "{place} has no database at {}: for a target run `handbill migrate` with its settings first",
                    file.display()
                );
            }
        }
        let store = parts::open_store(&settings).await.with_context(|| place.clone())?;
        let queues = open_queues(&settings).await.with_context(|| place.clone())?;
        ensure!(
            store.is_current().await? && queues.is_current().await?,
            "{place} does not have the newest schema: run `handbill migrate` with its settings first"
        );
        let blobs = parts::open_blobs(&settings).with_context(|| place.clone())?;
        Ok(Self { place, settings, store, queues, blobs })
    }

    fn demand_its_own_place(&self, to: &Side) -> anyhow::Result<()> {
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

    /// What is written while it is copied would be in one place and not in the other.
    async fn demand_at_rest(&self) -> anyhow::Result<()> {
        let shown = self.queues.shown().await?;
        let Some(alive) = shown.processes.iter().find(|process| !process.is_lost) else { return Ok(()) };
        bail!(
            "{} is running: `handbill {}` on {} (process {}) was heard of just now; stop every process of it first",
            self.place,
            alive.role,
            alive.host,
            alive.process_id
        )
    }

    /// It may be somebody's, so nobody is told to drop it without having looked.
    async fn demand_empty(&self) -> anyhow::Result<()> {
        let told = || {
            format!(
                "{} is not empty: name another one; or, if that is only what a migrate-data that was cut off has left, {ANEW}",
                self.place
            )
        };
        self.store.tables().require_empty().await.with_context(told)?;
        self.queues.demand_no_jobs().await.with_context(told)
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

/// Contents come before the rows that count on them; jobs last, because from then on there is something to do.
async fn carry(from: &Side, to: &Side) -> anyhow::Result<Moved> {
    let contents = contents::copy(&from.store, &from.blobs, &to.blobs, IfThere::Keep).await?;
    let uploads = copy_uploads(from, to).await?;
    from.store
        .tables()
        .copy_to(&to.store, |TableCount { table, rows }| {
            if rows > 0 {
                say(&format!("{table:<22}{rows:>12}"));
            }
        })
        .await?;
    // What was lost of them nobody misses, and nobody must count on it.
    to.store.blob_index().forget_unreferenced().await?;
    let jobs = from.queues.copy_unfinished(&to.queues).await?;
    Ok(Moved { jobs, contents, uploads })
}

/// What lies in the spool and what agents have put at addresses.
async fn copy_uploads(from: &Side, to: &Side) -> anyhow::Result<u64> {
    let (mut objects, mut copied, mut progress) = (from.blobs.listed(), 0, Progress::begin());
    while let Some(object) = objects.try_next().await? {
        let there = match object.kind {
            ObjectKind::Spool(version) => from.blobs.copy_spooled(version, &to.blobs).await?,
            ObjectKind::Upload(ticket) => from.blobs.copy_upload(ticket, &to.blobs).await?,
            ObjectKind::Blob(_) | ObjectKind::Unknown => continue,
        };
        ensure!(
            matches!(there, Copied::Whole { .. }),
            "{} cannot be read, or went away while it was copied",
            object.name
        );
        copied += 1;
        progress.tell(|| count(copied, "upload", "uploads"));
    }
    Ok(copied)
}

async fn report(from: &Side, to: &Side, moved: &Moved) -> anyhow::Result<ExitCode> {
    let Moved { jobs, contents, uploads } = moved;
    say(&format!(
        "{} ({}), {}; jobs: {} waiting, {} failed, {} dead",
        count(contents.contents, "content", "contents"),
        size(contents.bytes),
        count(*uploads, "upload", "uploads"),
        jobs.waiting,
        jobs.failed,
        jobs.dead,
    ));
    compare(from, to).await?;
    say(&secrets_told(from, to)?);
    say("next: start the target's processes with its settings, and look once more with `handbill scrub`");
    tell_lost(to, contents).await
}

/// The rows of every table, and the sums of the ledger.
async fn compare(from: &Side, to: &Side) -> anyhow::Result<()> {
    let (ours, theirs) = (from.store.tables().count_rows().await?, to.store.tables().count_rows().await?);
    for (one, other) in ours.iter().zip(&theirs) {
        // Contents that nothing refers to stay behind.
        let is_same = one.rows == other.rows || (one.table == "blobs" && one.rows > other.rows);
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
    say(&format!("the target has what the source has: {}", sums(&theirs)));
    Ok(())
}

fn sums(totals: &LedgerTotals) -> String {
    let dollars = |micro: i64| domain::Micro::new(micro);
    format!(
        "{}, {}, balances of ${} in all, which the entries come to {}",
        count(totals.accounts, "account", "accounts"),
        count(totals.entries, "entry of the ledgers", "entries of the ledgers"),
        dollars(totals.balance_micro),
        if totals.balance_micro == totals.moved_micro {
            "exactly".to_owned()
        } else {
            format!("as ${}: run `handbill ledger check`", dollars(totals.moved_micro))
        },
    )
}

/// Private links are signed: with another secret they end.
fn secrets_told(from: &Side, to: &Side) -> anyhow::Result<String> {
    let (ours, theirs) = (known_secret(&from.settings)?, known_secret(&to.settings)?);
    if ours.is_some() && ours == theirs {
        return Ok("private links go on: both sides sign with the same secret".to_owned());
    }
    let file = from.settings.secret_file();
    let ours = if file.is_file() {
        format!("the one in {}", file.display())
    } else {
        "that of the source".to_owned()
    };
    Ok(format!(
        "the signing secret is not copied: set the target's HANDBILL_SECRETS__SIGNING to {ours}, or every private link \
         that was handed out ends"
    ))
}

/// What private links are signed with, as far as these settings tell; nothing is made.
fn known_secret(settings: &Settings) -> anyhow::Result<Option<Secret>> {
    let secrets = &settings.secrets;
    if secrets.links.is_none() && secrets.signing.is_none() && !settings.secret_file().is_file() {
        return Ok(None);
    }
    settings.link_secret(&Chance::from_system()).map(Some)
}

async fn tell_lost(to: &Side, contents: &CopiedContents) -> anyhow::Result<ExitCode> {
    let mut harm = Vec::new();
    for hash in &contents.lost {
        if !to.store.integrity().list_harmed_by(*hash).await?.is_empty() {
            harm.push(*hash);
        }
    }
    if harm.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    for hash in harm.iter().take(LOST_SHOWN_MAX) {
        let told = contents::harm_of(&to.store, *hash).await?;
        say(&format!("DAMAGE content {hash}: the source has lost it\n       harms {told}"));
    }
    say(&format!(
        "{} were missing or damaged in the source; put them back there from a backup and copy them by name",
        count(harm.len() as u64, "content", "contents")
    ));
    Ok(ExitCode::FAILURE)
}
