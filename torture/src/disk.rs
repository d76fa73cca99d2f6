//! The disk of a world that a fault can fill: a file system in memory whose size is reduced to its contents.
//! It needs the permission to mount. Without it this fault is not available.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The maximum size. The file system uses only the memory of its contents.
const ROOMY: &str = "2g";

const PAGE_BYTES: u64 = 4096;

#[derive(Debug)]
pub struct SmallDisk(PathBuf);

impl SmallDisk {
    pub fn mount(folder: &Path) -> Option<Self> {
        std::fs::create_dir_all(folder).expect("a folder for a disk");
        let size = format!("size={ROOMY},mode=700");
        let is_mounted = run("mount", &["-t", "tmpfs", "-o", &size, "tmpfs"], folder);
        is_mounted.then(|| Self(folder.to_owned()))
    }

    pub fn copy_to(&self, folder: &Path) {
        // Without space for the copy, the journal is still available.
        let _ = Command::new("cp").arg("-a").arg(&self.0).arg(folder).status();
    }

    /// Leaves this many free pages.
    pub(crate) fn fill(&self, pages: u64) -> bool {
        let Ok(now) = rustix::fs::statvfs(&self.0) else { return false };
        let used = (now.f_blocks - now.f_bfree) * now.f_frsize;
        self.resize(&(used + pages * PAGE_BYTES).to_string())
    }

    pub(crate) fn empty(&self) {
        assert!(self.resize(ROOMY), "a disk gets its room back");
    }

    fn resize(&self, size: &str) -> bool {
        run("mount", &["-o", &format!("remount,size={size}")], &self.0)
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        run("umount", &["--lazy"], &self.0);
    }
}

fn run(program: &str, arguments: &[&str], folder: &Path) -> bool {
    let mut command = Command::new(program);
    command.args(arguments).arg(folder).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
