//! A version as an archive, for its account. The same version gives the same bytes: the entries are sorted,
//! have one constant time and no owner.

use std::io::{self, Cursor, Read, Write};

use anyhow::Context;
use bytes::Bytes;
use domain::{BlobHash, ManifestFile, SitePath};
use flate2::Compression;
use flate2::write::GzEncoder;
use futures::{StreamExt, TryStreamExt, stream};
use store::ContentAddress;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::compute::compute_long;
use crate::{Service, ServiceResult, VersionFiles};

/// Contents that are read at a time.
const READS_AT_ONCE: usize = 8;
const FILE_MODE: u32 = 0o644;
/// 1980-01-01, the earliest time of a zip archive, in seconds since 1970.
const MODIFIED_AT: u64 = 315_532_800;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    Zip,
    TarGz,
}

/// A version in one file.
#[derive(Clone, Debug)]
pub struct SiteArchive {
    pub bytes: Bytes,
    /// The digest of the archive itself.
    pub hash: BlobHash,
}

impl Service {
    /// Packs the files of a version that the caller has found. The caller has reserved memory for the
    /// contents and for the archive, which is about as large at most.
    pub async fn archive(&self, files: &VersionFiles, format: ArchiveFormat) -> ServiceResult<SiteArchive> {
        let manifest = &files.manifest;
        let reads = manifest.files().to_vec().into_iter().map(|file| self.packed(file));
        let contents: Vec<(SitePath, Bytes)> =
            stream::iter(reads).buffered(READS_AT_ONCE).try_collect().await?;
        let pack = move || {
            let bytes = Bytes::from(match format {
                ArchiveFormat::Zip => zip(&contents)?,
                ArchiveFormat::TarGz => tar_gz(&contents)?,
            });
            anyhow::Ok(SiteArchive { hash: BlobHash::of(&bytes), bytes })
        };
        Ok(compute_long(pack).await?.context("pack a version")?)
    }

    async fn packed(&self, file: ManifestFile) -> anyhow::Result<(SitePath, Bytes)> {
        let bytes = self.contents().read(ContentAddress::of(&file), 0..file.size_bytes).await?;
        Ok((file.path, bytes))
    }
}

fn zip(files: &[(SitePath, Bytes)]) -> anyhow::Result<Vec<u8>> {
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .last_modified_time(DateTime::DEFAULT)
        .unix_permissions(FILE_MODE);
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, content) in files {
        archive.start_file(path.as_str(), options)?;
        archive.write_all(content)?;
    }
    Ok(archive.finish()?.into_inner())
}

fn tar_gz(files: &[(SitePath, Bytes)]) -> anyhow::Result<Vec<u8>> {
    let mut archive = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    for (path, content) in files {
        add_to_tar(&mut archive, path.as_str(), content.len() as u64, &content[..])?;
    }
    Ok(archive.into_inner()?.finish()?)
}

/// Adds a file of this size. The same file gives the same bytes.
pub(crate) fn add_to_tar(
    archive: &mut tar::Builder<impl Write>,
    path: &str,
    size_bytes: u64,
    content: impl Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(size_bytes);
    header.set_mode(FILE_MODE);
    header.set_mtime(MODIFIED_AT);
    header.set_uid(0);
    header.set_gid(0);
    archive.append_data(&mut header, path, content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_files_give_the_same_archive() {
        let long = format!("{}/ü.txt", "folder/".repeat(30).trim_end_matches('/'));
        let files: Vec<(SitePath, Bytes)> =
            ["a.txt", &long].map(|path| (path.parse().unwrap(), Bytes::from(path.to_owned()))).into();
        for pack in [zip, tar_gz] {
            assert_eq!(pack(&files).unwrap(), pack(&files).unwrap());
        }
        let mut unpacked =
            tar::Archive::new(flate2::read::GzDecoder::new(Cursor::new(tar_gz(&files).unwrap())));
        let entries = unpacked.entries().unwrap().map(Result::unwrap);
        let names: Vec<String> = entries
            .map(|entry| {
                assert_eq!(
                    (entry.header().mtime().unwrap(), entry.header().uid().unwrap()),
                    (MODIFIED_AT, 0)
                );
                entry.path().unwrap().to_str().unwrap().to_owned()
            })
            .collect();
        assert_eq!(names, ["a.txt", long.as_str()]);
        let unzipped = zip::ZipArchive::new(Cursor::new(zip(&files).unwrap())).unwrap();
        let names: Vec<_> = unzipped.file_names().map(Result::unwrap).collect();
        assert_eq!(names, ["a.txt", long.as_str()]);
    }
}
