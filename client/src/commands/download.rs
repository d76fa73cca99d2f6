//! `handbill download`: unpacks the files of a version into a folder.

use std::fs::{self, File};
use std::io::{self, Cursor, Read};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use domain::{FileSet, SitePath, Slug};
use serde_json::json;
use zip::ZipArchive;

use crate::command::Download;
use crate::context::Context;
use crate::failure::Failure;
use crate::show::{bytes, count};

pub async fn download(context: &Context, args: Download) -> Result<(), Failure> {
    let server = context.server()?;
    let Download { named, dir, version, force } = args;
    let folder = dir.unwrap_or_else(|| PathBuf::from(named.slug.as_str()));
    // Before the download, so that it is not in vain.
    if !force && !is_empty_or_new(&folder).map_err(|error| unwritable(&folder, &error))? {
        return Err(Failure::usage(
            format!("{} is not an empty folder", folder.display()),
            "name another folder, or use --force to overwrite the files that the version has",
        ));
    }
    let archive = server.download(&path_of(&named.slug, version)).await?;
    let to = folder.clone();
    let unpacked = tokio::task::spawn_blocking(move || unpack(archive, &to)).await;
    let unpacked = unpacked.unwrap_or_else(|error| Err(io::Error::other(error)));
    let files = unpacked.map_err(|error| unwritable(&folder, &error))?;
    let shown = folder.display().to_string();
    context.console.print_result(&json!({ "folder": shown, "files": files.len() }), || shown.clone());
    let total_bytes = files.iter().map(|(_, size)| size).sum();
    let number = count(files.len() as u64, "file", "files");
    context.console.note(&format!("Wrote {number}, {}.", bytes(total_bytes)));
    Ok(())
}

fn path_of(slug: &Slug, version: Option<u32>) -> String {
    let version = version.map_or_else(|| "live".to_owned(), |version| version.to_string());
    format!("/v1/artifacts/{slug}/archive?version={version}&format=zip")
}

fn is_empty_or_new(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder) {
        Ok(mut entries) => Ok(entries.next().is_none()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes the files of an archive below the folder, and never outside of it: the server is not trusted with
/// other files of this machine. Returns the paths and sizes.
fn unpack(archive: Bytes, folder: &Path) -> io::Result<Vec<(SitePath, u64)>> {
    let mut archive = ZipArchive::new(Cursor::new(archive)).map_err(io::Error::other)?;
    if archive.len() > FileSet::FILES_MAX {
        return Err(io::Error::other("the archive has too many files"));
    }
    fs::create_dir_all(folder)?;
    let mut files = Vec::new();
    let mut bytes_left = FileSet::BYTES_MAX;
    for number in 0..archive.len() {
        let mut entry = archive.by_index(number).map_err(io::Error::other)?;
        let name = entry.name().map_err(io::Error::other)?;
        let path: SitePath = name.parse().map_err(io::Error::other)?;
        let mut file = create(folder, &path)?;
        let written = io::copy(&mut entry.by_ref().take(bytes_left + 1), &mut file)?;
        bytes_left =
            bytes_left.checked_sub(written).ok_or_else(|| io::Error::other("the archive is too large"))?;
        files.push((path, written));
    }
    Ok(files)
}

/// A new file with this path. An earlier file is replaced. A symbolic link is not followed, because it may
/// lead out of the folder.
fn create(folder: &Path, path: &SitePath) -> io::Result<File> {
    for part in path.folders() {
        let part = folder.join(part);
        match fs::symlink_metadata(&part) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => return Err(io::Error::other(format!("{} is not a folder", part.display()))),
            Err(_) => fs::create_dir(&part)?,
        }
    }
    let file = folder.join(path.as_str());
    match fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => File::create_new(&file),
    }
}

fn unwritable(folder: &Path, error: &io::Error) -> Failure {
    Failure::of_this_machine(format!("could not write to {}: {error}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    use super::*;

    fn archive(files: &[(&str, &[u8])]) -> Bytes {
        let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
        for (path, content) in files {
            archive.start_file(*path, SimpleFileOptions::default()).unwrap();
            archive.write_all(content).unwrap();
        }
        archive.finish().unwrap().into_inner().into()
    }

    #[test]
    fn files_are_unpacked_below_the_folder_only() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("site");
        let site = archive(&[("index.html", b"page"), ("css/a.css", b"style")]);
        assert_eq!(unpack(site.clone(), &folder).unwrap().len(), 2);
        assert_eq!(fs::read(folder.join("css/a.css")).unwrap(), b"style");
        for path in ["../out.txt", "/out.txt", "a/../../out.txt", "a\\..\\out.txt", "css/"] {
            assert!(unpack(archive(&[(path, b"x")]), &folder).is_err(), "{path}");
        }
        assert!(!home.path().join("out.txt").exists());
        // Links that were there before are replaced or refused, and never followed.
        let (outside, inside) = (home.path().join("outside"), folder.join("linked"));
        fs::create_dir(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, &inside).unwrap();
        assert!(unpack(archive(&[("linked/a.txt", b"x")]), &folder).is_err());
        std::os::unix::fs::symlink(outside.join("index.html"), folder.join("link.html")).unwrap();
        unpack(archive(&[("link.html", b"new")]), &folder).unwrap();
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0);
        assert_eq!(fs::read(folder.join("link.html")).unwrap(), b"new");
    }

    #[test]
    fn a_folder_with_files_is_not_empty() {
        let home = tempfile::tempdir().unwrap();
        assert!(is_empty_or_new(home.path()).unwrap());
        assert!(is_empty_or_new(&home.path().join("new")).unwrap());
        fs::write(home.path().join("file"), "").unwrap();
        assert!(!is_empty_or_new(home.path()).unwrap());
        assert!(!is_empty_or_new(&home.path().join("file")).unwrap());
    }
}
