//! What changed between two versions of a page: the files with their sizes, and the lines of text files.

use askama::Template;
use domain::{Refusal, VersionChoice};
use poem::web::Data;
use poem::{Request, Response, handler};
use service::{Differences, FileDifference, Service};

use super::page::{DashboardPage, Frame, Tab, render_page, slug_of, to_sign_in};
use crate::html::figures::{Count, Size};
use crate::http::query_parameter::QueryParameter;
use crate::http::refusal::RefusedCall;
use crate::http::unified_diff::unified_diff;
use crate::http::version_parameter::{FromVersion, ToVersion};

/// The longest diff that is shown. A longer one would be slow to scroll.
const SHOWN_BYTES_MAX: usize = 128 * 1024;

#[derive(Template)]
#[template(path = "dashboard/changes.html")]
pub struct ChangesPage<'a> {
    pub frame: &'a Frame,
    pub slug: String,
    /// The path of the page of the artifact.
    pub path: String,
    /// The `seq` of the versions.
    pub from: u32,
    pub to: u32,
    /// How many files were added, removed and changed.
    pub text: String,
    pub files: Vec<FileRow>,
    /// A unified diff, or its beginning.
    pub diff: &'a str,
    pub is_cut: bool,
}

pub struct FileRow {
    pub path: String,
    pub change: &'static str,
    pub before: Option<Size>,
    pub after: Option<Size>,
}

#[handler]
pub async fn show(request: &Request, service: Data<&Service>) -> Result<Response, RefusedCall> {
    let Some(dashboard) = DashboardPage::begin(request, &service, Tab::Pages).await? else {
        return Ok(to_sign_in(request));
    };
    let slug = slug_of(request)?;
    let differences = service.differences(&dashboard.caller, &slug, versions(request)?).await?;
    let diff = unified_diff(&service, request, &differences).await?;
    let template = ChangesPage::new(&dashboard.frame, slug.as_str(), &differences, &diff);
    render_page(request, &service, None, &template)
}

fn versions(request: &Request) -> Result<[VersionChoice; 2], Refusal> {
    Ok([FromVersion::of(request)?.0, ToVersion::of(request)?.0])
}

impl<'a> ChangesPage<'a> {
    pub fn new(frame: &'a Frame, slug: &str, differences: &Differences, diff: &'a str) -> Self {
        let files: Vec<FileRow> = differences.files.iter().map(FileRow::new).collect();
        let shown = beginning(diff, SHOWN_BYTES_MAX);
        Self {
            frame,
            slug: slug.to_owned(),
            path: frame.path(&format!("/pages/{slug}")),
            from: differences.from,
            to: differences.to,
            text: summary(&files),
            files,
            diff: shown,
            is_cut: shown.len() < diff.len(),
        }
    }
}

impl FileRow {
    fn new(file: &FileDifference) -> Self {
        let [before, after] =
            [&file.before, &file.after].map(|side| side.as_ref().map(|file| Size(file.size_bytes)));
        let change = match (before, after) {
            (None, _) => "added",
            (_, None) => "removed",
            _ => "changed",
        };
        Self { path: file.path.to_string(), change, before, after }
    }
}

fn summary(files: &[FileRow]) -> String {
    let counts = ["added", "removed", "changed"].map(|change| {
        let count = files.iter().filter(|file| file.change == change).count();
        format!("{} {change}", Count(count as u64))
    });
    counts.join(", ")
}

/// The first lines of a text. A first line that is too long is cut.
fn beginning(text: &str, bytes_max: usize) -> &str {
    if text.len() <= bytes_max {
        return text;
    }
    let start = &text[..text.floor_char_boundary(bytes_max)];
    start.rfind('\n').map_or(start, |end| &start[..=end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_diff_is_cut_after_a_line() {
        assert_eq!(beginning("one\ntwo\n", 8), "one\ntwo\n");
        assert_eq!(beginning("one\ntwo\n", 7), "one\n");
        assert_eq!(beginning("öne", 1), "");
        assert_eq!(beginning("öne\n", 3), "ön");
    }
}
