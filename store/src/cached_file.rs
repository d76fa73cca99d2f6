//! Reads parts of files that the kernel has in memory, without leaving the calling thread. It never waits for
//! a disk. A call to the blocking pool costs two thread switches, which is more than such a read.

use std::fs::File;
use std::io::IoSliceMut;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

/// A folder of files.
#[derive(Clone, Debug)]
pub(crate) struct CachedFiles(Arc<File>);

/// Copying more would delay other tasks of the thread.
const BYTES_MAX: u64 = 64 << 10;

impl CachedFiles {
    pub(crate) fn of(folder: &Path) -> std::io::Result<Self> {
        Ok(Self(Arc::new(File::open(folder)?)))
    }

    /// A part of a file. `None` if not all of it is in memory, and for any error: then the caller reads the
    /// file in another way, which waits or reports the error.
    pub(crate) fn read(&self, path: &str, range: &Range<u64>) -> Option<Bytes> {
        let length = range.end.checked_sub(range.start).filter(|length| *length <= BYTES_MAX)?;
        let mut bytes = vec![0; usize::try_from(length).ok()?];
        let read_bytes = self.read_into(path, range.start, &mut bytes)?;
        (read_bytes == bytes.len()).then(|| bytes.into())
    }

    #[cfg(target_os = "linux")]
    fn read_into(&self, path: &str, offset: u64, bytes: &mut [u8]) -> Option<usize> {
        use rustix::fs::{Mode, OFlags, ResolveFlags, openat2};
        use rustix::io::{ReadWriteFlags, preadv2};
        let (only_read, in_memory) =
            (OFlags::RDONLY | OFlags::CLOEXEC, ResolveFlags::BENEATH | ResolveFlags::CACHED);
        let file = openat2(&*self.0, path, only_read, Mode::empty(), in_memory).ok()?;
        preadv2(&file, &mut [IoSliceMut::new(bytes)], offset, ReadWriteFlags::NOWAIT).ok()
    }

    /// Other systems cannot tell whether a read would wait.
    #[cfg(not(target_os = "linux"))]
    fn read_into(&self, _path: &str, _offset: u64, _bytes: &mut [u8]) -> Option<usize> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn part_of_a_file_in_memory_is_read_and_anything_else_is_left_to_the_caller() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("blobs")).unwrap();
        std::fs::write(folder.path().join("blobs/a"), vec![7; 100_000]).unwrap();
        std::fs::write(folder.path().join("outside"), "secret").unwrap();
        let files = CachedFiles::of(&folder.path().join("blobs")).unwrap();
        let read = |path: &str, range: Range<u64>| files.read(path, &range).map(|bytes| bytes.len());
        let expected = cfg!(target_os = "linux").then_some(500);
        // A file that was just written is in memory, and its name becomes so when it is opened.
        std::fs::read(folder.path().join("blobs/a")).unwrap();
        assert_eq!(read("a", 1_000..1_500), expected);
        for (path, range) in [
            ("a", 99_900..100_100),
            ("a", 0..BYTES_MAX + 1),
            ("a", Range { start: 2, end: 1 }),
            ("b", 0..1),
            ("../outside", 0..1),
        ] {
            assert_eq!(read(path, range.clone()), None, "{path} {range:?}");
        }
    }
}
