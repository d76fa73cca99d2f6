//! Which entries of a folder are left out: what nobody publishes on purpose, unless the folder's
//! `.handbillignore` or `--all-files` says otherwise.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::Gitignore;
use ignore::{DirEntry, WalkBuilder};

/// Lists files to leave out, in the syntax of `.gitignore`. `!` keeps a file that would be left out.
pub const IGNORE_FILE: &str = ".handbillignore";
/// Remembers the page of a folder.
pub const STATE_FILE: &str = ".handbill.json";
/// Never sent: the history of the source code, and the files of this program.
const NEVER_SENT: [&str; 5] = [".git", ".hg", ".svn", IGNORE_FILE, STATE_FILE];
/// The one hidden directory that belongs to a site.
const WELL_KNOWN: &str = ".well-known";
const DEPENDENCIES: &str = "node_modules";

/// Whether the files are sent that are left out by default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    Usual,
    AllFiles,
}

impl Selection {
    pub fn of(all_files: bool) -> Self {
        if all_files { Selection::AllFiles } else { Selection::Usual }
    }
}

/// The rules of a folder, and what its default rules have left out.
pub struct Rules {
    root: PathBuf,
    selection: Selection,
    ignore_files: Mutex<HashMap<PathBuf, Arc<Gitignore>>>,
    left_out: Mutex<Vec<String>>,
}

impl Rules {
    pub fn of(root: &Path, selection: Selection) -> Arc<Self> {
        let (ignore_files, left_out) = (Mutex::default(), Mutex::default());
        Arc::new(Self { root: root.to_owned(), selection, ignore_files, left_out })
    }

    /// The entries that are sent.
    pub fn walk(self: &Arc<Self>) -> ignore::Walk {
        let rules = self.clone();
        WalkBuilder::new(&self.root)
            .standard_filters(false)
            .filter_entry(move |entry| entry.depth() == 0 || rules.sends(entry))
            .build()
    }

    /// What the default rules have left out so far. A folder ends in a slash.
    pub fn left_out(&self) -> Vec<String> {
        let mut left_out = self.left_out.lock().unwrap_or_else(PoisonError::into_inner).clone();
        left_out.sort();
        left_out
    }

    fn sends(&self, entry: &DirEntry) -> bool {
        let name = entry.file_name();
        if NEVER_SENT.iter().any(|never| name == *never) {
            return false;
        }
        let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
        if let Some(is_sent) = self.in_ignore_files(entry, is_folder) {
            return is_sent;
        }
        let is_hidden = name != WELL_KNOWN && name.as_encoded_bytes().starts_with(b".");
        let is_left_out = self.selection == Selection::Usual && (is_hidden || name == DEPENDENCIES);
        if is_left_out {
            let path = entry.path().strip_prefix(&self.root).unwrap_or(entry.path()).display();
            let path = format!("{path}{}", if is_folder { "/" } else { "" });
            self.left_out.lock().unwrap_or_else(PoisonError::into_inner).push(path);
        }
        !is_left_out
    }

    /// What the closest ignore file with a matching line says.
    fn in_ignore_files(&self, entry: &DirEntry, is_folder: bool) -> Option<bool> {
        let folders = entry.path().ancestors().skip(1).take(entry.depth());
        for folder in folders {
            let matched = self.ignore_file_of(folder);
            let matched = matched.matched(entry.path(), is_folder);
            if !matched.is_none() {
                return Some(matched.is_whitelist());
            }
        }
        None
    }

    fn ignore_file_of(&self, folder: &Path) -> Arc<Gitignore> {
        let mut known = self.ignore_files.lock().unwrap_or_else(PoisonError::into_inner);
        let read = || {
            let path = folder.join(IGNORE_FILE);
            // A malformed line is ignored, as by git.
            Arc::new(if path.is_file() { Gitignore::new(path).0 } else { Gitignore::empty() })
        };
        known.entry(folder.to_owned()).or_insert_with(read).clone()
    }
}
