//! An archive of a site. It is read to its end and then unpacked on a blocking thread. The sizes that an
//! archive declares are not trusted: its bytes and files are counted while it is unpacked, and the first byte
//! or file over a limit ends the unpacking.

mod tarball;
#[cfg(test)]
mod tests;
mod unpacking;
mod zipped;

use bytes::Bytes;
use domain::Refusal;
use service::{SitePlan, UploadedFile};

use super::Uploaded;
use super::query::NamedUpload;
use super::whole_body::{ReadBody, WholeBody, on_blocking_thread};
use crate::http::publish_type::ArchiveKind;
use crate::http::upload_budget::HeldMemory;
pub use unpacking::without_common_folder;
use unpacking::{UnpackMemory, UnpackedFiles};
pub use zipped::NO_ZIP;

/// An archive that has not been read yet.
pub struct ArchiveUpload {
    pub kind: ArchiveKind,
    pub body: WholeBody,
}

impl ArchiveUpload {
    /// Reads the body without a permit, as a form is read, and unpacks it.
    pub async fn read(self, named: NamedUpload) -> Result<Uploaded, Refusal> {
        let share = self.body.share.clone();
        let ReadBody { bytes, memory: packed_memory } = self.body.read(|_| Ok(())).await?;
        let (files, memory) = unpack(self.kind, bytes, share.enter()).await?;
        drop(packed_memory);
        let NamedUpload { slug, message } = named;
        let site = SitePlan::of_files(files);
        Ok(Uploaded { slug, message, expected_version: None, site, memory })
    }
}

/// Unpacks an archive that is in memory. The files are counted in `memory`, which is returned with them.
pub async fn unpack(
    kind: ArchiveKind,
    archive: Bytes,
    memory: HeldMemory,
) -> Result<(Vec<UploadedFile>, HeldMemory), Refusal> {
    let mut memory = UnpackMemory::new(memory);
    on_blocking_thread(move || {
        let mut files = UnpackedFiles::default();
        match kind {
            ArchiveKind::Zip => zipped::unpack(archive, &mut files, &mut memory)?,
            kind => tarball::unpack(kind, archive, &mut files, &mut memory)?,
        }
        Ok((files.finish()?, memory.into_held()))
    })
    .await
}
