//! The content of a publish in transit: in the job while small, in the spool while large.
//!
//! A job loses its content when it is done (`workers/src/acknowledgements.rs`).

use anyhow::{Context, bail, ensure};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use bytes::{Bytes, BytesMut};
use domain::{Content, PublishJob, SitePath, SpooledFile};

use crate::UploadedFile;

/// Content up to this size is stored in the job. A spooled object takes three requests to the object store. A
/// job of this size takes 1 MB of a worker's memory, and each of its slots may have one.
pub(crate) const INLINE_BYTES_MAX: usize = 256 * 1024;

pub(crate) fn encode(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The content of a job, if the job holds it.
pub(crate) fn inline(job: &PublishJob) -> anyhow::Result<Option<Bytes>> {
    match &job.content {
        Content::Inline(text) => Ok(Some(STANDARD.decode(text).context("decode a job's content")?.into())),
        Content::Spooled => Ok(None),
        Content::Removed => bail!("the job was done, and its content is removed"),
    }
}

/// The files, concatenated.
pub(crate) fn joined(mut files: Vec<UploadedFile>) -> Bytes {
    if files.len() == 1 {
        return files.pop().map(|file| file.bytes).unwrap_or_default();
    }
    let mut bytes = BytesMut::with_capacity(files.iter().map(|file| file.bytes.len()).sum());
    for file in &files {
        bytes.extend_from_slice(&file.bytes);
    }
    bytes.freeze()
}

/// The path and size of each file, in the order of the content.
pub(crate) fn file_list(files: &[UploadedFile]) -> Vec<SpooledFile> {
    let entry =
        |file: &UploadedFile| SpooledFile { path: file.path.clone(), size_bytes: file.bytes.len() as u64 };
    files.iter().map(entry).collect()
}

/// Splits the content into its files.
pub(crate) fn split(list: &[SpooledFile], mut content: Bytes) -> anyhow::Result<Vec<(SitePath, Bytes)>> {
    let mut files = Vec::with_capacity(list.len());
    for file in list {
        let size = usize::try_from(file.size_bytes)?;
        ensure!(size <= content.len(), "the content is shorter than its files");
        files.push((file.path.clone(), content.split_to(size)));
    }
    ensure!(content.is_empty(), "the content is longer than its files");
    Ok(files)
}
