//! The page of error codes and docs/ERRORS.md. Both are made from the catalogue, so that they cannot go
//! stale.

use askama::Template;
use domain::Refusal;
use poem::Response;
use poem::http::StatusCode;

use crate::html::page;
use crate::http::refusal::{RefusedCall, status_of};

#[derive(Template)]
#[template(path = "errors.html")]
struct ErrorsPage {
    entries: Vec<Entry>,
}

/// An error code, for readers.
pub struct Entry {
    pub code: &'static str,
    pub status: u16,
    pub meaning: &'static str,
    pub message: String,
    pub hint: String,
}

/// The page for people.
pub fn html() -> Result<Response, RefusedCall> {
    page(StatusCode::OK, &ErrorsPage { entries: entries() })
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

    #[tokio::test]
    async fn error_page_lists_every_code_with_its_status_and_escapes_text() {
        let page = html().unwrap().into_body().into_string().await.unwrap();
        for entry in entries() {
            assert!(page.contains(&format!("<code>{}</code>", entry.code)), "{}", entry.code);
        }
        assert!(page.contains("&lt;token&gt;") || page.contains("&#60;token&#62;"), "{page}");
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
