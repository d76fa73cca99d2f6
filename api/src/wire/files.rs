//! The files of a version in responses.

use poem_openapi::Object;

/// A file of a version.
#[derive(Debug, Object)]
pub struct VersionFile {
    /// The path in the site.
    pub path: String,
    pub size_bytes: u64,
    pub content_type: String,
    /// The SHA-256 of the content, in hexadecimal.
    pub sha256: String,
}

/// A version and its files.
#[derive(Debug, Object)]
pub struct VersionFiles {
    /// The version's `seq`.
    pub version: u32,
    /// The files, ordered by path.
    pub files: Vec<VersionFile>,
}

/// Lines of a text file.
#[derive(Debug, Object)]
pub struct FileText {
    pub path: String,
    /// The `seq` of the version that the file is in.
    pub version: u32,
    pub content_type: String,
    /// The size of the whole file.
    pub size_bytes: u64,
    /// The number of lines of the whole file.
    pub line_count: u64,
    /// The first line of `content`, counted from 1.
    pub from_line: u64,
    /// The last line of `content`.
    pub to_line: u64,
    pub content: String,
    /// Whether `content` has less than the lines that were asked for.
    pub truncated: bool,
}

impl From<&domain::ManifestFile> for VersionFile {
    fn from(file: &domain::ManifestFile) -> Self {
        Self {
            path: file.path.to_string(),
            size_bytes: file.size_bytes,
            content_type: file.content_type.clone(),
            sha256: file.hash.to_string(),
        }
    }
}

impl From<&service::VersionFiles> for VersionFiles {
    fn from(files: &service::VersionFiles) -> Self {
        Self { version: files.seq, files: files.manifest.files().iter().map(VersionFile::from).collect() }
    }
}
