//! A backup of an embedded installation while it runs.
//!
//! The order of the steps makes it consistent. The queue comes first: a job that completes afterwards is in
//! the backup as a job and as its outcome, and a second delivery does no harm. In the opposite order the job
//! would be lost. Next come the uploads that those jobs need. One that is gone by then was settled before, so
//! its outcome is in the database, which is copied next. One that cannot be read is reported and left out;
//! its sender got no version yet and will retry. Last come the contents that the copied database refers to.
//! If one of them was swept meanwhile, nothing refers to it any more, and another round of copies does not
//! need it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use bus::Bus;
use config::{DatabaseUrl, Settings, Storage};
use domain::{BlobHash, BundleId, VersionId};
use futures::TryStreamExt;
use serde_json::json;
use store::{Blobs, Copied, ObjectKind, Store, StoredObject};
use workers::Queues;

use crate::backup_manifest::{BackupManifest, KeptContents, Layout, copy_private, is_empty};
use crate::contents::{self, CopiedContents, IfThere};
use crate::output::Form;
use crate::parts;
use crate::progress::count;

/// A round is repeated if a sweep deleted contents during it.
const ROUNDS_MAX: usize = 5;

/// How many uploads the output lists. The manifest lists all of them.
const UPLOADS_NAMED_MAX: usize = 20;

const ON_POSTGRES: &str = "this database is PostgreSQL, which has its own tools: run `pg_dump` first, then back up the \
    bucket (versioning or replication). See docs/operations/backup.md";

pub(crate) async fn take(folder: &Path, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    let database = embedded_file(&settings.database.url)?;
    embedded_file(&settings.queue.url)?;
    ensure!(
        database.is_file(),
        "there is no database at {}, so there is nothing to back up",
        database.display()
    );
    ensure_outside_data(folder, settings)?;
    create_folder(folder)?;
    let backup = Backup::open(folder, settings).await?;
    let taken = backup.take(settings).await;
    backup.live.close().await?;
    let manifest = taken.with_context(|| {
        format!("the backup in {} is incomplete: remove it and try again", folder.display())
    })?;
    Ok(report(form, folder, settings, &manifest))
}

/// The file of an embedded database. PostgreSQL is refused with instructions.
pub(crate) fn embedded_file(url: &DatabaseUrl) -> anyhow::Result<PathBuf> {
    match store::sqlite_file(url.reveal())? {
        Some(file) => Ok(file),
        None => bail!(ON_POSTGRES),
    }
}

/// A backup inside the data would grow with each backup and be lost with the data.
fn ensure_outside_data(folder: &Path, settings: &Settings) -> anyhow::Result<()> {
    let target = resolved(folder)?;
    let mut saved = vec![&settings.data_dir];
    if let Storage::Folder(contents) = &settings.storage {
        saved.push(contents);
    }
    for ours in saved {
        ensure!(
            !target.starts_with(resolved(ours)?),
            "{} is inside {}, which is being backed up: choose a directory elsewhere, preferably on another disk",
            folder.display(),
            ours.display()
        );
    }
    Ok(())
}

/// Resolves the links of the part of a path that exists.
fn resolved(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("resolve {}", path.display()))?;
    let there = path.ancestors().find_map(|part| Some((part, part.canonicalize().ok()?)));
    Ok(there.and_then(|(part, real)| Some(real.join(path.strip_prefix(part).ok()?))).unwrap_or(path))
}

fn create_folder(folder: &Path) -> anyhow::Result<()> {
    ensure!(
        is_empty(folder)?,
        "{} is not empty: choose an empty or new directory, so that backups are not mixed",
        folder.display()
    );
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.and_then(|()| fs::set_permissions(folder, Permissions::from_mode(0o700)))
        .with_context(|| format!("create the directory {}", folder.display()))
}

struct Backup<'a> {
    folder: &'a Path,
    layout: Layout,
    live: Store,
    queues: Queues,
    blobs: Blobs,
    kept: Blobs,
}

/// The copies of one round.
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
            "the database schema is out of date: run `handbill migrate` first"
        );
        let taken_at = parts::clock().now();
        let round = self.copy_until_stable().await?;
        self.drop_leftovers(&round).await?;
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
        // The database must be closed, because only then its file is complete.
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

    /// Copies until no sweep interfered: then every content that the copied database refers to is copied or
    /// was already lost.
    async fn copy_until_stable(&self) -> anyhow::Result<Round> {
        let mut lost_before = BTreeSet::new();
        for _ in 0..ROUNDS_MAX {
            let round = self.round().await?;
            // A content that the next copy of the database still refers to was not swept: it is lost.
            if round.contents.lost.is_subset(&lost_before) {
                return Ok(round);
            }
            lost_before = round.contents.lost.clone();
            round.snapshot.close().await?;
        }
        bail!(
            "contents were deleted during each of {ROUNDS_MAX} rounds; try again when fewer deletions happen"
        )
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
        fs::set_permissions(&file, Permissions::from_mode(0o600))
            .context("restrict the permissions of the snapshot")?;
        let snapshot = parts::open_queue_file(&file).await?;
        snapshot.forget_processes().await?;
        Ok(snapshot)
    }

    async fn snapshot_of_database(&self) -> anyhow::Result<Store> {
        let file = self.layout.database();
        remove_if_there(&file)?;
        self.live.snapshot_into(&file).await?;
        fs::set_permissions(&file, Permissions::from_mode(0o600))
            .context("restrict the permissions of the snapshot")?;
        let snapshot = Store::open(DatabaseUrl::sqlite(&file).reveal()).await?;
        // They may be swept at any time, and a publish must not rely on contents that the backup lacks.
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

    /// Removes copies of earlier rounds that the last one does not refer to.
    async fn drop_leftovers(&self, round: &Round) -> anyhow::Result<()> {
        const PAGE: usize = 500;
        let mut pages = self.kept.listed().try_chunks(PAGE);
        while let Some(page) = pages.try_next().await.map_err(|error| error.1)? {
            let hashes: Vec<BlobHash> = page.iter().filter_map(StoredObject::hash).collect();
            for hash in round.snapshot.blob_index().find_unknown(&hashes).await? {
                self.kept.delete_blob(hash).await?;
            }
            let bundles: Vec<BundleId> = page.iter().filter_map(StoredObject::bundle).collect();
            for id in round.snapshot.blob_index().find_unknown_bundles(&bundles).await? {
                self.kept.delete_bundle(id).await?;
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

    /// Copies a generated secret from the data directory. A configured secret is the operator's to keep.
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

fn report(form: Form, folder: &Path, settings: &Settings, manifest: &BackupManifest) -> ExitCode {
    let json = || {
        let mut json = manifest.summary();
        json["folder"] = json!(folder.display().to_string());
        json["has_signing_secret"] = json!(settings.secrets.signing.is_none());
        json
    };
    form.print(|| text(folder, settings, manifest), json);
    let is_whole = manifest.lost.is_empty() && manifest.unread_uploads.is_empty();
    if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn text(folder: &Path, settings: &Settings, manifest: &BackupManifest) -> String {
    let secret = if settings.secrets.signing.is_none() {
        "It includes the signing secret from the data directory."
    } else {
        "It does not include the signing secret from your settings. Keep that too: without it, private links stop working."
    };
    let lines = [
        format!("Backed up to {}: {}", folder.display(), manifest.counts_text()),
        "The backup contains credentials. Keep it on another machine, where only you can read it.".to_owned(),
        secret.to_owned(),
    ];
    lines.into_iter().chain(damage_texts(manifest)).collect::<Vec<_>>().join("\n")
}

/// What could not be saved. The rest is saved, and the backup can be restored.
fn damage_texts(manifest: &BackupManifest) -> Vec<String> {
    let mut lines = Vec::new();
    if !manifest.lost.is_empty() {
        lines.push(format!(
            "DAMAGE: {} were already missing or damaged and are not in the backup. `handbill scrub` lists the affected pages.",
            count(manifest.lost.len() as u64, "content", "contents")
        ));
    }
    if !manifest.unread_uploads.is_empty() {
        let uploads = manifest.unread_uploads.iter().take(UPLOADS_NAMED_MAX);
        let uploads = uploads.map(|version| format!("spool/{version}"));
        lines.push(format!(
            "DAMAGE: {} of waiting publishes could not be read and are not in the backup: {}. These publishes were not \
             confirmed to their senders. `handbill admin jobs publish` shows their state.",
            count(manifest.unread_uploads.len() as u64, "upload", "uploads"),
            uploads.collect::<Vec<_>>().join(", ")
        ));
    }
    lines
}
