//! Reads parts of files that the kernel has in memory, without leaving the calling thread. A call to the
//! blocking pool costs two thread switches, which is more than such a read.
//!
//! Used only on Linux, with local filesystems that support non-blocking reads. On a network filesystem, opening
//! a file may block until its server responds.

use std::ops::Range;
use std::path::Path;

use bytes::Bytes;

/// Copying more would delay other tasks of the thread.
const BYTES_MAX: u64 = 64 << 10;

/// A folder of files on such a filesystem.
#[cfg(target_os = "linux")]
#[derive(Clone, Debug)]
pub(crate) struct CachedFiles(std::sync::Arc<std::fs::File>);

#[cfg(target_os = "linux")]
impl CachedFiles {
    /// ext4, XFS and Btrfs, as `statfs` identifies them.
    const FILESYSTEMS: [rustix::fs::FsWord; 3] = [0xef53, 0x5846_5342, 0x9123_683e];

    /// `None` for another filesystem.
    pub(crate) fn of(folder: &Path) -> Option<Self> {
        let folder = std::fs::File::open(folder).ok()?;
        let filesystem = rustix::fs::fstatfs(&folder).ok()?.f_type;
        Self::FILESYSTEMS.contains(&filesystem).then(|| Self(folder.into()))
    }

    /// A part of a file. `None` if not all of it is in memory, and for any error: then the caller reads the
    /// file in another way, which waits or reports the error.
    pub(crate) fn read(&self, path: &str, range: &Range<u64>) -> Option<Bytes> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::{ReadWriteFlags, preadv2};
        let length = range.end.checked_sub(range.start).filter(|length| *length <= BYTES_MAX)?;
        let (read_only, in_memory) =
            (OFlags::RDONLY | OFlags::CLOEXEC, ResolveFlags::BENEATH | ResolveFlags::CACHED);
        let file = openat2(&*self.0, path, read_only, Mode::empty(), in_memory).ok()?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let mut into = [std::io::IoSliceMut::new(&mut bytes)];
        let read_bytes = preadv2(&file, &mut into, range.start, ReadWriteFlags::NOWAIT).ok()?;
        (read_bytes == bytes.len()).then(|| bytes.into())
    }
}

/// Never there.
#[cfg(not(target_os = "linux"))]
#[derive(Clone, Debug)]
pub(crate) enum CachedFiles {}

#[cfg(not(target_os = "linux"))]
impl CachedFiles {
    pub(crate) fn of(_folder: &Path) -> Option<Self> {
        None
    }

    pub(crate) fn read(&self, _path: &str, _range: &Range<u64>) -> Option<Bytes> {
        match *self {}
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn part_of_a_file_in_memory_is_read_and_anything_else_is_left_to_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = folder.path().join("blobs");
        std::fs::create_dir(&blobs).unwrap();
        std::fs::write(blobs.join("a"), vec![7; 100_000]).unwrap();
        std::fs::write(blobs.join("empty"), "").unwrap();
        std::fs::write(folder.path().join("outside"), "secret").unwrap();
        std::os::unix::fs::symlink("../outside", blobs.join("link")).unwrap();
        // A filesystem without such reads has nothing to test.
        let Some(files) = CachedFiles::of(&blobs) else { return };
        let read = |path: &str, range: Range<u64>| files.read(path, &range).map(|bytes| bytes.len());
        assert_eq!(read("a", 1_000..1_500), Some(500));
        for (path, range) in [
            ("a", 99_900..100_100),
            ("a", 0..BYTES_MAX + 1),
            ("a", Range { start: 2, end: 1 }),
            ("empty", 0..1),
            ("b", 0..1),
            ("link", 0..1),
            ("../outside", 0..1),
        ] {
            assert_eq!(read(path, range.clone()), None, "{path} {range:?}");
        }
    }

    #[tokio::test]
    async fn blobs_are_read_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let blobs = crate::Blobs::local(folder.path()).unwrap();
        let content = Bytes::from_static(b"some words");
        let hash = domain::BlobHash::of(&content);
        blobs.put(hash, content.clone(), crate::Layout::of(&content, "text/plain").unwrap()).await.unwrap();
        let Some(files) = CachedFiles::of(folder.path()) else { return };
        let key = blobs.key(crate::blobs::StorageKey::Blob(hash));
        assert_eq!(files.read(key.as_ref(), &(5..10)), Some(content.slice(5..10)));
        assert_eq!(blobs.read(hash, 5..10).await.unwrap(), content.slice(5..10));
    }
}
