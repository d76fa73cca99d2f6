//! One process at a time works on the files of an embedded installation. Two would not hear of each other's changes, and
//! each would serve the old pages of the other.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use config::Settings;

use crate::parts;

const FILE_MODE: u32 = 0o600;

/// Locks beside the SQLite files that the settings name. The kernel releases them when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct DataLock {
    locked: Vec<(PathBuf, File)>,
}

impl DataLock {
    /// Refused while another process has it. A service on PostgreSQL needs none: see `Queues::join`.
    pub(crate) fn take(settings: &Settings) -> anyhow::Result<Self> {
        parts::make_data_dir_if_used(settings)?;
        let mut locked: Vec<(PathBuf, File)> = Vec::new();
        for url in [&settings.database.url, &settings.queue.url] {
            let Some(file) = store::sqlite_file(url.reveal())? else { continue };
            let path = lock_path(&file);
            // One file may hold both.
            if locked.iter().all(|(known, _)| *known != path) {
                locked.push((path.clone(), lock(&path, &file)?));
            }
        }
        Ok(Self { locked })
    }

    /// Leaves no trace in a data directory that is to be as empty as it was.
    pub(crate) fn remove(self) {
        for (path, _) in &self.locked {
            let _ = std::fs::remove_file(path);
        }
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".lock");
    PathBuf::from(path)
}

fn lock(path: &Path, database: &Path) -> anyhow::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(FILE_MODE).open(path);
    let file = file.with_context(|| format!("open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => bail!(
            "another process works on {}: stop it first, or give this one a data directory of its own \
             (HANDBILL_DATA_DIR)",
            database.display()
        ),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("lock {}", path.display())),
    }
}
