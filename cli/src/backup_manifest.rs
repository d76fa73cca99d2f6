//! The manifest of a backup. It is written last, so a directory without it is not a backup. A restore checks
//! everything against it first.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use domain::{BlobHash, BlobHasher, VersionId};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::TableCount;

use crate::progress::{count, size};

const NAME: &str = "manifest.json";
const READ_AT_ONCE_BYTES: usize = 256 * 1024;
/// Enough for thousands of spooled uploads and lost contents.
const MANIFEST_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The paths of a backup's parts.
pub(crate) struct Layout(PathBuf);

impl Layout {
    pub(crate) fn of(folder: &Path) -> Self {
        Self(folder.to_owned())
    }

    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("handbill.db")
    }

    pub(crate) fn queue(&self) -> PathBuf {
        self.0.join("queue.db")
    }

    pub(crate) fn secret(&self) -> PathBuf {
        self.0.join("signing-secret")
    }

    /// A blob store with the contents and the spool.
    pub(crate) fn objects(&self) -> PathBuf {
        self.0.join("blobs")
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct BackupManifest {
    /// The version of the program.
    pub(crate) handbill: String,
    /// The newest applied migration.
    pub(crate) schema: String,
    pub(crate) taken_at: String,
    /// Files by their paths in the directory: the databases, the secret and the spooled uploads. Contents are
    /// not listed, because their names are their hashes.
    pub(crate) files: BTreeMap<String, KeptFile>,
    pub(crate) rows: BTreeMap<String, u64>,
    pub(crate) contents: KeptContents,
    /// Contents that the database refers to and that the blob store had already lost.
    pub(crate) lost: Vec<BlobHash>,
    /// Spooled uploads that could not be read. Their publishes were not confirmed to anybody.
    #[serde(default)]
    pub(crate) unread_uploads: Vec<VersionId>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptFile {
    pub(crate) size_bytes: u64,
    pub(crate) sha256: BlobHash,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeptContents {
    pub(crate) count: u64,
    /// Including encodings.
    pub(crate) size_bytes: u64,
}

impl BackupManifest {
    pub(crate) fn read(folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(NAME);
        let file = File::open(&path).with_context(|| {
            format!(
                "{} is not a complete backup: it has no {NAME}; take another with `handbill backup`",
                folder.display()
            )
        })?;
        let mut text = String::new();
        file.take(MANIFEST_BYTES_MAX)
            .read_to_string(&mut text)
            .with_context(|| format!("read {}", path.display()))?;
        serde_json::from_str(&text).with_context(|| format!("read {}", path.display()))
    }

    /// How much the backup has, for people.
    pub(crate) fn counts_text(&self) -> String {
        format!(
            "{}, {}, {} ({})",
            count(self.rows_of("accounts"), "account", "accounts"),
            count(self.rows_of("versions"), "version", "versions"),
            count(self.contents.count, "content", "contents"),
            size(self.contents.size_bytes),
        )
    }

    /// The same for programs, with what the backup lacks.
    pub(crate) fn summary(&self) -> Value {
        json!({
            "taken_at": self.taken_at,
            "accounts": self.rows_of("accounts"),
            "versions": self.rows_of("versions"),
            "contents": self.contents.count,
            "size_bytes": self.contents.size_bytes,
            "lost": self.lost,
            "unread_uploads": self.unread_uploads,
        })
    }

    fn rows_of(&self, table: &str) -> u64 {
        self.rows.get(table).copied().unwrap_or_default()
    }

    pub(crate) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(NAME);
        let text = serde_json::to_string_pretty(self)?;
        let written = (|| {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path)?;
            writeln!(file, "{text}")?;
            file.sync_all()?;
            File::open(folder)?.sync_all()
        })();
        written.with_context(|| format!("write {}", path.display()))
    }

    /// Flushes a file of the directory to disk and adds it as it is now. It must not change afterwards.
    pub(crate) fn add_file(&mut self, folder: &Path, path: &Path) -> anyhow::Result<()> {
        let name = path.strip_prefix(folder).context("a file of the backup is outside of it")?;
        let synced = File::open(path).and_then(|file| file.sync_all());
        synced.with_context(|| format!("flush {} to disk", path.display()))?;
        self.files.insert(name.display().to_string(), digest_of(path)?);
        Ok(())
    }

    /// Fails unless every file is unchanged.
    pub(crate) fn check_files(&self, folder: &Path) -> anyhow::Result<()> {
        for (name, kept) in &self.files {
            let found = digest_of(&folder.join(name))
                .context("the backup is damaged: a file cannot be read; take another backup")?;
            ensure!(
                found == *kept,
                "the backup is damaged: {name} does not match its manifest; take another backup"
            );
        }
        Ok(())
    }

    /// Fails unless every table has as many rows as recorded.
    pub(crate) fn check_rows(&self, counts: &[TableCount]) -> anyhow::Result<()> {
        for (table, rows) in &self.rows {
            match counts.iter().find(|count| count.table == table) {
                Some(count) if count.rows == *rows => {}
                Some(count) => {
                    bail!("the table {table} has {} rows, but the manifest says {rows}", count.rows)
                }
                None => bail!("the manifest contains a table {table} that this program does not know"),
            }
        }
        Ok(())
    }
}

/// Reads a file whole.
fn digest_of(path: &Path) -> anyhow::Result<KeptFile> {
    let digest = (|| {
        let mut file = File::open(path)?;
        let (mut hasher, mut size_bytes) = (BlobHasher::default(), 0);
        let mut buffer = vec![0; READ_AT_ONCE_BYTES];
        loop {
            match file.read(&mut buffer)? {
                0 => return std::io::Result::Ok(KeptFile { size_bytes, sha256: hasher.finish() }),
                read => {
                    hasher.take(&buffer[..read]);
                    size_bytes += read as u64;
                }
            }
        }
    })();
    digest.with_context(|| format!("read {}", path.display()))
}

/// Copies a file with permissions for its owner only, and flushes it to disk.
pub(crate) fn copy_private(from: &Path, to: &Path) -> anyhow::Result<()> {
    let copied = (|| {
        let mut target = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to)?;
        std::io::copy(&mut File::open(from)?, &mut target)?;
        target.sync_all()
    })();
    copied.with_context(|| format!("copy {} to {}", from.display(), to.display()))
}

/// Whether a directory is empty or does not exist.
pub(crate) fn is_empty(folder: &Path) -> anyhow::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(true),
        Err(error) => Err(error).with_context(|| format!("read the directory {}", folder.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest() -> BackupManifest {
        BackupManifest {
            handbill: "0.1.0".into(),
            schema: "m0001_the_house".into(),
            taken_at: "2026-01-01T00:00:00Z".into(),
            files: BTreeMap::new(),
            rows: [("accounts".to_owned(), 2)].into(),
            contents: KeptContents { count: 1, size_bytes: 5 },
            lost: vec![BlobHash::of(b"lost")],
            unread_uploads: Vec::new(),
        }
    }

    #[test]
    fn only_changed_backup_files_are_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queue.db");
        fs::write(&path, "one").unwrap();
        let mut manifest = manifest();
        manifest.add_file(folder.path(), &path).unwrap();
        manifest.write(folder.path()).unwrap();
        let read = BackupManifest::read(folder.path()).unwrap();
        read.check_files(folder.path()).unwrap();
        fs::remove_file(&path).unwrap();
        let gone = format!("{:#}", read.check_files(folder.path()).unwrap_err());
        assert!(gone.contains("the backup is damaged") && gone.contains("queue.db"), "{gone}");
        for changed in ["two", "one more", ""] {
            fs::write(&path, changed).unwrap();
            let refused = read.check_files(folder.path()).unwrap_err().to_string();
            assert!(refused.contains("queue.db"), "{refused}");
        }
    }

    #[test]
    fn changed_table_is_reported() {
        let counts = |rows| [TableCount { table: "accounts", rows }];
        assert!(manifest().check_rows(&counts(2)).is_ok());
        assert!(manifest().check_rows(&counts(1)).is_err());
        assert!(manifest().check_rows(&[]).is_err());
    }

    #[test]
    fn a_folder_without_a_manifest_is_no_backup() {
        let folder = tempfile::tempdir().unwrap();
        assert!(is_empty(folder.path()).unwrap() && is_empty(&folder.path().join("none")).unwrap());
        let refused = format!("{:#}", BackupManifest::read(folder.path()).unwrap_err());
        assert!(refused.contains("no manifest.json"), "{refused}");
    }
}
