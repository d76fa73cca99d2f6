//! The files of a publish or a check: reads them, and says which are sent and which are not.

use std::path::{Path, PathBuf};

use domain::SitePath;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{bytes, count, harmless};
use crate::upload::{Content, Gathered, IGNORE_FILE, Selection, SiteFile, Snapshot, read, snapshot};

/// How many files a note about left out files names.
const LEFT_OUT_NAMED_MAX: usize = 5;

/// Reads the files on another thread, so that Ctrl-C works while standard input is open.
pub async fn read_on_thread(path: PathBuf, selection: Selection) -> Result<Content, Failure> {
    let content = tokio::task::spawn_blocking(move || read(&path, selection)).await;
    content.map_err(|error| Failure::of_this_machine(format!("could not read the files: {error}")))?
}

/// The paths of the files, as far as they are known before an archive is unpacked.
pub fn paths_in(content: &Content) -> Vec<SitePath> {
    match content {
        Content::Files(gathered) => gathered.files.iter().map(|file| file.path.clone()).collect(),
        Content::Archive(_) => Vec::new(),
    }
}

pub fn show_content(context: &Context, content: &Content) {
    match content {
        Content::Files(gathered) => show_files(context, gathered),
        Content::Archive(archive) => {
            context.console.note(&format!("  {:>9}  in an archive", bytes(archive.bytes.len() as u64)));
        }
    }
}

fn show_files(context: &Context, gathered: &Gathered) {
    let total: u64 = gathered.files.iter().map(|file| file.bytes.len() as u64).sum();
    for SiteFile { path, bytes: content, .. } in &gathered.files {
        context.console.note(&format!("  {:>9}  {path}", bytes(content.len() as u64)));
    }
    if gathered.files.len() > 1 {
        let files = count(gathered.files.len() as u64, "file", "files");
        context.console.note(&format!("  {:>9}  in {files}", bytes(total)));
    }
    show_left_out(context, gathered);
}

/// Says which files are not sent, except for those that `.handbillignore` lists.
pub fn show_left_out(context: &Context, gathered: &Gathered) {
    for skipped in &gathered.skipped {
        context.console.warn(&format!("skipped: {skipped}"));
    }
    let Gathered { left_out, .. } = gathered;
    if left_out.is_empty() {
        return;
    }
    let named: Vec<_> = left_out.iter().take(LEFT_OUT_NAMED_MAX).map(|path| harmless(path)).collect();
    let more = match left_out.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    context.console.note(&format!(
        "Left out: {}{more}. --all-files or a line such as `!{}` in {IGNORE_FILE} sends them.",
        named.join(", "),
        named[0]
    ));
}

/// Takes a snapshot on another thread, so that Ctrl-C works meanwhile.
pub async fn snapshot_on_thread(path: &Path, selection: Selection) -> Result<Snapshot, Failure> {
    let path = path.to_owned();
    let taken = tokio::task::spawn_blocking(move || snapshot(&path, selection)).await;
    taken.map_err(|error| Failure::of_this_machine(format!("could not read the files: {error}")))?
}
