//! Zip archives. The list at the end of the archive counts; the sizes in it are not believed.

use std::io::Cursor;

use bytes::Bytes;
use domain::Refusal;
use zip::CompressionMethod;
use zip::read::{Config, ZipFileEntry};
use zip::result::ZipError;
// Stable readers keep one entry of each name, and the index of an archive with very many takes much memory.
use zip::unstable::read::ZipIterable;

use super::super::refusal_behind;
use super::unpacking::{EntryKind, UnpackMemory, UnpackedFiles, cut, unusable};

/// The bits of a Unix mode that say what a file is.
const TYPE_BITS: u32 = 0o170_000;
const FILE: u32 = 0o100_000;
const FOLDER: u32 = 0o040_000;
const LINK: u32 = 0o120_000;

/// The fault of an archive that cannot be read as a zip.
pub const NO_ZIP: &str = "is damaged, or is not a zip file";

pub fn unpack(archive: Bytes, files: &mut UnpackedFiles, memory: &mut UnpackMemory) -> Result<(), Refusal> {
    let mut left_bytes = archive.len() as u64;
    let archive = ZipIterable::try_new(Cursor::new(archive), Config::default());
    let mut archive = archive.map_err(|_| no_zip())?;
    let entries = archive.files().map_err(|_| no_zip())?;
    while let Some(entry) = entries.next() {
        let entry = entry.map_err(|_| no_zip())?;
        let raw_name = entry.name_raw().to_vec();
        let name =
            entry.name().map_err(|_| unusable(&raw_name, "has a name that cannot be read"))?.into_owned();
        let Some(path) = files.admit(name.as_bytes(), kind_of(&entry, &name))? else { continue };
        if entry.encrypted() {
            return Err(unusable(&raw_name, "is encrypted"));
        }
        if !matches!(entry.compression(), CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(unusable(&raw_name, "is compressed with another method than deflate"));
        }
        // Entries that share their bytes would take more time than the archive is long.
        left_bytes = left_bytes
            .checked_sub(entry.compressed_size())
            .ok_or_else(|| unusable(&raw_name, "is longer than the rest of the archive"))?;
        let declared_bytes = entry.size();
        let content = entry.with_reader(entries.reader_mut(), Default::default());
        let content = content.map_err(|error| damaged_entry(&raw_name, &error))?;
        if files.add(path, memory.counted(content))? as u64 != declared_bytes {
            return Err(unusable(&raw_name, "is damaged: its size is not the one in the list"));
        }
    }
    Ok(())
}

fn kind_of(entry: &ZipFileEntry<'_>, name: &str) -> EntryKind {
    match entry.unix_mode().unwrap_or_default() & TYPE_BITS {
        LINK => EntryKind::Link,
        FOLDER => EntryKind::Folder,
        // Many programs leave the type out.
        0 | FILE if name.ends_with('/') => EntryKind::Folder,
        0 | FILE => EntryKind::File,
        _ => EntryKind::Other,
    }
}

fn damaged_entry(name: &[u8], error: &ZipError) -> Refusal {
    refusal_behind(error).unwrap_or_else(|| unusable(name, &format!("is damaged: {}", cut(error))))
}

fn no_zip() -> Refusal {
    Refusal::invalid("body", NO_ZIP)
}
