//! Collects the files of a publish. It must never send anything outside of the directory or that its owner
//! would not expect: no `.git`, no hidden files, no targets of links to the outside.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use domain::{ArchiveKind, FileSet, Refusal, SitePath};
use ignore::{DirEntry, WalkBuilder};

use super::SiteFile;
use super::archive::{ARCHIVE_BYTES_MAX, Archive};
use crate::failure::Failure;

/// Lists files to leave out, in the syntax of `.gitignore`.
const IGNORE_FILE: &str = ".handbillignore";
/// The one hidden directory that belongs to a site.
const WELL_KNOWN: &str = ".well-known";
const STANDARD_INPUT: &str = "-";
/// A directory with more entries is surely a mistake.
const ENTRIES_MAX: usize = 20_000;
const HTML: [&str; 2] = ["html", "htm"];

/// What is published.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    Files(Gathered),
    Archive(Archive),
}

/// The files of a site, and the skipped ones that the user might miss.
#[derive(Debug, PartialEq, Eq)]
pub struct Gathered {
    pub files: Vec<SiteFile>,
    pub left_out: Vec<String>,
}

/// A file that is not read yet.
struct FoundFile {
    path: SitePath,
    location: PathBuf,
    size_bytes: u64,
}

/// Reads a file, a directory, an archive or, for `-`, standard input.
pub fn read(path: &Path) -> Result<Content, Failure> {
    if path == Path::new(STANDARD_INPUT) {
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
        None => gather(path).map(Content::Files),
    }
}

fn archive(kind: ArchiveKind, bytes: Bytes) -> Result<Content, Failure> {
    if bytes.len() as u64 > ARCHIVE_BYTES_MAX {
        let limit = format!("an archive has at most {ARCHIVE_BYTES_MAX} bytes");
        return Err(Refusal::PublishTooLarge { limit }.into());
    }
    Ok(Content::Archive(Archive { kind, bytes }))
}

fn gather(path: &Path) -> Result<Gathered, Failure> {
    let kind = path.metadata().map_err(|error| unreadable(path, &error))?;
    if kind.is_dir() {
        return folder(path);
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
    Ok(Gathered { files: vec![SiteFile::new(path, bytes)], left_out: vec![] })
}

/// An HTML file becomes the front page, whatever its name. Any other file keeps its name.
fn name_of_page(path: &Path) -> Result<SitePath, Failure> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    if HTML.iter().any(|html| extension.eq_ignore_ascii_case(html)) {
        return Ok(SitePath::index());
    }
    site_path(Path::new(path.file_name().unwrap_or_default()))
}

fn folder(root: &Path) -> Result<Gathered, Failure> {
    // The directory itself may be named by a link.
    let location = root.canonicalize().map_err(|error| unreadable(root, &error))?;
    let (mut found, mut links, mut left_out) = (Vec::new(), Vec::new(), Vec::new());
    for (number, entry) in walk(&location).enumerate() {
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
            found.push(measured(path, entry)?);
        } else {
            left_out.push(format!("{path} (not a regular file)"));
        }
    }
    follow_links(links, &mut found, &mut left_out);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    check_bounds(root, &found)?;
    let files = found.into_iter().map(|FoundFile { path, location, .. }| {
        Ok(SiteFile::new(path, read_file(&location, FileSet::BYTES_MAX)?))
    });
    Ok(Gathered { files: files.collect::<Result<_, Failure>>()?, left_out })
}

fn walk(root: &Path) -> ignore::Walk {
    WalkBuilder::new(root)
        .standard_filters(false)
        .add_custom_ignore_filename(IGNORE_FILE)
        .filter_entry(|entry| entry.depth() == 0 || !is_hidden(entry))
        .build()
}

fn is_hidden(entry: &DirEntry) -> bool {
    entry.file_name() != WELL_KNOWN && entry.file_name().as_encoded_bytes().starts_with(b".")
}

fn measured(path: SitePath, entry: DirEntry) -> Result<FoundFile, Failure> {
    let size = entry.metadata().map(|metadata| metadata.len());
    let size_bytes = size.map_err(|error| {
        Failure::of_this_machine(format!("could not read {}: {error}", entry.path().display()))
    })?;
    Ok(FoundFile { path, location: entry.into_path(), size_bytes })
}

/// A link is sent as a file only if its target is sent anyway, so it cannot lead outside or to a skipped
/// file.
fn follow_links(links: Vec<(SitePath, PathBuf)>, found: &mut Vec<FoundFile>, left_out: &mut Vec<String>) {
    if links.is_empty() {
        return;
    }
    let real: Vec<_> =
        found.iter().map(|file| (file.location.canonicalize().ok(), file.size_bytes)).collect();
    for (path, location) in links {
        let target = location.canonicalize().ok();
        let size = real.iter().find(|(file, _)| target.is_some() && *file == target);
        match size {
            Some((_, size_bytes)) => found.push(FoundFile { path, location, size_bytes: *size_bytes }),
            None => left_out.push(format!("{path} (a link to a file that is not sent)")),
        }
    }
}

/// Checks the service's limits before anything is sent.
fn check_bounds(root: &Path, found: &[FoundFile]) -> Result<(), Failure> {
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
        return Err(Failure::usage(
            message,
            format!("hidden files and files listed in {IGNORE_FILE} are not sent"),
        ));
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
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn site(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, content) in files {
            let location = folder.path().join(path);
            fs::create_dir_all(location.parent().unwrap()).unwrap();
            fs::write(location, content).unwrap();
        }
        folder
    }

    fn paths_of(gathered: &Gathered) -> Vec<&str> {
        gathered.files.iter().map(|file| file.path.as_str()).collect()
    }

    #[test]
    fn hidden_and_ignored_files_are_not_uploaded() {
        let folder = site(&[
            ("index.html", "front"),
            ("css/app.css", "body{}"),
            ("css/.draft.css", "hidden"),
            (".git/config", "git"),
            (".env", "secret"),
            (".well-known/security.txt", "contact"),
            (".handbillignore", "*.map\n/notes/\n!keep.map\n"),
            ("app.js.map", "map"),
            ("keep.map", "map"),
            ("notes/todo.txt", "todo"),
            ("deep/.handbillignore", "*.tmp\n"),
            ("deep/a.tmp", "tmp"),
            ("deep/a.txt", "txt"),
        ]);
        let gathered = gather(folder.path()).unwrap();
        let expected = [".well-known/security.txt", "css/app.css", "deep/a.txt", "index.html", "keep.map"];
        assert_eq!(paths_of(&gathered), expected);
        assert_eq!(gathered.left_out, Vec::<String>::new());
    }

    #[test]
    fn symlinks_are_followed_only_to_uploaded_files() {
        let outside = site(&[("secret.txt", "secret")]);
        let folder = site(&[("home.html", "front"), (".env", "secret"), ("a/b.txt", "b")]);
        let link = |target: &Path, name: &str| symlink(target, folder.path().join(name)).unwrap();
        link(Path::new("home.html"), "index.html");
        link(&outside.path().join("secret.txt"), "leak.txt");
        link(outside.path(), "leak");
        link(Path::new(".env"), "env.txt");
        link(Path::new("a"), "again");
        link(Path::new("nowhere"), "broken");
        let gathered = gather(folder.path()).unwrap();
        assert_eq!(paths_of(&gathered), ["a/b.txt", "home.html", "index.html"]);
        assert_eq!(gathered.files[2].bytes, "front");
        assert_eq!(gathered.left_out.len(), 5, "{gathered:?}");
    }

    #[test]
    fn symlink_to_a_directory_uploads_that_directory() {
        let folder = site(&[("index.html", "front"), ("css/app.css", "body{}"), (".env", "secret")]);
        let elsewhere = site(&[]);
        let link = elsewhere.path().join("site");
        symlink(folder.path(), &link).unwrap();
        for named in [&link, &link.join("css/..")] {
            assert_eq!(gather(named).unwrap(), gather(folder.path()).unwrap(), "{}", named.display());
        }
        assert_eq!(paths_of(&gather(&link).unwrap()), ["css/app.css", "index.html"]);
    }

    #[test]
    fn single_html_file_becomes_index_html_and_other_files_keep_their_names() {
        let folder = site(&[("about.html", "page"), ("PAGE.HTM", "page"), ("photo.jpg", "jpg")]);
        for (name, path) in
            [("about.html", "index.html"), ("PAGE.HTM", "index.html"), ("photo.jpg", "photo.jpg")]
        {
            assert_eq!(paths_of(&gather(&folder.path().join(name)).unwrap()), [path], "{name}");
        }
    }

    #[test]
    fn files_that_the_service_would_refuse_are_refused_before_reading() {
        let many: Vec<_> = (0..51).map(|number| format!("{number}.txt")).collect();
        let many: Vec<_> = many.iter().map(|name| (name.as_str(), "x")).collect();
        assert_eq!(gather(site(&many[..50]).path()).unwrap().files.len(), 50);
        let failure = gather(site(&many).path()).unwrap_err();
        assert!(
            failure.api_error.message.contains("50 files") && failure.api_error.hint.contains("51"),
            "{failure:?}"
        );
        let big = site(&[("index.html", "front")]);
        let hole = File::create(big.path().join("hole.bin")).unwrap();
        hole.set_len(FileSet::BYTES_MAX).unwrap();
        assert_eq!(gather(big.path()).unwrap_err().api_error.code, "too_large");
    }

    #[test]
    fn empty_directories_and_files_are_not_published() {
        let empty = site(&[(".hidden", "x"), (".empty.html", "")]);
        for path in [empty.path(), &empty.path().join("nowhere.html"), &empty.path().join(".empty.html")] {
            assert_eq!(gather(path).unwrap_err().exit as u8, 2, "{}", path.display());
        }
    }
}
