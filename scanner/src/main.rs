//! Scans folders, each of them one site, and prints the verdict for each as a line of JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

use scanner::{ScannedFile, Terms, Verdict, scan};
use serde::Serialize;

const USAGE: &str = "usage: scanner [--provisional] FOLDER…";

#[derive(Serialize)]
struct VerdictLine<'a> {
    site: &'a Path,
    #[serde(flatten)]
    verdict: Verdict,
}

/// A file of a site, with the content type that Handbill would serve.
struct SiteFile {
    path: String,
    content_type: String,
    bytes: Vec<u8>,
}

fn main() -> ExitCode {
    let (options, folders): (Vec<String>, Vec<String>) =
        env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let is_provisional = options.iter().any(|option| option == "--provisional");
    if folders.is_empty() || options.iter().any(|option| option != "--provisional") {
        let _ = writeln!(io::stderr(), "{USAGE}");
        return ExitCode::FAILURE;
    }
    let terms = Terms { is_provisional, ..Terms::default() };
    for folder in &folders {
        if let Err(error) = print(Path::new(folder), &terms) {
            let _ = writeln!(io::stderr(), "{folder}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn print(site: &Path, terms: &Terms<'_>) -> io::Result<()> {
    let verdict = verdict_on(&files_of(site)?, terms)?;
    let line = serde_json::to_string(&VerdictLine { site, verdict })?;
    writeln!(io::stdout(), "{line}")
}

fn verdict_on(files: &[SiteFile], terms: &Terms<'_>) -> io::Result<Verdict> {
    let files: Vec<_> = files.iter().map(SiteFile::scanned).collect();
    scan(&files, terms).map_err(io::Error::other)
}

impl SiteFile {
    fn scanned(&self) -> ScannedFile<'_> {
        ScannedFile { path: &self.path, bytes: &self.bytes, content_type: &self.content_type }
    }
}

/// All files below a folder with their relative paths. A path to a file is a site with that one file.
fn files_of(site: &Path) -> io::Result<Vec<SiteFile>> {
    let root = if site.is_dir() { site } else { site.parent().unwrap_or(site) };
    let mut files = Vec::new();
    let mut open = vec![site.to_owned()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(entries(&path)?);
            continue;
        }
        let name = path.strip_prefix(root).unwrap_or(&path).display().to_string();
        let content_type = mime_guess::from_path(&name).first_or_octet_stream().essence_str().to_owned();
        files.push(SiteFile { path: name, content_type, bytes: fs::read(&path)? });
    }
    files.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

fn entries(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    paths.sort();
    Ok(paths)
}

#[cfg(test)]
mod corpus;
