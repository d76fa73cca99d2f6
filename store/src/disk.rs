//! Whether this machine's disks have room for what is published.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More than the largest publish needs: its upload, its contents with every encoding, and its rows.
const PUBLISH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The folders of this machine that data is kept in. Without any, all of it is kept elsewhere.
#[derive(Clone, Debug, Default)]
pub struct DiskRoom(Arc<[PathBuf]>);

impl DiskRoom {
    pub fn of(folders: Vec<PathBuf>) -> Self {
        Self(folders.into())
    }

    /// Fails, with the folder's name, when a publish might not fit. What cannot be read is no reason to refuse one.
    pub fn check(&self) -> anyhow::Result<()> {
        for folder in self.0.iter() {
            let free = free_bytes(folder).unwrap_or(u64::MAX);
            anyhow::ensure!(
                free >= PUBLISH_BYTES_MAX,
                "{} has {} MB left, and a publish may need {}",
                folder.display(),
                free / 1_048_576,
                PUBLISH_BYTES_MAX / 1_048_576
            );
        }
        Ok(())
    }
}

fn free_bytes(folder: &Path) -> Option<u64> {
    if let Some(faults::Fault::Instead(bytes)) = faults::at("disk.free_bytes") {
        return Some(bytes.into());
    }
    let disk = rustix::fs::statvfs(folder).ok()?;
    Some(disk.f_bavail.saturating_mul(disk.f_frsize))
}
