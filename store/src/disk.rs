//! Checks that this machine's disks have space for another publish.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// More than the largest publish needs: its upload, its contents with all variants, and its rows.
const PUBLISH_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The folders with data on this machine. Empty if all data is elsewhere.
#[derive(Clone, Debug, Default)]
pub struct DiskRoom(Arc<[PathBuf]>);

impl DiskRoom {
    pub fn of(folders: Vec<PathBuf>) -> Self {
        Self(folders.into())
    }

    /// Fails, with the folder's name, if a publish might not fit. A folder whose free space is unknown does
    /// not fail.
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
