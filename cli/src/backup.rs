//! A backup of an embedded installation, taken while it runs.
//!
//! What makes it consistent is the order. The queue first: a job that is done after that is there twice, as a job and as
//! its outcome, and a job that is delivered again does no harm; the other way round it would be lost. Then the uploads
//! that those jobs need: one that is gone by then was settled before, and its outcome is in the database that is copied
//! next. One that cannot be read is named and left out: whoever sent it was told of no version yet, and asks again. At last
//! the contents that the copied database refers to. If one of them was swept meanwhile, nothing refers to it any more, and
//! a fresh round of copies does not ask for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use bus::Bus;
use config::{DatabaseUrl, Settings, Storage};
use domain::{BlobHash, VersionId};
use futures::TryStreamExt;
use store::{Blobs, Copied, ObjectKind, Store, StoredObject};
use workers::Queues;

use crate::backup_manifest::{BackupManifest, KeptContents, Layout, copy_private, is_empty};
use crate::contents::{self, CopiedContents, IfThere};
use crate::progress::{count, size};
use crate::{parts, say};

/// Each round but the last has met a sweep that took away what the round had just seen.
const ROUNDS_MAX: usize = 5;

/// The manifest names all of them.
const UPLOADS_NAMED_MAX: usize = 20;

const ON_POSTGRES: &str = "this database is PostgreSQL, which has tools of its own: take `pg_dump` first, then save the \
    bucket (versioning or replication); see \"Day two\" in docs/OPERATIONS.md";

pub(crate) async fn take(folder: &Path, settings: &Settings) -> anyhow::Result<ExitCode> {
    let database = embedded_file(&settings.database.url)?;
    embedded_file(&settings.queue.url)?;
    ensure!(database.is_file(), "there is no database at {}: nothing to save", database.display());
    demand_a_place_of_its_own(folder, settings)?;
    make_folder(folder)?;
    let backup = Backup::open(folder, settings).await?;
    let taken = backup.take(settings).await;
    backup.live.close().await?;
    let manifest = taken.with_context(|| {
        format!("what was written to {} so far is no backup: remove it, and try again", folder.display())
    })?;
    Ok(report(folder, settings, &manifest))
}

/// The file of an embedded database; a PostgreSQL one is refused with what to do instead.
pub(crate) fn embedded_file(url: &DatabaseUrl) -> anyhow::Result<PathBuf> {
    match store::sqlite_file(url.reveal())? {
        Some(file) => Ok(file),
        None => bail!(ON_POSTGRES),
    }
}

/// What is saved into itself grows with each backup, and is gone with what it should bring back.
fn demand_a_place_of_its_own(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let place = resolved(folder)?;
    let mut saved = vec![&settings.data_dir];
    if let Storage::Folder(contents) = &settings.storage {
        saved.push(contents);
    }
    for ours in saved {
        ensure!(
            !place.starts_with(resolved(ours)?),
            "{} lies in {}, which is what is saved: name a folder elsewhere, best on another disk",
            folder.display(),
            ours.display()
        );
    }
    Ok(())
}

/// Where a path leads, through the links of as much of it as is there.
fn resolved(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("look for {}", path.display()))?;
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    Ok(there.and_then(|(part, real)| Some(real.join(path.strip_prefix(part).ok()?))).unwrap_or(path))
}

fn make_folder(folder: &Path) -> anyhow::Result<()> {
    ensure!(
        is_empty(folder)?,
        "{} is there already and not empty: name a folder that is not, so that no backup is mixed with another",
        folder.display()
    );
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(0o700)))
        .with_context(|| format!("make the folder {}", folder.display()))
}

struct Backup<'a> {
    folder: &'a Path,
    layout: Layout,
    live: Store,
    queues: Queues,
    blobs: Blobs,
    kept: Blobs,
}

/// What one round has copied.
struct Round {
    snapshot: Store,
    spool: CopiedSpool,
    contents: CopiedContents,
}

/// The uploads that waiting jobs need.
#[derive(Default)]
struct CopiedSpool {
    copied: BTreeSet<VersionId>,
    unread: BTreeSet<VersionId>,
}

impl<'a> Backup<'a> {
    async fn open(folder: &'a Path, settings: &Settings) -> anyhow::Result<Self> {
        let layout = Layout::of(folder);
        Ok(Self {
            folder,
            live: parts::open_store(settings).await?,
            queues: parts::open_queues(settings, &Bus::local("backup"), parts::clock()).await?,
            blobs: parts::open_blobs(settings)?,
            kept: Blobs::local(&layout.objects())?,
            layout,
        })
    }

    async fn take(&self, settings: &Settings) -> anyhow::Result<BackupManifest> {
        ensure!(
            self.live.is_current().await? && self.queues.is_current().await?,
            "the database does not have the newest schema: run `handbill migrate` first"
        );
        let taken_at = parts::clock().now();
        let round = self.until_nothing_is_swept().await?;
        self.drop_what_is_of_earlier_rounds(&round).await?;
        let mut manifest = BackupManifest {
            handbill: env!("CARGO_PKG_VERSION").to_owned(),
            schema: round.snapshot.schema().await?,
            taken_at: taken_at.rfc3339(),
            files: BTreeMap::new(),
            rows: round
                .snapshot
                .tables()
                .count_rows()
                .await?
                .into_iter()
                .map(|count| (count.table.to_owned(), count.rows))
                .collect(),
            contents: KeptContents { count: round.contents.contents, size_bytes: round.contents.bytes },
            lost: round.contents.lost.into_iter().collect(),
            unread_uploads: round.spool.unread.into_iter().collect(),
        };
        // A database must be closed before its file is all there is of it.
        round.snapshot.close().await?;
        self.keep_secret(settings)?;
        for path in [self.layout.database(), self.layout.queue(), self.layout.secret()] {
            if path.exists() {
                manifest.add_file(self.folder, &path)?;
            }
        }
        for version in round.spool.copied {
            manifest.add_file(self.folder, &self.layout.objects().join(format!("spool/{version}")))?;
        }
        manifest.write(self.folder)?;
        Ok(manifest)
    }

    /// Copies until a round has met no sweep: all that the copied database refers to is copied, or was lost before.
    async fn until_nothing_is_swept(&self) -> anyhow::Result<Round> {
        let mut missed_before = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let round = self.round().await?;
            // What the next copy of the database still refers to was not swept: it is lost.
            if round.contents.lost.is_subset(&missed_before) {
                return Ok(round);
            }
            missed_before = round.contents.lost.clone();
            round.snapshot.close().await?;
        }
        bail!("contents were swept in each of {ROUNDS_MAX} rounds; try again when less is deleted")
    }

    async fn round(&self) -> anyhow::Result<Round> {
        let queue = self.snapshot_of_queue().await?;
        let spool = self.copy_spool(&queue).await?;
        queue.close().await;
        let snapshot = self.snapshot_of_database().await?;
        faults::pass("backup.before_contents")?;
        let contents = contents::copy(&snapshot, &self.blobs, &self.kept, IfThere::Keep).await?;
        Ok(Round { snapshot, spool, contents })
    }

    async fn snapshot_of_queue(&self) -> anyhow::Result<Queues> {
        let file = self.layout.queue();
        remove_if_there(&file)?;
        self.queues.snapshot_into(&file).await?;
        fs::set_permissions(&file, Permissions::from_mode(0o600)).context("close the snapshot to others")?;
        let snapshot = parts::open_queue_file(&file).await?;
        snapshot.forget_processes().await?;
        Ok(snapshot)
    }

    async fn snapshot_of_database(&self) -> anyhow::Result<Store> {
        let file = self.layout.database();
        remove_if_there(&file)?;
        self.live.snapshot_into(&file).await?;
        fs::set_permissions(&file, Permissions::from_mode(0o600)).context("close the snapshot to others")?;
        let snapshot = Store::open(DatabaseUrl::sqlite(&file).reveal()).await?;
        // They may be swept at any moment, and a publish must not count on what the backup does not have.
        snapshot.blob_index().forget_unreferenced().await?;
        Ok(snapshot)
    }

    async fn copy_spool(&self, queue: &Queues) -> anyhow::Result<CopiedSpool> {
        let (mut spool, mut after) = (CopiedSpool::default(), None);
        loop {
            let page = queue.spooled(after.as_deref()).await?;
            for version in page.versions {
                match self.blobs.copy_spooled(version, &self.kept).await? {
                    Copied::Whole { .. } => drop(spool.copied.insert(version)),
                    Copied::Damaged => drop(spool.unread.insert(version)),
                    Copied::Missing => {}
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(spool);
            }
        }
    }

    /// Removes what an earlier round has copied and the last one does not refer to.
    async fn drop_what_is_of_earlier_rounds(&self, round: &Round) -> anyhow::Result<()> {
        const PAGE: usize = 500;
        let mut pages = self.kept.listed().try_chunks(PAGE);
        while let Some(page) = pages.try_next().await.map_err(|error| error.1)? {
            let hashes: Vec<BlobHash> = page.iter().filter_map(StoredObject::hash).collect();
            for hash in round.snapshot.blob_index().find_unknown(&hashes).await? {
                self.kept.delete_blob(hash).await?;
            }
            for object in &page {
                if let ObjectKind::Spool(version) = object.kind
                    && !round.spool.copied.contains(&version)
                {
                    self.kept.delete_spooled(version).await?;
                }
            }
        }
        Ok(())
    }

    /// A secret that is set is the operator's to keep; one that was made lies in the data directory.
    fn keep_secret(&self, settings: &Settings) -> anyhow::Result<()> {
        let secret = settings.secret_file();
        if secret.is_file() {
            copy_private(&secret, &self.layout.secret())?;
        }
        Ok(())
    }
}

fn remove_if_there(file: &Path) -> anyhow::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("remove {}", file.display()))
        }
        _ => Ok(()),
    }
}

fn report(folder: &Path, settings: &Settings, manifest: &BackupManifest) -> ExitCode {
    let rows = |table: &str| manifest.rows.get(table).copied().unwrap_or_default();
    say(&format!(
        "saved to {}: {}, {}, {} ({})",
        folder.display(),
        count(rows("accounts"), "account", "accounts"),
        count(rows("versions"), "version", "versions"),
        count(manifest.contents.count, "content", "contents"),
        size(manifest.contents.size_bytes),
    ));
    say("it holds what opens accounts and pages: keep it where only you can read it, on another machine");
    let is_made = settings.secrets.signing.is_none();
    say(if is_made {
        "the signing secret of the data directory is in it"
    } else {
        "the signing secret is set in your settings and not in it: keep that too, or private links end with it"
    });
    tell_damage(manifest)
}

/// What could not be saved. Everything else is, and the backup can be restored.
fn tell_damage(manifest: &BackupManifest) -> ExitCode {
    if !manifest.lost.is_empty() {
        say(&format!(
            "DAMAGE: {} were missing or damaged before, and so are they in the backup; `handbill scrub` names the pages",
            count(manifest.lost.len() as u64, "content", "contents")
        ));
    }
    if !manifest.unread_uploads.is_empty() {
        let told = manifest.unread_uploads.iter().take(UPLOADS_NAMED_MAX);
        let told = told.map(|version| format!("spool/{version}"));
        say(&format!(
            "DAMAGE: {} of publishes that still wait could not be read and are not in the backup: {}. Nobody was told that \
             they are published; `handbill admin jobs publish` shows what becomes of them",
            count(manifest.unread_uploads.len() as u64, "upload", "uploads"),
            told.collect::<Vec<_>>().join(", ")
        ));
    }
    let is_whole = manifest.lost.is_empty() && manifest.unread_uploads.is_empty();
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
