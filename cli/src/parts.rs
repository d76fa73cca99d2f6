//! Opens the parts of a process from the settings.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, ensure};
use bus::Bus;
use card::{CardPayments, CardProcessor, Livemode, ProcessorAddress, WebhookSecret};
use config::{DatabaseUrl, Settings, Storage};
use domain::{Chance, Clock};
use store::{Blobs, S3Settings, Store};
use workers::{Opening, Queues};

use crate::database_clock;

/// An existing directory keeps its mode.
const DATA_DIR_MODE: u32 = 0o700;
/// The permission bits of users who are neither the owner nor in the group.
const OTHERS: u32 = 0o007;

pub(crate) async fn open_store(settings: &Settings) -> anyhow::Result<Store> {
    make_data_dir_if_used(settings)?;
    let database = &settings.database;
    Store::open_with(database.url.reveal(), database.connections_max).await
}

/// Refuses settings without an installation. Opening a missing database would create an empty one, in which
/// nothing is wrong.
pub(crate) fn ensure_installed(settings: &Settings) -> anyhow::Result<()> {
    if let Some(file) = store::sqlite_file(settings.database.url.reveal())? {
        let folder = file.parent().unwrap_or(&file);
        ensure!(
            file.is_file(),
            "no installation found in {}: {} does not exist; run `handbill migrate` for a new installation, or use \
             the service's HANDBILL_DATA_DIR or --config",
            folder.display(),
            file.display()
        );
    }
    Ok(())
}

/// Opens the store of an existing installation.
pub(crate) async fn open_store_in_use(settings: &Settings) -> anyhow::Result<Store> {
    ensure_installed(settings)?;
    let store = open_store(settings).await?;
    ensure!(store.is_current().await?, "the database schema is out of date: run `handbill migrate` first");
    Ok(store)
}

pub(crate) async fn open_queues(settings: &Settings, bus: &Bus, clock: Clock) -> anyhow::Result<Queues> {
    make_data_dir_if_used(settings)?;
    let announcing = bus.clone();
    Queues::open(Opening {
        url: settings.queue.url.reveal(),
        connections_max: settings.queue.connections_max,
        instance: bus.instance(),
        clock,
        chance: Chance::from_system(),
        on_pushed: Arc::new(move |queue| announcing.announce(queue)),
    })
    .await
}

/// A queue in a file that no process works on, such as a copy.
pub(crate) async fn open_queue_file(file: &Path) -> anyhow::Result<Queues> {
    Queues::open(Opening {
        url: DatabaseUrl::sqlite(file).reveal(),
        connections_max: 1,
        instance: "copy",
        clock: clock(),
        chance: Chance::from_system(),
        on_pushed: Arc::new(|_| {}),
    })
    .await
}

pub(crate) fn open_blobs(settings: &Settings) -> anyhow::Result<Blobs> {
    match &settings.storage {
        Storage::Folder(folder) => Blobs::local(folder),
        Storage::Bucket(bucket) => Blobs::s3(&S3Settings {
            bucket: bucket.name.clone(),
            prefix: bucket.prefix.clone(),
            endpoint: bucket.endpoint.clone(),
            region: bucket.region.clone(),
            access_key_id: bucket.access_key_id.reveal().to_owned(),
            secret_access_key: bucket.secret_access_key.reveal().to_owned(),
        }),
    }
}

/// Creates the directories of blobs in advance, which saves time at the first publishes. A publish creates
/// missing ones.
pub(crate) fn make_blob_folders(settings: &Settings) {
    if let Storage::Folder(folder) = &settings.storage
        && let Err(error) = Blobs::make_shelves(folder)
    {
        tracing::warn!(error = %error, "could not create the directories for contents");
    }
}

/// The bus between processes, or within this process without Redis.
pub(crate) async fn open_bus(settings: &Settings) -> anyhow::Result<Bus> {
    let clock = clock();
    let id = Chance::from_system().ulid(clock.now());
    // Redis' user for edges may only listen under such a name: see deploy/redis/users.acl.
    let instance = if settings.are_of_an_edge_alone() { format!("edge-{id}") } else { id.to_string() };
    match &settings.redis.url {
        Some(url) => Bus::redis(url.reveal(), &instance).await,
        None => Ok(Bus::local(&instance)),
    }
}

/// The configured parts of card payment. A processor needs an address and a key.
pub(crate) fn card_payments(settings: &Settings) -> anyhow::Result<CardPayments> {
    let card = &settings.card;
    let processor = match (&card.api_url, &card.secret_key) {
        (Some(api_url), Some(secret_key)) => Some(CardProcessor::new(ProcessorAddress {
            api_url,
            secret_key: secret_key.reveal(),
            base_url: &settings.api.base_url,
        })?),
        _ => None,
    };
    let webhook_secret = card.webhook_secret.as_ref().map(|secret| WebhookSecret::new(secret.reveal()));
    let of_key =
        || card.secret_key.as_ref().map_or_else(Livemode::default, |key| Livemode::of_key(key.reveal()));
    let livemode = card.livemode.map_or_else(of_key, |is_live| Livemode(Some(is_live)));
    Ok(CardPayments { processor, webhook_secret, livemode })
}

/// The system's clock. In a debug build a test may shift it by a file, and make the machine's clock wrong.
pub(crate) fn clock() -> Clock {
    #[cfg(debug_assertions)]
    if let Some(file) = std::env::var_os("HANDBILL_TEST_CLOCK") {
        let machine_ahead_ms = std::env::var("HANDBILL_TEST_CLOCK_AHEAD_MS").unwrap_or_default();
        return Clock::shifted(domain::TestShift {
            file: file.into(),
            machine_ahead_ms: machine_ahead_ms.parse().unwrap_or(0),
        });
    }
    Clock::system()
}

/// The clock of a short-lived command, synchronized with the database's.
pub(crate) async fn clock_of(store: &Store, settings: &Settings) -> anyhow::Result<Clock> {
    let clock = clock();
    if settings.database.url.is_postgres() {
        database_clock::measure(store, &clock).await.context("read the database's clock")?;
    }
    Ok(clock)
}

/// The local directories in which data grows. Empty if all data is elsewhere.
pub(crate) fn folders_of_data(settings: &Settings) -> anyhow::Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for url in [&settings.database.url, &settings.queue.url] {
        let file = store::sqlite_file(url.reveal())?;
        folders.extend(file.and_then(|file| file.parent().map(Path::to_owned)));
    }
    if let Storage::Folder(contents) = &settings.storage {
        folders.push(contents.clone());
    }
    folders.into_iter().map(|folder| absolute(&folder)).collect()
}

/// A directory with data that other users of this machine can read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OpenFolder {
    pub(crate) path: PathBuf,
    contents: FolderContents,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FolderContents {
    HandbillAlone,
    /// Such as a home directory or `/tmp`, which must keep its mode.
    OtherFilesToo,
}

impl OpenFolder {
    pub(crate) fn remedy(&self) -> String {
        let path = self.path.display();
        match self.contents {
            FolderContents::HandbillAlone => format!("run `chmod 700 {path}`"),
            FolderContents::OtherFilesToo => format!(
                "{path} also holds other files: stop Handbill, move its files to a separate directory that only its user \
                 can read (such as {path}/handbill), and set HANDBILL_DATA_DIR, or the setting that contains {path}, to it"
            ),
        }
    }
}

/// The existing directories with data that other users of this machine can read. Anything inside a directory
/// that only its owner may enter is safe, whatever its own mode.
pub(crate) fn folders_open_to_others(settings: &Settings) -> anyhow::Result<Vec<OpenFolder>> {
    let data_dir = absolute(&settings.data_dir)?;
    let outermost = |folder: PathBuf| if folder.starts_with(&data_dir) { data_dir.clone() } else { folder };
    let folders: BTreeSet<PathBuf> = folders_of_data(settings)?.into_iter().map(outermost).collect();
    let kept = paths_of_data(settings)?;
    let is_open = |folder: &PathBuf| fs::metadata(folder).is_ok_and(|found| found.mode() & OTHERS != 0);
    let open = folders.into_iter().filter(is_open);
    Ok(open.map(|path| OpenFolder { contents: contents_of(&path, &kept), path }).collect())
}

/// The files and directories that contain data.
fn paths_of_data(settings: &Settings) -> anyhow::Result<Vec<PathBuf>> {
    let mut paths = vec![absolute(&settings.secret_file())?];
    for url in [&settings.database.url, &settings.queue.url] {
        if let Some(file) = store::sqlite_file(url.reveal())? {
            paths.push(absolute(&file)?);
        }
    }
    if let Storage::Folder(contents) = &settings.storage {
        let contents = absolute(contents)?;
        paths.extend(Blobs::FOLDERS.map(|folder| contents.join(folder)));
    }
    Ok(paths)
}

/// Classifies a directory by the names in it. SQLite's companion files have the database's name as prefix.
fn contents_of(folder: &Path, kept: &[PathBuf]) -> FolderContents {
    let below = |path: &PathBuf| path.strip_prefix(folder).ok()?.iter().next().map(OsStr::to_owned);
    let names: Vec<OsString> = kept.iter().filter_map(below).collect();
    let is_kept = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        names.iter().any(|kept| name.starts_with(kept.as_encoded_bytes()))
    };
    // A directory that cannot be listed may hold other files.
    let is_own = fs::read_dir(folder)
        .is_ok_and(|mut entries| entries.all(|entry| entry.is_ok_and(|entry| is_kept(&entry.file_name()))));
    if is_own { FolderContents::HandbillAlone } else { FolderContents::OtherFilesToo }
}

/// A host whose data is all elsewhere does not need a writable directory. A generated signing secret creates
/// it.
pub(crate) fn make_data_dir_if_used(settings: &Settings) -> anyhow::Result<()> {
    let data_dir = absolute(&settings.data_dir)?;
    let is_used = folders_of_data(settings)?.iter().any(|folder| folder.starts_with(&data_dir));
    if is_used { make_data_dir(settings) } else { Ok(()) }
}

pub(crate) fn make_data_dir(settings: &Settings) -> anyhow::Result<()> {
    // Other users of this machine must not read it: it holds password hashes and the codes of claims and
    // invites.
    DirBuilder::new()
        .recursive(true)
        .mode(DATA_DIR_MODE)
        .create(&settings.data_dir)
        .with_context(|| format!("create the data directory {}", settings.data_dir.display()))
}

fn absolute(folder: &Path) -> anyhow::Result<PathBuf> {
    // A file name without a directory is in the working directory.
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    std::path::absolute(folder).with_context(|| format!("resolve {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn permission_remedy_is_chmod_only_for_directories_of_handbill() {
        let folder = tempfile::tempdir().unwrap();
        let set = [("HANDBILL_DATA_DIR".to_owned(), folder.path().display().to_string())];
        let sources = config::Sources { file: Some("/dev/null".into()), env: set.into_iter() };
        let settings = config::load(sources).unwrap();
        let remedies = || -> Vec<String> {
            folders_open_to_others(&settings).unwrap().iter().map(OpenFolder::remedy).collect()
        };
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o700)).unwrap();
        assert!(remedies().is_empty(), "it is its owner's alone");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for name in
            ["handbill.db", "handbill.db-wal", "handbill.db.lock", "queue.db", "blobs", "signing-secret"]
        {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let chmod = format!("chmod 700 {}", folder.path().display());
        assert_eq!(remedies(), [format!("run `{chmod}`")]);
        fs::write(folder.path().join("letter.txt"), "").unwrap();
        let [remedy] = &remedies()[..] else { panic!() };
        assert!(!remedy.contains("chmod") && remedy.contains("a separate directory"), "{remedy}");
    }
}
