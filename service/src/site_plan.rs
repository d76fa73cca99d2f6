//! The site of a publish as a request describes it: files with their content, files whose content the account
//! already holds, and another version that the site is made from.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use bytes::Bytes;
use domain::{BlobHash, Manifest, ManifestFile, Refusal, SitePath, VersionChoice};

/// A path from the client is quoted up to this length.
const QUOTED_LENGTH_MAX: usize = SitePath::LENGTH_MAX;

/// The site of a publish.
#[derive(Clone, Debug, Default)]
pub struct SitePlan {
    /// Each path once, in the order of the request.
    pub files: Vec<PlannedFile>,
    pub base: Option<SiteBase>,
}

#[derive(Clone, Debug)]
pub struct PlannedFile {
    pub path: SitePath,
    pub source: FileSource,
}

/// Where the content of a file comes from.
#[derive(Clone, Debug)]
pub enum FileSource {
    Sent(Bytes),
    Stored(StoredContent),
}

/// A content that the account already holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredContent {
    pub hash: BlobHash,
    /// The size that the client states.
    pub size_bytes: Option<u64>,
}

#[derive(Clone, Debug)]
pub struct UploadedFile {
    pub path: SitePath,
    pub bytes: Bytes,
}

/// The version that a site is made from.
#[derive(Clone, Debug)]
pub struct SiteBase {
    pub version: VersionChoice,
    /// The paths that the new site does not have.
    pub deleted: Vec<String>,
}

/// The digest of a plan with a base.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation(pub(crate) String);

/// The live version that a site was made from, and the plan to make it again from a newer one.
#[derive(Clone, Debug)]
pub struct LiveBase {
    pub(crate) seq: u32,
    pub(crate) plan: SitePlan,
}

impl SitePlan {
    /// A site whose files are all sent.
    pub fn of_files(files: Vec<UploadedFile>) -> Self {
        let planned =
            |file: UploadedFile| PlannedFile { path: file.path, source: FileSource::Sent(file.bytes) };
        Self { files: files.into_iter().map(planned).collect(), base: None }
    }

    /// Whether every content is sent.
    pub fn is_complete(&self) -> bool {
        self.base.is_none() && self.files.iter().all(|file| matches!(file.source, FileSource::Sent(_)))
    }

    /// The files whose content is sent.
    pub fn into_sent_files(self) -> Vec<UploadedFile> {
        let sent = |file: PlannedFile| match file.source {
            FileSource::Sent(bytes) => Some(UploadedFile { path: file.path, bytes }),
            FileSource::Stored(_) => None,
        };
        self.files.into_iter().filter_map(sent).collect()
    }

    /// What the request asks for, if the site is made from another version. The order of files and paths does
    /// not matter, nor whether a file is sent or given by its hash.
    pub(crate) fn derivation(&self) -> Option<Derivation> {
        let base = self.base.as_ref()?;
        let mut files: Vec<_> = self.files.iter().map(|file| (&file.path, file.source.hash())).collect();
        files.sort_unstable();
        let mut digest = match base.version {
            VersionChoice::Live => "base\0live\0".to_owned(),
            VersionChoice::Numbered(seq) => format!("base\0{seq}\0"),
        };
        // Writing to a string cannot fail.
        for path in base.deleted.iter().collect::<BTreeSet<_>>() {
            let _ = write!(digest, "delete\0{path}\0");
        }
        for (path, hash) in files {
            let _ = write!(digest, "file\0{path}\0{hash}\0");
        }
        Some(Derivation(digest))
    }

    /// The files of the site, given the files of its base, ordered by path.
    pub(crate) fn merged_with(self, manifest: &Manifest) -> Result<Vec<PlannedFile>, Refusal> {
        let deleted = self.base.map(|base| base.deleted).unwrap_or_default();
        let mut gone = BTreeSet::new();
        for path in &deleted {
            if manifest.find(path).is_none() {
                return Err(refused_deletion(path, "is not in the base"));
            }
            if self.files.iter().any(|file| file.path.as_str() == path) {
                return Err(refused_deletion(path, "is also in files; send it in one of them"));
            }
            if !gone.insert(path.as_str()) {
                return Err(refused_deletion(path, "occurs twice"));
            }
        }
        let given: BTreeSet<&str> = self.files.iter().map(|file| file.path.as_str()).collect();
        let is_kept =
            |file: &&ManifestFile| !gone.contains(file.path.as_str()) && !given.contains(file.path.as_str());
        let kept: Vec<_> = manifest.files().iter().filter(is_kept).map(PlannedFile::of_version).collect();
        let mut files = self.files;
        files.extend(kept);
        files.sort_by(|one, other| one.path.cmp(&other.path));
        if files.is_empty() {
            return Err(Refusal::invalid("delete", "leaves no file; a site has at least one"));
        }
        Ok(files)
    }
}

impl PlannedFile {
    /// A file of another version.
    pub(crate) fn of_version(file: &ManifestFile) -> Self {
        let content = StoredContent { hash: file.hash, size_bytes: None };
        Self { path: file.path.clone(), source: FileSource::Stored(content) }
    }
}

impl FileSource {
    fn hash(&self) -> BlobHash {
        match self {
            FileSource::Sent(bytes) => BlobHash::of(bytes),
            FileSource::Stored(content) => content.hash,
        }
    }
}

fn refused_deletion(path: &str, fault: &str) -> Refusal {
    let path: String = path.chars().take(QUOTED_LENGTH_MAX).collect();
    Refusal::invalid("delete", format!("the file path {path:?} {fault}"))
}
