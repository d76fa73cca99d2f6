//! Test pages with the verdict that each must get.

mod asking;
mod budget;
mod files;
mod hostile;
mod libraries;
mod passing;
mod served;

use super::*;

fn verdict(html: &str) -> Verdict {
    verdict_of(&[("index.html", html)])
}

/// The verdict on files whose content types follow from their names.
fn verdict_of<T: AsRef<[u8]> + ?Sized>(files: &[(&str, &T)]) -> Verdict {
    let content_types: Vec<_> =
        files.iter().map(|(path, _)| mime_guess::from_path(path).first_or_octet_stream()).collect();
    let files: Vec<_> = files
        .iter()
        .zip(&content_types)
        .map(|((path, content), content_type)| ScannedFile {
            path,
            bytes: content.as_ref(),
            content_type: content_type.essence_str(),
        })
        .collect();
    scan(&files, &Terms::default()).unwrap()
}

fn assert_all(expected: Status, pages: &[(&str, &str)]) {
    for (name, html) in pages {
        let verdict = verdict(html);
        assert_eq!(verdict.status, expected, "{name}: {:?}", verdict.findings);
    }
}
