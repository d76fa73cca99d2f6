//! Collects the files of a publish. It must never send anything outside of the directory or that its owner
//! would not expect: no `.git`, no hidden files, no targets of links to the outside.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bytes::Bytes;
use domain::{ArchiveKind, FileSet, Refusal, SitePath};
use ignore::DirEntry;

use super::SiteFile;
use super::archive::{ARCHIVE_BYTES_MAX, Archive};
use super::ignored::{IGNORE_FILE, Rules, Selection};
use crate::failure::Failure;

const STANDARD_INPUT: &str = "-";
/// A directory with more entries is surely a mistake.
const ENTRIES_MAX: usize = 20_000;
const HTML: [&str; 2] = ["html", "htm"];

/// What is published.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    Files(Gathered),
    Archive(Archive),
}

/// The files of a site, and the skipped ones that the user might miss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    pub files: Vec<SiteFile>,
    /// With the reason.
    pub skipped: Vec<String>,
    /// Left out by the default rules.
    pub left_out: Vec<String>,
}

/// A file that is not read yet.
struct FoundFile {
    path: SitePath,
    location: PathBuf,
    size_bytes: u64,
    changed_at: Option<SystemTime>,
}

/// The files that a publish sends, before they are read.
struct Found {
    files: Vec<FoundFile>,
    skipped: Vec<String>,
    left_out: Vec<String>,
}

/// The files with their sizes and times. Any change of a file changes it.
#[derive(Debug, PartialEq, Eq)]
pub struct Snapshot(Vec<(PathBuf, u64, Option<SystemTime>)>);

/// Whether the path names standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path == Path::new(STANDARD_INPUT)
}

/// The state of the files that a publish of this path sends.
pub fn snapshot(path: &Path, selection: Selection) -> Result<Snapshot, Failure> {
    let metadata = path.metadata().map_err(|error| unreadable(path, &error))?;
    if !metadata.is_dir() {
        return Ok(Snapshot(vec![(path.to_owned(), metadata.len(), metadata.modified().ok())]));
    }
    let files = find(path, selection)?.files.into_iter();
    Ok(Snapshot(files.map(|file| (file.location, file.size_bytes, file.changed_at)).collect()))
}

/// Reads a file, a directory, an archive or, for `-`, standard input.
pub fn read(path: &Path, selection: Selection) -> Result<Content, Failure> {
    if is_standard_input(path) {
        let bytes = read_bounded(io::stdin().lock(), ARCHIVE_BYTES_MAX);
        let bytes = bytes.map_err(|error| unreadable(path, &error))?;
        return match ArchiveKind::of_content(&bytes) {
            Some(kind) => archive(kind, bytes),
            None => single_file(SitePath::index(), bytes).map(Content::Files),
        };
    }
    let name = path.file_name().and_then(|name| name.to_str()).filter(|_| path.is_file());
    match name.and_then(ArchiveKind::of_name) {
        Some(kind) => archive(kind, read_file(path, ARCHIVE_BYTES_MAX)?),
        None => gather(path, selection).map(Content::Files),
    }
}

fn archive(kind: ArchiveKind, bytes: Bytes) -> Result<Content, Failure> {
    if bytes.len() as u64 > ARCHIVE_BYTES_MAX {
        let limit = format!("an archive has at most {ARCHIVE_BYTES_MAX} bytes");
        return Err(Refusal::PublishTooLarge { limit }.into());
    }
    Ok(Content::Archive(Archive { kind, bytes }))
}

fn gather(path: &Path, selection: Selection) -> Result<Gathered, Failure> {
    let kind = path.metadata().map_err(|error| unreadable(path, &error))?;
    if kind.is_dir() {
        return folder(path, selection);
    }
    let bytes = read_file(path, FileSet::BYTES_MAX)?;
    single_file(name_of_page(path)?, bytes)
}

fn single_file(path: SitePath, bytes: Bytes) -> Result<Gathered, Failure> {
    if bytes.is_empty() {
        let hint = "check that the file was written before it is published";
        return Err(Failure::usage("the file to publish is empty", hint));
    }
    FileSet::default().grow(bytes.len())?;
    Ok(Gathered { files: vec![SiteFile::new(path, bytes)], skipped: vec![], left_out: vec![] })
}

/// An HTML file becomes the front page, whatever its name. Any other file keeps its name.
fn name_of_page(path: &Path) -> Result<SitePath, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if HTML.iter().any(|html| extension.eq_ignore_ascii_case(html)) {
        return Ok(SitePath::index());
    }
    site_path(Path::new(path.file_name().unwrap_or_default()))
}

fn folder(root: &Path, selection: Selection) -> Result<Gathered, Failure> {
    let Found { files, skipped, left_out } = find(root, selection)?;
    check_bounds(root, &files, &left_out)?;
    let files = files.into_iter().map(|FoundFile { path, location, .. }| {
        Ok(SiteFile::new(path, read_file(&location, FileSet::BYTES_MAX)?))
    });
    Ok(Gathered { files: files.collect::<Result<_, Failure>>()?, skipped, left_out })
}

fn find(root: &Path, selection: Selection) -> Result<Found, Failure> {
    // The directory itself may be named by a link.
    let location = root.canonicalize().map_err(|error| unreadable(root, &error))?;
    let rules = Rules::of(&location, selection);
    let (mut files, mut links, mut skipped) = (Vec::new(), Vec::new(), Vec::new());
    for (number, entry) in rules.walk().enumerate() {
        let entry =
            entry.map_err(|error| Failure::of_this_machine(format!("could not read a file: {error}")))?;
        if number >= ENTRIES_MAX {
            return Err(Failure::usage(
                format!("{} contains more than {ENTRIES_MAX} files and folders", root.display()),
                "publish a folder that contains only the site",
            ));
        }
        let Some(kind) = entry.file_type().filter(|kind| !kind.is_dir()) else { continue };
        let path = site_path(entry.path().strip_prefix(&location).unwrap_or(entry.path()))?;
        if kind.is_symlink() {
            links.push((path, entry.into_path()));
        } else if kind.is_file() {
            files.push(measured(path, entry)?);
        } else {
            skipped.push(format!("{path} (not a regular file)"));
        }
    }
    follow_links(links, &mut files, &mut skipped);
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Found { files, skipped, left_out: rules.left_out() })
}

fn measured(path: SitePath, entry: DirEntry) -> Result<FoundFile, Failure> {
    let metadata = entry.metadata().map_err(|error| {
        Failure::of_this_machine(format!("could not read {}: {error}", entry.path().display()))
    })?;
    let (size_bytes, changed_at) = (metadata.len(), metadata.modified().ok());
    Ok(FoundFile { path, location: entry.into_path(), size_bytes, changed_at })
}

/// A link is sent as a file only if its target is sent anyway, so it cannot lead outside or to a skipped
/// file.
fn follow_links(links: Vec<(SitePath, PathBuf)>, found: &mut Vec<FoundFile>, skipped: &mut Vec<String>) {
    if links.is_empty() {
        return;
    }
    let real: Vec<_> = found
        .iter()
        .map(|file| (file.location.canonicalize().ok(), file.size_bytes, file.changed_at))
        .collect();
    for (path, location) in links {
        let target = location.canonicalize().ok();
        match real.iter().find(|(file, ..)| target.is_some() && *file == target) {
            Some((_, size_bytes, changed_at)) => {
                let (size_bytes, changed_at) = (*size_bytes, *changed_at);
                found.push(FoundFile { path, location, size_bytes, changed_at });
            }
            None => skipped.push(format!("{path} (a link to a file that is not sent)")),
        }
    }
}

/// Checks the service's limits before anything is sent.
fn check_bounds(root: &Path, found: &[FoundFile], left_out: &[String]) -> Result<(), Failure> {
    let mut set = FileSet::default();
    for file in found {
        let size = usize::try_from(file.size_bytes).unwrap_or(usize::MAX);
        set.add(&file.path).and_then(|()| set.grow(size)).map_err(|refusal| {
            Failure::from(refusal).hinting(format!(
                "{} has {} files; list files to leave out in {IGNORE_FILE}, or publish a subfolder",
                root.display(),
                found.len()
            ))
        })?;
    }
    if set.is_empty() {
        let message = format!("{} contains nothing to publish", root.display());
        let hint = if left_out.is_empty() {
            format!("files listed in {IGNORE_FILE} are not sent")
        } else {
            "hidden files and node_modules are sent only with --all-files".to_owned()
        };
        return Err(Failure::usage(message, hint));
    }
    Ok(())
}

fn site_path(relative: &Path) -> Result<SitePath, Failure> {
    let parts: Option<Vec<_>> = relative.components().map(|part| part.as_os_str().to_str()).collect();
    let fault = |fault: String| {
        Failure::usage(
            format!("the file name {} {fault}", relative.display()),
            "rename the file, or leave it out",
        )
    };
    let parts = parts.ok_or_else(|| fault("is not valid UTF-8".to_owned()))?;
    parts.join("/").parse().map_err(|malformed| fault(format!("{malformed}")))
}

fn read_file(path: &Path, bytes_max: u64) -> Result<Bytes, Failure> {
    let file = File::open(path).map_err(|error| unreadable(path, &error))?;
    read_bounded(file, bytes_max).map_err(|error| unreadable(path, &error))
}

/// Reads at most one byte more than the limit. A file with that byte is then refused.
fn read_bounded(source: impl Read, bytes_max: u64) -> io::Result<Bytes> {
    let mut bytes = Vec::new();
    source.take(bytes_max + 1).read_to_end(&mut bytes)?;
    Ok(bytes.into())
}

fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let hint = "give a file, a folder, an archive, or - for standard input";
    Failure::usage(format!("could not read {}: {error}", path.display()), hint)
}

#[cfg(test)]
mod tests;
