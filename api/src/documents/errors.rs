//! The error codes for readers, and docs/ERRORS.md. Both are made from the catalogue, so that they cannot go
//! stale.

use domain::Refusal;

use crate::http::refusal::status_of;

/// The section of an error code, to which `doc_url` leads. A code can have several causes.
pub struct CodeSection {
    pub code: &'static str,
    pub cases: Vec<Entry>,
}

/// An error code, for readers.
pub struct Entry {
    pub code: &'static str,
    pub status: u16,
    pub meaning: &'static str,
    pub message: String,
    pub hint: String,
}

/// All codes once, sorted by status.
pub fn sections() -> Vec<CodeSection> {
    let mut sections: Vec<CodeSection> = Vec::new();
    for entry in entries() {
        match sections.iter_mut().find(|section| section.code == entry.code) {
            Some(section) => section.cases.push(entry),
            None => sections.push(CodeSection { code: entry.code, cases: vec![entry] }),
        }
    }
    sections
}

/// All codes, sorted by status.
pub fn entries() -> Vec<Entry> {
    let mut entries: Vec<_> = Refusal::catalogue()
        .into_iter()
        .map(|entry| Entry {
            code: entry.example.code(),
            status: status_of(&entry.example).as_u16(),
            meaning: entry.meaning,
            message: entry.example.message(),
            hint: entry.example.hint(),
        })
        .collect();
    entries.sort_by_key(|entry| entry.status);
    entries
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;

    const HEAD: &str = "\
# Errors

Every error is `{code, message, hint}`: a code for the cause, a message about this request, and the next call to make.
`doc_url` is the address of the code's description.
A 402 also has `reason`, `amount_usd` and `accepts`.
A 412 also has `live_version`, `created_by` and `created_at`.
`content_missing` also has `missing`; `edit_mismatch` has `edit`, `path`, `hits` and `nearest`.
";

    /// The text of docs/ERRORS.md.
    fn markdown() -> String {
        let mut text = HEAD.to_owned();
        for Entry { code, status, meaning, message, hint } in entries() {
            let hint = hint.replace('<', "\\<");
            // Writing to a string cannot fail.
            let _ = write!(
                text,
                "\n## `{code}` · {status}\n\n{meaning}\n\n- Example message: {message}\n- Hint: {hint}\n"
            );
        }
        text
    }

    #[test]
    fn every_code_has_one_section_with_all_its_causes() {
        let (sections, entries) = (sections(), entries());
        assert_eq!(sections.iter().map(|section| section.cases.len()).sum::<usize>(), entries.len());
        for entry in entries {
            let named: Vec<_> = sections.iter().filter(|section| section.code == entry.code).collect();
            let [section] = named[..] else { panic!("{} has {} sections", entry.code, named.len()) };
            assert!(section.cases.iter().any(|case| case.meaning == entry.meaning), "{}", entry.code);
        }
    }

    /// `HANDBILL_TEST_UPDATE=1 cargo test -p api` rewrites the file.
    #[test]
    fn committed_error_code_reference_matches_the_catalogue() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/ERRORS.md");
        if std::env::var_os("HANDBILL_TEST_UPDATE").is_some() {
            std::fs::write(path, markdown()).unwrap();
        }
        let committed = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            committed == markdown(),
            "docs/ERRORS.md is out of date: run HANDBILL_TEST_UPDATE=1 cargo test -p api"
        );
    }
}
