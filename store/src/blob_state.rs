//! The states of blobs and bundles in the database.

/// Whether a publish may rely on a blob or a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BlobState {
    Present,
    /// A sweep is deleting it.
    Deleting,
}

impl BlobState {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            BlobState::Present => "present",
            BlobState::Deleting => "deleting",
        }
    }
}
