//! Restores a backup. It is verified before anything is written, and the database gets its name last, so an
//! interrupted restore is not mistaken for an installation.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use config::{DatabaseUrl, Settings};
use futures::TryStreamExt;
use serde_json::json;
use store::{Blobs, Copied, ObjectKind, Scrub, ScrubCare, ScrubNews, Store};

use crate::backup::embedded_file;
use crate::backup_manifest::{BackupManifest, Layout, copy_private, is_empty};
use crate::contents::{self, IfThere};
use crate::data_lock::{DataLock, Tenant};
use crate::output::Form;
use crate::parts;
use crate::progress::{Progress, count};

/// The suffix of a database until everything that belongs to it is in place.
const DRAFT: &str = "restoring";
/// The files that SQLite keeps beside an open database.
const COMPANIONS: [&str; 3] = ["", "-wal", "-shm"];

pub(crate) async fn execute(folder: &Path, form: Form, settings: &Settings) -> anyhow::Result<ExitCode> {
    let manifest = BackupManifest::read(folder)?;
    let known = Store::known_schema();
    ensure!(
        manifest.schema <= known,
        "the backup is from a newer release: its schema is {}, but this program only knows {known}; restore it with that release",
        manifest.schema
    );
    let target = Target::of(settings)?;
    manifest.check_files(folder)?;
    parts::make_data_dir(settings)?;
    let alone = DataLock::take(settings, Tenant::Alone)?;
    let restoring = Restoring { layout: Layout::of(folder), manifest: &manifest, target: &target, settings };
    if let Err(error) = restoring.verify().await {
        target.remove_drafts();
        alone.remove();
        return Err(error.context("nothing was restored"));
    }
    restoring.fill().await.with_context(|| {
        format!("the restore was interrupted: empty {} and try again", settings.data_dir.display())
    })?;
    let json = || {
        let mut json = manifest.summary();
        json["data_dir"] = json!(settings.data_dir.display().to_string());
        json
    };
    form.print(|| text(&manifest, settings), json);
    Ok(ExitCode::SUCCESS)
}

/// The files that the settings name.
struct Target {
    database: PathBuf,
    queue: PathBuf,
    secret: PathBuf,
}

impl Target {
    fn of(settings: &Settings) -> anyhow::Result<Self> {
        let (database, queue) = (embedded_file(&settings.database.url)?, embedded_file(&settings.queue.url)?);
        ensure!(
            is_empty(&settings.data_dir)?,
            "the data directory {} is not empty: move it away, or set HANDBILL_DATA_DIR to another",
            settings.data_dir.display()
        );
        for file in [&database, &queue] {
            ensure!(!file.exists(), "{} already exists: move it away", file.display());
        }
        Ok(Self { database, queue, secret: settings.secret_file() })
    }

    fn draft(file: &Path) -> PathBuf {
        let mut name = file.as_os_str().to_owned();
        name.push(format!(".{DRAFT}"));
        name.into()
    }

    /// A draft that cannot be removed makes the next attempt fail with a message.
    fn remove_drafts(&self) {
        for file in [&self.database, &self.queue] {
            for companion in COMPANIONS {
                let mut name = Self::draft(file).into_os_string();
                name.push(companion);
                let _ = fs::remove_file(name);
            }
        }
    }
}

struct Restoring<'a> {
    layout: Layout,
    manifest: &'a BackupManifest,
    target: &'a Target,
    settings: &'a Settings,
}

impl Restoring<'_> {
    /// Verifies the whole backup. Only drafts are written.
    async fn verify(&self) -> anyhow::Result<()> {
        copy_private(&self.layout.database(), &Target::draft(&self.target.database))?;
        copy_private(&self.layout.queue(), &Target::draft(&self.target.queue))?;
        let database = self.open_draft().await?;
        // The backup may be from an earlier release with an older schema.
        database.migrate().await?;
        self.manifest.check_rows(&database.tables().count_rows().await?)?;
        let kept = Blobs::local(&self.layout.objects())?;
        let (mut damaged, mut progress) = (Vec::new(), Progress::begin());
        let mut news = |news: ScrubNews| match news {
            ScrubNews::Damage(damage) if !self.manifest.lost.contains(&damage.hash) => {
                damaged.push(format!("content {}: {}", damage.hash, damage.fault));
            }
            ScrubNews::Progress(so_far) => {
                progress.print(|| {
                    format!("{} of {} contents verified", so_far.contents, self.manifest.contents.count)
                });
            }
            _ => {}
        };
        let scrub = Scrub {
            blobs: &kept,
            care: ScrubCare::Report,
            now: parts::clock().now(),
            at_once: Scrub::OF_A_FOLDER_AT_ONCE,
        };
        let scrubbed = database.integrity().scrub_contents(&scrub, None, &mut news).await?;
        database.close().await?;
        let expected = self.manifest.contents.count + self.manifest.lost.len() as u64;
        ensure!(
            scrubbed.contents == expected,
            "the database contains {} contents, but the manifest says {expected}",
            scrubbed.contents
        );
        match damaged.first() {
            None => Ok(()),
            Some(first) => bail!(
                "the backup is damaged: {}, the first is {first}; take another backup, or restore them from one",
                count(damaged.len() as u64, "content", "contents")
            ),
        }
    }

    async fn fill(&self) -> anyhow::Result<()> {
        let kept = Blobs::local(&self.layout.objects())?;
        let blobs = parts::open_blobs(self.settings)?;
        let database = self.open_draft().await?;
        let copied = contents::copy(&database, &kept, &blobs, IfThere::Replace).await?;
        database.close().await?;
        ensure!(
            copied.contents == self.manifest.contents.count,
            "{} of {} contents were copied",
            copied.contents,
            self.manifest.contents.count
        );
        self.copy_spool(&kept, &blobs).await?;
        if self.layout.secret().is_file() {
            copy_private(&self.layout.secret(), &self.target.secret)?;
        }
        for file in [&self.target.queue, &self.target.database] {
            move_into_place(file)?;
        }
        Ok(())
    }

    async fn copy_spool(&self, kept: &Blobs, blobs: &Blobs) -> anyhow::Result<()> {
        let mut objects = kept.listed();
        while let Some(object) = objects.try_next().await? {
            if let ObjectKind::Spool(version) = object.kind {
                let copied = kept.copy_spooled(version, blobs).await?;
                ensure!(
                    matches!(copied, Copied::Whole { .. }),
                    "the spooled upload {version} was not copied"
                );
            }
        }
        Ok(())
    }

    async fn open_draft(&self) -> anyhow::Result<Store> {
        Store::open(DatabaseUrl::sqlite(&Target::draft(&self.target.database)).reveal()).await
    }
}

fn move_into_place(file: &Path) -> anyhow::Result<()> {
    let placed = fs::rename(Target::draft(file), file)
        .and_then(|()| file.parent().map_or(Ok(()), |folder| File::open(folder)?.sync_all()));
    placed.with_context(|| format!("move {} into place", file.display()))
}

fn text(manifest: &BackupManifest, settings: &Settings) -> String {
    let mut lines = vec![format!(
        "Restored to {} as of {}: {}",
        settings.data_dir.display(),
        manifest.taken_at,
        manifest.counts_text()
    )];
    if !manifest.lost.is_empty() {
        lines.push(format!(
            "{} were already lost when the backup was taken. `handbill scrub` lists the affected pages.",
            count(manifest.lost.len() as u64, "content", "contents")
        ));
    }
    if !manifest.unread_uploads.is_empty() {
        lines.push(format!(
            "{} of waiting publishes could not be read when the backup was taken. Those publishes will fail.",
            count(manifest.unread_uploads.len() as u64, "upload", "uploads")
        ));
    }
    lines.push(
        "Waiting jobs continue with `handbill serve`. To verify the restore, run `handbill scrub` and `handbill ledger check`."
            .to_owned(),
    );
    lines.join("\n")
}
