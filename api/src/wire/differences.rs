//! The differences between two versions in responses.

use poem_openapi::{Enum, Object};
use service::FileDifference;

/// Two versions of an artifact and the files that differ between them.
#[derive(Debug, Object)]
pub struct Differences {
    /// The `seq` of the version to compare from.
    pub from: u32,
    /// The `seq` of the version to compare with.
    pub to: u32,
    /// The files that differ, ordered by path.
    pub files: Vec<ChangedFile>,
}

/// A file that differs between two versions.
#[derive(Debug, Object)]
pub struct ChangedFile {
    pub path: String,
    pub change: FileChange,
    /// The size in `from`. Null if the file was added.
    #[oai(nullable)]
    pub size_before: Option<u64>,
    /// The size in `to`. Null if the file was removed.
    #[oai(nullable)]
    pub size_after: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Enum)]
#[oai(rename_all = "lowercase")]
pub enum FileChange {
    Added,
    Removed,
    Changed,
}

impl From<&service::Differences> for Differences {
    fn from(differences: &service::Differences) -> Self {
        let service::Differences { from, to, files } = differences;
        Self { from: *from, to: *to, files: files.iter().map(ChangedFile::from).collect() }
    }
}

impl From<&FileDifference> for ChangedFile {
    fn from(FileDifference { path, before, after }: &FileDifference) -> Self {
        let change = match (before, after) {
            (None, _) => FileChange::Added,
            (_, None) => FileChange::Removed,
            _ => FileChange::Changed,
        };
        let [size_before, size_after] = [before, after].map(|file| file.as_ref().map(|file| file.size_bytes));
        Self { path: path.to_string(), change, size_before, size_after }
    }
}
