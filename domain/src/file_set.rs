//! The rules for the files of one publish: their number, their total size, and unique paths. It counts and
//! does not hold the bytes.

use std::collections::BTreeSet;

use crate::{Refusal, SitePath};

/// Checks the files of one publish as they arrive, through whichever interface.
///
/// It counts while the files are read, so that reading can stop at the first byte too many.
#[derive(Debug, Default)]
pub struct FileSet {
    paths: BTreeSet<String>,
    folders: BTreeSet<String>,
    total_bytes: u64,
}

impl FileSet {
    pub const FILES_MAX: usize = 50;
    /// 10 MB: 10 × 1,048,576 bytes of file content.
    pub const BYTES_MAX: u64 = 10 * 1_048_576;

    /// Adds a file, or refuses it because of the others.
    pub fn add(&mut self, path: &SitePath) -> Result<(), Refusal> {
        if self.paths.len() == Self::FILES_MAX {
            return Err(Refusal::PublishTooLarge {
                limit: format!("a publish has at most {} files", Self::FILES_MAX),
            });
        }
        if self.paths.contains(path.as_str()) {
            return Err(Refusal::invalid("files", format!("the file path {:?} occurs twice", path.as_str())));
        }
        self.refuse_clash(path)?;
        self.folders.extend(path.folders().map(str::to_owned));
        self.paths.insert(path.as_str().to_owned());
        Ok(())
    }

    /// Counts content of the last file.
    pub fn grow(&mut self, bytes: usize) -> Result<(), Refusal> {
        self.total_bytes = self.total_bytes.saturating_add(bytes as u64);
        if self.total_bytes > Self::BYTES_MAX {
            return Err(Refusal::PublishTooLarge {
                limit: format!("a publish has at most {} bytes of file content (10 MB)", Self::BYTES_MAX),
            });
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    // A path cannot be both a file and a folder: `a` and `a/b` cannot both be served.
    fn refuse_clash(&self, path: &SitePath) -> Result<(), Refusal> {
        let clash = if self.folders.contains(path.as_str()) {
            Some(path.as_str())
        } else {
            path.folders().find(|folder| self.paths.contains(*folder))
        };
        match clash {
            Some(name) => Err(Refusal::invalid("files", format!("{name:?} is both a file and a folder"))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add_all(paths: &[&str]) -> Result<(), Refusal> {
        let mut files = FileSet::default();
        paths.iter().try_for_each(|path| files.add(&path.parse().unwrap()))
    }

    #[test]
    fn a_name_is_a_file_or_a_folder_but_not_both_in_either_order() {
        assert_eq!(add_all(&["a/b", "a/c/d", "ab", "index.html"]), Ok(()));
        for clash in [["a", "a/b"], ["a/b", "a"], ["a/b/c", "a/b"], ["a", "a/b/c"]] {
            let refusal = add_all(&clash).unwrap_err();
            assert!(refusal.message().contains("both a file and a folder"), "{clash:?}: {refusal}");
        }
    }

    #[test]
    fn a_path_occurs_once() {
        assert_eq!(add_all(&["a", "b", "a"]).unwrap_err().code(), "invalid_request");
    }

    #[test]
    fn file_set_holds_at_most_fifty_files() {
        let mut files = FileSet::default();
        for number in 0..FileSet::FILES_MAX {
            files.add(&format!("{number}.txt").parse().unwrap()).unwrap();
        }
        let refused = files.add(&"one-more.txt".parse().unwrap()).unwrap_err();
        assert_eq!(refused.code(), "too_large");
        assert!(refused.hint().contains("replaces all files of its slug"), "{}", refused.hint());
    }

    #[test]
    fn file_set_holds_at_most_ten_megabytes() {
        let mut files = FileSet::default();
        assert!(files.is_empty());
        files.add(&"big.bin".parse().unwrap()).unwrap();
        files.grow(FileSet::BYTES_MAX as usize).unwrap();
        assert_eq!(files.grow(1).unwrap_err().code(), "too_large");
    }
}
