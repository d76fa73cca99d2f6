//! The rules for the entries of every archive, and the memory that they take.

use std::io::{self, Read};

use bytes::BytesMut;
use domain::{FileSet, Refusal, SitePath};
use service::UploadedFile;
use tokio::runtime::Handle;

use super::super::{refusal_behind, site_path};
use crate::http::body::{self, UPLOAD_BYTES_MAX};
use crate::http::upload_budget::HeldMemory;

/// Entries of an archive, with its folders and what is ignored. More are refused even if they are empty.
const ENTRIES_MAX: usize = 1_000;
const CHUNK_BYTES: usize = 32 * 1024;
/// The library's description of a fault can quote the archive.
const FAULT_LENGTH_MAX: usize = 200;
/// Metadata that macOS adds to a zip.
const IGNORED_FOLDER: &str = "__MACOSX";
const INDEX: &str = "index.html";

/// What an entry is, as far as it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    File,
    Folder,
    Link,
    Sparse,
    /// A device, a pipe, or a kind that only one program knows.
    Other,
}

/// The files that have been unpacked so far.
#[derive(Default)]
pub struct UnpackedFiles {
    set: FileSet,
    files: Vec<UploadedFile>,
    entries: usize,
}

impl UnpackedFiles {
    /// Checks an entry. Returns its path if it is a file of the site, and `None` if it is ignored.
    pub fn admit(&mut self, name: &[u8], kind: EntryKind) -> Result<Option<SitePath>, Refusal> {
        self.entries += 1;
        if self.entries > ENTRIES_MAX {
            let limit = format!("an archive has at most {ENTRIES_MAX} entries");
            return Err(Refusal::PublishTooLarge { limit });
        }
        let Ok(name) = std::str::from_utf8(name) else {
            return Err(refused_entry(&String::from_utf8_lossy(name), "has a name that is not in UTF-8"));
        };
        match kind {
            EntryKind::Link => {
                return Err(refused_entry(name, "is a link; put the file itself into the archive"));
            }
            EntryKind::Sparse => {
                return Err(refused_entry(name, "is a sparse file; pack it as a whole, without --sparse"));
            }
            EntryKind::Other => return Err(refused_entry(name, "is neither a file nor a folder")),
            EntryKind::File | EntryKind::Folder => {}
        }
        let mut relative = name;
        while let Some(rest) = relative.strip_prefix("./") {
            relative = rest;
        }
        if kind == EntryKind::Folder {
            relative = relative.strip_suffix('/').unwrap_or(relative);
            // The folder itself, as tar writes it.
            if matches!(relative, "" | ".") {
                return Ok(None);
            }
        }
        if is_on_drive(relative) {
            return Err(refused_entry(name, "is an absolute path; paths are relative to the site"));
        }
        let path = site_path(relative)?;
        let is_ignored = path.as_str().split('/').next() == Some(IGNORED_FOLDER);
        if kind == EntryKind::Folder || is_ignored {
            return Ok(None);
        }
        self.set.add(&path)?;
        Ok(Some(path))
    }

    /// Reads the content of a file that was admitted. Returns its size.
    pub fn add(&mut self, path: SitePath, mut content: impl Read) -> Result<usize, Refusal> {
        let (mut bytes, mut chunk) = (BytesMut::new(), vec![0; CHUNK_BYTES]);
        loop {
            let read = content.read(&mut chunk).map_err(|error| damaged(path.as_str(), &error))?;
            if read == 0 {
                break;
            }
            self.set.grow(read)?;
            bytes.extend_from_slice(&chunk[..read]);
        }
        let size_bytes = bytes.len();
        self.files.push(UploadedFile { path, bytes: bytes.freeze() });
        Ok(size_bytes)
    }

    /// The number of entries that were admitted or ignored.
    pub fn entries(&self) -> usize {
        self.entries
    }

    /// The files of the site, sorted by path: the same folder is the same request, whatever packed it.
    pub fn finish(self) -> Result<Vec<UploadedFile>, Refusal> {
        if self.files.is_empty() {
            return Err(Refusal::invalid("body", "is an archive without files"));
        }
        let mut files = without_common_folder(self.files);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        Ok(files)
    }
}

/// Many programs pack the folder of a site, and not its content. So a folder around all files is left out if
/// the front page is in it.
pub fn without_common_folder(files: Vec<UploadedFile>) -> Vec<UploadedFile> {
    let folder = files.first().and_then(|file| file.path.folders().next()).map(|folder| format!("{folder}/"));
    let Some(folder) = folder else { return files };
    let inside = |file: &UploadedFile| file.path.as_str().strip_prefix(&folder).map(str::to_owned);
    let names: Option<Vec<String>> = files.iter().map(inside).collect();
    let Some(names) = names.filter(|names| names.iter().any(|name| name == INDEX)) else { return files };
    let paths: Result<Vec<SitePath>, _> = names.iter().map(|name| name.parse()).collect();
    let Ok(paths) = paths else { return files };
    files.into_iter().zip(paths).map(|(file, path)| UploadedFile { path, ..file }).collect()
}

/// Whether it is an absolute path of Windows, such as `C:/site/index.html`.
fn is_on_drive(name: &str) -> bool {
    matches!(name.as_bytes(), [letter, b':', b'/', ..] if letter.is_ascii_alphabetic())
}

fn refused_entry(name: &str, fault: &str) -> Refusal {
    let name: String = name.chars().take(SitePath::LENGTH_MAX).collect();
    Refusal::invalid("files", format!("the archive's entry {name:?} {fault}"))
}

/// The refusal of an entry that cannot be published.
pub fn unusable(name: &[u8], fault: &str) -> Refusal {
    refused_entry(&String::from_utf8_lossy(name), fault)
}

/// The refusal of an entry whose content cannot be read, or the limit that ended it.
pub fn damaged(name: &str, error: &io::Error) -> Refusal {
    refusal_behind(error).unwrap_or_else(|| refused_entry(name, &format!("is damaged: {}", cut(error))))
}

/// A fault of a library, cut for a message.
pub fn cut(fault: &impl ToString) -> String {
    fault.to_string().chars().take(FAULT_LENGTH_MAX).collect()
}

/// The memory of what is unpacked. It is counted as it grows.
pub struct UnpackMemory {
    held: HeldMemory,
    runtime: Handle,
    left_bytes: u64,
}

/// Counts what is read from an archive.
pub struct CountedRead<'a, R> {
    source: R,
    memory: &'a mut UnpackMemory,
}

impl UnpackMemory {
    /// Called on a thread of the runtime.
    pub fn new(held: HeldMemory) -> Self {
        Self { held, runtime: Handle::current(), left_bytes: UPLOAD_BYTES_MAX }
    }

    pub fn into_held(self) -> HeldMemory {
        self.held
    }

    /// Counts all that is read from a source. A tar has headers besides its files, so it may be somewhat
    /// longer than them.
    pub fn counted<R: Read>(&mut self, source: R) -> CountedRead<'_, R> {
        CountedRead { source, memory: self }
    }

    fn take(&mut self, bytes: usize) -> Result<(), Refusal> {
        let left_bytes = self.left_bytes.checked_sub(bytes as u64);
        self.left_bytes = left_bytes.ok_or_else(|| Refusal::PublishTooLarge {
            limit: format!("an archive has at most {UPLOAD_BYTES_MAX} bytes when it is unpacked"),
        })?;
        self.runtime.block_on(self.held.grow(bytes))
    }
}

impl<R: Read> Read for CountedRead<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.memory.take(read).map_err(body::refused)?;
        Ok(read)
    }
}
