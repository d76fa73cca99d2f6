//! Tar archives, as they are or compressed. The unpacked tar is read once, as a stream.

use std::io::{self, Cursor, Read};

use bytes::Bytes;
use domain::Refusal;
use flate2::bufread::MultiGzDecoder;
use tar::{Archive, Entry, EntryType};

use super::super::refusal_behind;
use super::unpacking::{EntryKind, UnpackMemory, UnpackedFiles, cut};
use crate::http::body;
use crate::http::publish_type::ArchiveKind;

/// The description of a sparse file begins with it.
const PAX_SPARSE: &[u8] = b"GNU.sparse.";

pub fn unpack(
    kind: ArchiveKind,
    archive: Bytes,
    files: &mut UnpackedFiles,
    memory: &mut UnpackMemory,
) -> Result<(), Refusal> {
    let archive = Cursor::new(archive);
    let unpacked = match kind {
        ArchiveKind::Gzip => unpack_tar(memory.counted(MultiGzDecoder::new(archive)), files),
        ArchiveKind::Zstd => zstd::stream::read::Decoder::with_buffer(archive)
            .and_then(|tar| unpack_tar(memory.counted(tar), files)),
        ArchiveKind::Tar | ArchiveKind::Zip => unpack_tar(memory.counted(archive), files),
    };
    unpacked.map_err(|error| refusal_behind(&error).unwrap_or_else(|| no_tar(kind, files.entries(), &error)))
}

/// A refusal is inside the error.
fn unpack_tar(tar: impl Read, files: &mut UnpackedFiles) -> io::Result<()> {
    let mut archive = Archive::new(tar);
    for entry in archive.entries()? {
        let mut entry = entry?;
        let Some(kind) = kind_of(&mut entry)? else { continue };
        let name = entry.path_bytes().into_owned();
        if let Some(path) = files.admit(&name, kind).map_err(body::refused)? {
            files.add(path, entry).map_err(body::refused)?;
        }
    }
    // The checksum of the compressed stream is at its end.
    io::copy(&mut archive.into_inner(), &mut io::sink())?;
    Ok(())
}

/// `None` for an entry that only describes others.
fn kind_of<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<Option<EntryKind>> {
    Ok(Some(match entry.header().entry_type() {
        EntryType::XGlobalHeader => return Ok(None),
        EntryType::GNUSparse => EntryKind::Sparse,
        EntryType::Regular if has_sparse_map(entry)? => EntryKind::Sparse,
        EntryType::Regular | EntryType::Continuous if entry.path_bytes().ends_with(b"/") => EntryKind::Folder,
        EntryType::Regular | EntryType::Continuous => EntryKind::File,
        EntryType::Directory => EntryKind::Folder,
        EntryType::Link | EntryType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }))
}

/// Whether only the parts of the file that are not zero are in the archive. The library does not put them
/// together in this format.
fn has_sparse_map<R: Read>(entry: &mut Entry<'_, R>) -> io::Result<bool> {
    let Some(descriptions) = entry.pax_extensions()? else { return Ok(false) };
    // The library cannot read every description, such as those with line breaks. It ignores them, too.
    Ok(descriptions.flatten().any(|description| description.key_bytes().starts_with(PAX_SPARSE)))
}

fn no_tar(kind: ArchiveKind, entries: usize, error: &io::Error) -> Refusal {
    let fault = cut(error);
    if entries > 0 {
        return Refusal::invalid(
            "body",
            format!("is damaged after {entries} entries of the archive: {fault}"),
        );
    }
    let wanted = match kind {
        ArchiveKind::Gzip => "a tar archive compressed with gzip",
        ArchiveKind::Zstd => "a tar archive compressed with zstd",
        ArchiveKind::Tar | ArchiveKind::Zip => "a tar archive",
    };
    Refusal::invalid("body", format!("is not {wanted}: {fault}; send a single page as html"))
}
