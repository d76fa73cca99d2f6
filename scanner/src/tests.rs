//! Pages, each named by what it is, with the verdict that it must get.

mod asking;
mod files;
mod hostile;
mod libraries;
mod passing;

use domain::ModerationStatus;

use super::*;

fn verdict(html: &str) -> Verdict {
    scan(&[ScannedFile { path: "index.html", bytes: html.as_bytes() }])
}

fn verdict_of(files: &[(&str, &str)]) -> Verdict {
    let files: Vec<_> =
        files.iter().map(|(path, text)| ScannedFile { path, bytes: text.as_bytes() }).collect();
    scan(&files)
}

fn assert_all(expected: ModerationStatus, pages: &[(&str, &str)]) {
    for (name, html) in pages {
        let verdict = verdict(html);
        assert_eq!(verdict.status, expected, "{name}: {:?}", verdict.findings);
    }
}
