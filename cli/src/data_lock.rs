//! Lets only one process at a time work on the files of an embedded installation. Two processes would not
//! notice each other's changes and would serve outdated pages.

use std::fs::{File, OpenOptions, TryLockError};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use config::Settings;

use crate::parts;

const FILE_MODE: u32 = 0o600;

/// Locks beside the configured SQLite files. The kernel releases them when the process ends, however it ends.
#[derive(Debug)]
pub(crate) struct DataLock {
    locked: Vec<(PathBuf, File)>,
}

/// How a process uses the data directory. Decides the advice when another process has locked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tenant {
    /// It needs no other process: `handbill serve`, or a command.
    Alone,
    /// One of several roles that share a database.
    OneRole,
}

impl DataLock {
    /// Fails while another process holds the lock. A service on PostgreSQL needs none: see `Queues::join`.
    pub(crate) fn take(settings: &Settings, tenant: Tenant) -> anyhow::Result<Self> {
        parts::make_data_dir_if_used(settings)?;
        let mut locked: Vec<(PathBuf, File)> = Vec::new();
        for url in [&settings.database.url, &settings.queue.url] {
            let Some(file) = store::sqlite_file(url.reveal())? else { continue };
            let path = lock_path(&file);
            // Both may be in one file.
            if locked.iter().all(|(known, _)| *known != path) {
                locked.push((path.clone(), lock(&path, &file, tenant)?));
            }
        }
        Ok(Self { locked })
    }

    /// Removes the lock files from a data directory that must stay empty.
    pub(crate) fn remove(self) {
        for (path, _) in &self.locked {
            let _ = std::fs::remove_file(path);
        }
    }
}

impl Tenant {
    fn remedy(self) -> &'static str {
        match self {
            Tenant::Alone => "stop it first, or use another data directory (HANDBILL_DATA_DIR)",
            Tenant::OneRole => {
                "only one process at a time can use a SQLite file. To run the roles as separate processes, give all of them \
                 the same PostgreSQL database (HANDBILL_DATABASE__URL=postgres://…); on one machine, `handbill serve` runs \
                 them in one process"
            }
        }
    }
}

fn lock_path(database: &Path) -> PathBuf {
    let mut path = database.as_os_str().to_owned();
    path.push(".lock");
    PathBuf::from(path)
}

fn lock(path: &Path, database: &Path, tenant: Tenant) -> anyhow::Result<File> {
    let file = OpenOptions::new().create(true).truncate(false).write(true).mode(FILE_MODE).open(path);
    let file = file.with_context(|| format!("open {}", path.display()))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            bail!("another process is using {}: {}", database.display(), tenant.remedy())
        }
        Err(TryLockError::Error(error)) => Err(error).with_context(|| format!("lock {}", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locked_data_directory_advises_a_single_role_to_use_postgresql() {
        let folder = tempfile::tempdir().unwrap();
        let set = [("HANDBILL_DATA_DIR".to_owned(), folder.path().display().to_string())];
        let sources = config::Sources { file: Some("/dev/null".into()), env: set.into_iter() };
        let settings = config::load(sources).unwrap();
        let _first = DataLock::take(&settings, Tenant::Alone).unwrap();
        let refused = |tenant| DataLock::take(&settings, tenant).unwrap_err().to_string();
        assert!(refused(Tenant::Alone).contains("HANDBILL_DATA_DIR"), "{}", refused(Tenant::Alone));
        let advice = refused(Tenant::OneRole);
        assert!(advice.contains("PostgreSQL") && !advice.contains("HANDBILL_DATA_DIR"), "{advice}");
    }
}
